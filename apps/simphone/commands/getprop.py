"""`getprop [NAME [DEFAULT]]` and `setprop NAME VALUE`."""

from __future__ import annotations

from simphone.commands.call import Call, CommandFailed


async def run(call: Call) -> int:
    properties = call.system.properties
    words = call.words
    if words:
        await call.say(properties.get(words[0], words[1] if len(words) > 1 else ""))
    else:
        await call.say("\n".join(f"[{name}]: [{value}]" for name, value in sorted(properties.items())))
    return 0


async def put(call: Call) -> int:
    if len(call.words) != 2:
        raise CommandFailed("usage: setprop NAME VALUE\n\nSets an Android system property.")
    name, value = call.words
    if name.startswith("ro."):
        raise CommandFailed(f"Failed to set property '{name}' to '{value}'.\nSee dmesg for error reason.")
    call.system.properties[name] = value
    return 0
