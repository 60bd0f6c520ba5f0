"""Text in pictures, in whatever alphabet: for each letter the first font of this machine that has it."""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

from gateway.phone.harmless import harmless

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

# Files that Linux, macOS and Windows come with: Latin, Greek and Cyrillic first, then those with Han, Kana and Hangul.
FONTS = (
    "DejaVuSans.ttf", "NotoSans-Regular.ttf", "LiberationSans-Regular.ttf", "Arial.ttf", "segoeui.ttf",
    "NotoSansCJK-Regular.ttc", "DroidSansFallbackFull.ttf", "wqy-microhei.ttc", "Arial Unicode.ttf", "PingFang.ttc",
    "msyh.ttc", "malgun.ttf",
)  # fmt: skip
MISSING = "\U0010ffff"  # is no letter: every font shows what it shows for those that it does not have


class Lettering:
    """Letters of one size, in pixels."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.line = round(size * 1.3)
        """From one line to the next, in pixels."""

    def draw(self, canvas: ImageDraw, at: tuple[float, float], text: str, fill: tuple[int, int, int]) -> None:
        """A line of text whose left end and whose middle, of its height, are `at`."""
        left, middle = at
        for font, letters in groupby(text, lambda letter: _font(letter, self.size)):
            run = "".join(letters)
            canvas.text((left, middle), run, fill=fill, font=font, anchor="lm")
            left += font.getlength(run)

    def width(self, text: str) -> float:
        return sum(_width(letter, self.size) for letter in text)

    def wrapped(self, text: str, width: float, most: int) -> list[str]:
        """The text, made harmless, in at most so many lines that are not wider: broken between words where that can be.
        What does not fit is left out, as the last line then says."""
        lines: list[str] = []
        rest = harmless(text)
        while rest and len(lines) < most:
            room = self._fitting(rest, width)
            if len(lines) == most - 1 and room < len(rest):
                room = self._fitting(rest, width - self.width("…"))
                return [*lines, rest[:room].rstrip() + "…"]
            space = rest.rfind(" ", 0, room + 1)
            if room < len(rest) and space > 0:
                room = space
            lines.append(rest[:room].rstrip())
            rest = rest[room:].lstrip()
        return lines

    def _fitting(self, text: str, width: float) -> int:
        """How many letters, at least one, are not wider than that."""
        taken = 0.0
        for at, letter in enumerate(text):
            taken += _width(letter, self.size)
            if taken > width:
                return max(at, 1)
        return len(text)


@lru_cache(maxsize=4096)
def _width(letter: str, size: int) -> float:
    return _font(letter, size).getlength(letter)


@lru_cache(maxsize=4096)
def _font(letter: str, size: int) -> FreeTypeFont:
    fonts = _fonts(size)
    return next((font for font in fonts if letter.isspace() or _has(font, letter)), fonts[0])


def _has(font: FreeTypeFont, letter: str) -> bool:
    return bytes(font.getmask(letter)) != bytes(font.getmask(MISSING))


@lru_cache(maxsize=4)
def _fonts(size: int) -> list[FreeTypeFont]:
    """Those that are here; Pillow brings a Latin one, which is the last."""
    from PIL import ImageFont

    found: list[FreeTypeFont] = []
    for name in FONTS:
        try:
            found.append(ImageFont.truetype(name, size))
        except OSError:
            continue
    return [*found, ImageFont.load_default(size)]  # type: ignore[list-item]
