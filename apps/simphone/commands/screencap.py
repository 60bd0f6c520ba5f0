"""`screencap [-p] [-d ID] [FILE]`: the picture on the screen, and the ways in which it is spoilt."""

from __future__ import annotations

import asyncio
import io
import struct

from simphone.commands.call import Call, CommandFailed
from simphone.screen.picture import black

DISPLAY_ID = 4619827677550801152
USAGE = f"""usage: screencap [-ahp] [-d display-id] [FILENAME]
   -h: this message
   -a: captures all the active displays. This appends an integer postfix to the FILENAME.
       e.g., FILENAME_0.png, FILENAME_1.png. If both -a and -d are given, it ignores -d.
   -d: specify the display ID to capture (If the id is not given, it defaults to {DISPLAY_ID})
       see "dumpsys SurfaceFlinger --display-id" for valid display IDs.
   -p: outputs in png format.
If FILENAME ends with .png it will be saved as a png.
If FILENAME is not given, the results will be printed to stdout."""
WARNING = (
    "[Warning] Multiple displays were found, but no display id was specified! Defaulting to the first display found, "
    "however this default is not guaranteed to be consistent across captures. A display id should be specified."
)
_RGBA_8888, _SRGB = 1, 0
_PART = 1 << 16


async def run(call: Call) -> int:
    words, png, name = call.words, False, ""
    while words:
        word = words.pop(0)
        if word == "-h":
            await call.complain(USAGE)
            return 1
        if word == "-d":
            asked = words.pop(0) if words else ""
            if asked not in (str(DISPLAY_ID), "0"):
                raise CommandFailed(f"Invalid display ID: {asked or '(none)'}")
        elif word.startswith("-"):
            if word.strip("-ap"):
                raise CommandFailed(USAGE)
            png = png or "p" in word
        else:
            name = word
    picture = await _picture(call)
    if not (png or name.endswith(".png")):
        picture = await asyncio.to_thread(_raw, picture)
    if name:
        return await _to_file(call, name, picture)
    if fault := call.fault("screenshot_warning"):
        await call.say(fault.text or WARNING)
    for at in range(0, len(picture), _PART):
        await call.io.out(picture[at : at + _PART])
    return 0


async def _picture(call: Call) -> bytes:
    """The PNG, as the faults leave it."""
    system = call.system
    if fault := call.fault("slow_screen"):
        await asyncio.sleep(fault.seconds)
    await system.animate(bool(call.fault("animation")))
    if call.fault("black_screenshot") or system.packages.is_secure(system.activities.front.component):
        picture = black(*system.viewport.size)
    else:
        picture = await system.viewport.screenshot()
    if call.fault("screenshot_empty"):
        return b""
    if fault := call.fault("screenshot_cut"):
        picture = picture[: fault.bytes or len(picture) // 2]
    if call.fault("screenshot_crlf"):
        picture = picture.replace(b"\n", b"\r\n")
    return picture


async def _to_file(call: Call, name: str, data: bytes) -> int:
    try:
        with call.system.files.open(name, "wb", happening=call.line) as file:
            file.write(data)
    except OSError as error:
        raise CommandFailed(f"Error opening file: {name} ({error.strerror})") from None
    return 0


def _raw(png: bytes) -> bytes:
    """Width, height, format and colour space, then the pixels: what there is without -p."""
    from PIL import Image

    if not png:
        return b""
    with Image.open(io.BytesIO(png)) as image:
        return struct.pack("<IIII", *image.size, _RGBA_8888, _SRGB) + image.convert("RGBA").tobytes()
