"""`uiautomator dump [FILE]`: the hierarchy. Errors come on standard output with exit code 0, and the old file stays."""

from __future__ import annotations

import asyncio

from simphone.commands.call import Call
from simphone.files import SDCARD

USAGE = """Usage: uiautomator <subcommand> [options]

Available subcommands:

help: displays help message

runtest: executes UI automation tests
    runtest <class spec> [options]
    <class spec>: <JARS> < -c <CLASSES> | -e class <CLASSES> >

dump: creates an XML dump of current UI hierarchy
    dump [--verbose][file]
      [--compressed]: dumps compressed layout information.
      [file]: the location where the dumped XML should be stored, default is
      /sdcard/window_dump.xml

events: prints out accessibility events until terminated
"""
DEFAULT = "/sdcard/window_dump.xml"
_ERRORS = {
    "animation": "ERROR: could not get idle state.",
    "dump_fails": "ERROR: could not get idle state.",
    "dump_null_root": "ERROR: null root node returned by UiTestAutomationBridge.",
}


async def run(call: Call) -> int:
    words = call.words
    if not words or words[0] == "help":
        await call.complain(USAGE)
        return 1 if not words else 0
    if words[0] != "dump":
        await call.complain(f'Unknown command: "{words[0]}"\n{USAGE}')
        return 1
    names = [each for each in words[1:] if not each.startswith("--")]
    name = names[0] if names else DEFAULT
    if fault := call.fault("slow_screen"):
        await asyncio.sleep(fault.seconds)
    for fault_name, error in _ERRORS.items():
        if call.fault(fault_name):
            await call.say(error)
            return 0
    if not call.system.display.on:
        await call.say(_ERRORS["dump_null_root"])
        return 0
    data = (await _hierarchy(call)).encode()
    if name in ("/dev/tty", "/dev/stdout"):
        await call.io.out(data)
    elif error := _write(call, name, data):
        await call.say(f"ERROR: could not write {name}: {error}")
        return 0
    shown = name.replace(SDCARD, "/sdcard", 1) if name.startswith(SDCARD) else name
    await call.say(f"UI hierchary dumped to: {shown}")
    return 0


async def _hierarchy(call: Call) -> str:
    if call.fault("dump_empty"):
        return ""
    xml = await call.system.viewport.hierarchy()
    if call.fault("dump_invalid"):
        return xml[: len(xml) * 2 // 3]
    if fault := call.fault("dump_huge"):
        return _with_more(xml, fault.bytes or 50_000)
    return xml


def _with_more(xml: str, count: int) -> str:
    """A list of so many rows is added, as deep in the tree as the others are."""
    rows = "".join(
        f'<node index="{at}" text="Row {at}" resource-id="" class="android.widget.TextView" package="android" '
        'content-desc="" checkable="false" checked="false" clickable="true" enabled="true" focusable="true" '
        'focused="false" scrollable="false" long-clickable="false" password="false" selected="false" '
        f'bounds="[0,{72 + at % 2000}][1080,{73 + at % 2000}]" />'
        for at in range(count)
    )
    return xml.replace("</hierarchy>", f"{rows}</hierarchy>")


def _write(call: Call, name: str, data: bytes) -> str:
    """What went wrong, if something did."""
    try:
        with call.system.files.open(name, "wb", happening=call.line) as file:
            file.write(data)
    except OSError as error:
        return error.strerror or str(error)
    return ""
