"""`monkey -p PACKAGE … 1`: what starts an app without its activity being known. It injects nothing else."""

from __future__ import annotations

from simphone.commands.call import UNKNOWN, Call

USAGE = """usage: monkey [-p ALLOWED_PACKAGE [-p ALLOWED_PACKAGE] ...]
              [-c MAIN_CATEGORY [-c MAIN_CATEGORY] ...]
              [--throttle MILLISEC] [-s SEED] [-v [-v] ...]
              COUNT"""
_NO_ACTIVITIES = 252  # -4
_BAD_COUNT = 253  # -3
_WITH_VALUE = (
    "-p",
    "-c",
    "-s",
    "--throttle",
    "--pkg-blacklist-file",
    "--pkg-whitelist-file",
    "-f",
    "--port",
    "--setup",
)


async def run(call: Call) -> int:
    words, packages, count = call.words, [], None
    await _echo(call, words)
    at = 0
    while at < len(words):
        word = words[at]
        if word in _WITH_VALUE or (word.startswith("--pct-") and at + 1 < len(words)):
            at += 1
            if at >= len(words):
                await call.complain(f"** Error: Argument expected after {word}")
                return UNKNOWN
            if word == "-p":
                packages.append(words[at])
        elif word.startswith("-"):
            if not word.startswith("--") and word.strip("-v"):
                await call.complain(f"** Error: Unknown option: {word}\n{USAGE}")
                return UNKNOWN
        else:
            count = word
        at += 1
    if count is None:
        await call.complain(f"** Error: Count not specified\n{USAGE}")
        return UNKNOWN
    try:
        events = int(count)
    except ValueError:
        await call.complain(f'** Error: For input string: "{count}"\n{USAGE}')
        return UNKNOWN
    found = [call.system.packages.get(each) for each in packages] if packages else call.system.packages.launchers()
    startable = [each for each in found if each is not None and each.launcher is not None]
    if not startable:
        await call.say("** No activities found to run, monkey aborted.")
        return _NO_ACTIVITIES
    if events < 1:
        return _BAD_COUNT
    await call.system.launch(startable[0])
    network = "## Network stats: elapsed time=19ms (0ms mobile, 0ms wifi, 19ms not connected)"
    await call.say(f"Events injected: {events}\n{network}")
    return 0


async def _echo(call: Call, words: list[str]) -> None:
    """It repeats its arguments, before anything else."""
    if words:
        await call.say("\n".join(f"  bash arg: {each}" for each in words))
    lines = [f"args: [{', '.join(words)}]", *(f' arg: "{each}"' for each in words)]
    lines += [f'data="{words[at + 1]}"' for at, each in enumerate(words[:-1]) if each in ("-p", "-c")]
    await call.complain("\n".join(lines))
