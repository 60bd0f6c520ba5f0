"""`settings get|put|delete|list|reset NAMESPACE …`."""

from __future__ import annotations

from simphone.commands.call import UNKNOWN, Call, CommandFailed

USAGE = """Settings provider (settings) commands:
  help
      Print this help text.
  get [--user <USER_ID> | current] [--verbose] NAMESPACE KEY
      Retrieve the current value of KEY.
  put [--user <USER_ID> | current] NAMESPACE KEY VALUE [TAG] [default]
      Change the contents of KEY to VALUE.
  delete [--user <USER_ID> | current] NAMESPACE KEY
      Delete the entry for KEY.
  list [--user <USER_ID> | current] NAMESPACE
      Print all defined keys.
      NAMESPACE is one of {system, secure, global}, case-insensitive"""


async def run(call: Call) -> int:
    words = call.words
    if not words or words[0] in ("help", "-h"):
        await call.say(USAGE)
        return UNKNOWN
    verb, rest = words[0], words[1:]
    while len(rest) > 1 and rest[0] in ("--user", "--verbose", "--lineage"):
        rest = rest[2:] if rest[0] == "--user" else rest[1:]
    needed = {"get": 2, "put": 3, "delete": 2, "list": 1, "reset": 2}.get(verb)
    if needed is None:
        raise CommandFailed(f"Invalid command: {verb}", UNKNOWN)
    if len(rest) < needed:
        raise CommandFailed("Bad arguments" if rest else "Not enough arguments", UNKNOWN)
    namespace, settings = rest[0].lower(), call.system.settings
    if namespace not in ("system", "secure", "global"):
        raise CommandFailed(f"Error: Invalid namespace '{rest[0]}'", UNKNOWN)
    if verb == "get":
        value = settings.get(namespace, rest[1])
        await call.say("null" if value is None else value)
    elif verb == "put":
        settings.put(namespace, rest[1], rest[2])
    elif verb == "delete":
        await call.say(f"Deleted {int(settings.delete(namespace, rest[1]))} rows")
    elif verb == "list":
        lines = [f"{key}={value}" for key, value in sorted(settings.all(namespace).items())]
        if lines:
            await call.say("\n".join(lines))
    return 0
