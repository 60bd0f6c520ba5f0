"""`dumpsys SERVICE …`: the state of a service, in the lines that programs look for."""

from __future__ import annotations

from simphone.commands.call import Call
from simphone.commands.dumps import SERVICES
from simphone.commands.dumps.snapshot import snapshot


async def run(call: Call) -> int:
    words = call.words
    while words and words[0] in ("-t", "-T"):
        words = words[2:]
    if words and words[0] == "--help":
        await call.say(
            "usage: dumpsys\n         To dump all services.\nor:\n       dumpsys [-t TIMEOUT] SERVICE [ARGS]"
        )
        return 0
    if words and words[0] == "-l":
        await call.say("\n".join(("Currently running services:", *(f"  {each}" for each in sorted(SERVICES)))))
        return 0
    seen = await snapshot(call.system)
    if not words:
        for name, dump in sorted(SERVICES.items()):
            await call.say(f"{'-' * 79}\nDUMP OF SERVICE {name}:\n{dump(seen, [])}")
        return 0
    found = SERVICES.get(words[0])
    if found is None:
        await call.complain(f"Can't find service: {words[0]}")
        return 0
    await call.say(found(seen, words[1:]))
    return 0
