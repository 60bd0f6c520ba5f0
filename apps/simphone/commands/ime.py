"""`ime`: input methods."""

from __future__ import annotations

from simphone.commands.call import UNKNOWN, Call, CommandFailed
from simphone.system.input_methods import LATIN_IME

USAGE = """ime <command>:
  list [-a] [-s]
    prints all enabled input methods.
     -a: see all input methods
     -s: only a single summary line of each
  enable [--user <USER_ID>] <ID>
    allows the given input method ID to be used.
  disable [--user <USER_ID>] <ID>
    disallows the given input method ID to be used.
  set [--user <USER_ID>] <ID>
    switches to the given input method ID.
  reset [--user <USER_ID>]
    reset currently selected/enabled IMEs to the default ones."""


async def run(call: Call) -> int:
    words = call.words
    methods = call.system.input_methods
    if not words or words[0] in ("help", "-h"):
        await call.say(USAGE)
        return UNKNOWN
    verb, options, rest = words[0], set(), words[1:]
    while rest and rest[0].startswith("-"):
        options.add(rest[0])
        rest = rest[2:] if rest[0] == "--user" else rest[1:]
    if verb == "list":
        listed = methods.installed if "-a" in options else methods.enabled
        text = "\n".join(each if "-s" in options else _described(each) for each in listed)
        if text:
            await call.say(text)
    elif verb == "reset":
        methods.reset()
        await call.say(
            f"Reset current and enabled IMEs for user #0\nNewly selected IME: {LATIN_IME}\nNewly enabled IMEs:"
        )
        await call.say(f"  {LATIN_IME}")
    elif verb not in ("set", "enable", "disable"):
        raise CommandFailed(f"Unknown command: {verb}", UNKNOWN, to_output=True)
    elif not rest:
        raise CommandFailed(f'Error: Argument expected after "{verb}"', UNKNOWN)
    else:
        await _change(call, verb, rest[0])
    return 0


async def _change(call: Call, verb: str, asked: str) -> None:
    methods = call.system.input_methods
    found = methods.find(asked)
    if verb == "set":
        if found is None or found not in methods.enabled:
            raise CommandFailed(f"Unknown input method {asked} cannot be selected for user #0", UNKNOWN)
        methods.choose(found)
        await call.say(f"Input method {found} selected for user #0")
        return
    if found is None:
        raise CommandFailed(f"Unknown input method {asked} cannot be {verb}d for user #0", UNKNOWN)
    before = found in methods.enabled
    (methods.enable if verb == "enable" else methods.disable)(found)
    already = "already" if before == (verb == "enable") else "now"
    await call.say(f"Input method {found}: {already} {verb}d for user #0")


def _described(id: str) -> str:
    package, _, name = id.partition("/")
    whole = package + name if name.startswith(".") else name
    return "\n".join(
        (
            f"mId={id} mSettingsActivityName=null mIsVrOnly=false mSupportsSwitchingToNextInputMethod=false",
            "  mIsDefaultResId=0x0",
            "  Service:",
            "    priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=false",
            "    ServiceInfo:",
            f"      name={whole}",
            f"      packageName={package}",
            "      enabled=true exported=true directBootAware=false",
            "      permission=android.permission.BIND_INPUT_METHOD",
        )
    )
