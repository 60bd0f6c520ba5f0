"""A screenshot is a PNG file that is whole, or an error."""

from __future__ import annotations

import io
import struct
import zlib

from gateway.errors import ScreenshotFailed
from gateway.phone.harmless import harmless

SIGNATURE = b"\x89PNG\r\n\x1a\n"
TRANSLATED = (b"\r\n", b"\r\r\n")  # what an old shell, or two of them, made of each line feed
DARK = 8  # of 255: what a screen shows as black
MIDDLE = 0.1, 0.9  # of the height: above and below are the system's bars, which are shown also by secure windows
BLANK_RATE = 0.02  # bytes of PNG for each pixel: a picture of one colour has fewer

AGAIN = "wake the device and try again; apps that show secrets (banks, passwords) forbid pictures of their screen"


def png_of(raw: bytes) -> bytes:
    """The PNG in what `screencap -p` printed, from its signature to its end.

    Warnings before it (foldables) and anything after it are cut off; what old shells did to line feeds is undone.
    Raises ScreenshotFailed where there is no picture, and where it is cut off or damaged.
    """
    start = raw.find(SIGNATURE)
    if start >= 0:
        return _whole(memoryview(raw)[start:])
    for ending in TRANSLATED:
        start = raw.find(SIGNATURE.replace(b"\n", ending))
        if start >= 0:
            return _whole(memoryview(raw[start:].replace(ending, b"\n")))
    said = harmless(raw[:1000].decode("utf-8", "replace"), 200)
    what = f"the device answered: {said}" if said and raw.isascii() else f"{len(raw)} bytes that are no PNG"
    raise ScreenshotFailed(what if raw else "the device sent no picture", hint=AGAIN)


def _whole(data: memoryview) -> bytes:
    """Chunk by chunk, each with its checksum, to IEND."""
    at = len(SIGNATURE)
    while at + 12 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        end = at + 12 + length
        if end > len(data):
            break
        if zlib.crc32(data[at + 4 : end - 4]) != int.from_bytes(data[end - 4 : end], "big"):
            raise ScreenshotFailed(f"the picture is damaged {at:,} bytes in", hint="try again")
        if kind == b"IEND":
            return bytes(data[:end])
        at = end
    raise ScreenshotFailed(f"the picture is cut off after {len(data):,} bytes", hint="try again")


def png_size(png: bytes) -> tuple[int, int]:
    """Width and height, of the header alone."""
    if len(png) < 24 or not png.startswith(SIGNATURE) or png[12:16] != b"IHDR":
        raise ScreenshotFailed("the picture has no header", hint="try again")
    width, height = struct.unpack_from(">II", png, 16)
    return width, height


def is_black(png: bytes) -> bool:
    """Whether there is nothing but black between the system's bars: the screen is off, or the window is secure.

    Most pictures are known not to be by their size alone: decoding one of 1080 × 2400 takes some 50 ms.
    """
    width, height = png_size(png)
    if len(png) > BLANK_RATE * width * height + 4096:
        return False
    from PIL import Image

    with Image.open(io.BytesIO(png)) as image:
        middle = image.crop((0, int(MIDDLE[0] * height), width, max(int(MIDDLE[1] * height), 1))).convert("L")
        return int(middle.getextrema()[1]) <= DARK  # type: ignore[arg-type]
