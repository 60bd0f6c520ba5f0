"""The screen in the size that the shell has set: pictures, hierarchy and touches are in its pixels."""

from __future__ import annotations

import asyncio
import io
import re
from typing import TYPE_CHECKING

from simphone.system.settings import Settings

if TYPE_CHECKING:
    from simphone.screen.display import Display

FORCED = "display_size_forced"
SMALLEST, LARGEST = 200, 4000  # pixels of a side
_BOUNDS = re.compile(r'bounds="\[(-?\d+),(-?\d+)\]\[(-?\d+),(-?\d+)\]"')
_SIZE = re.compile(r"(\d{1,5})[x,](\d{1,5})")


def read_size(text: str) -> tuple[int, int] | None:
    """Width and height from "540x1200" (or "540,1200", as the setting has it); None for what no display can have."""
    found = _SIZE.fullmatch(text)
    size = (int(found[1]), int(found[2])) if found else (0, 0)
    return size if all(SMALLEST <= each <= LARGEST for each in size) else None


class Viewport:
    """Nothing but the display where no size is set. The picture is drawn or stretched to a set one."""

    def __init__(self, display: Display, settings: Settings) -> None:
        self._display = display
        self._settings = settings

    @property
    def physical(self) -> tuple[int, int]:
        """Upright."""
        width, height = self._display.size
        return (height, width) if self._display.rotation % 2 else (width, height)

    @property
    def forced(self) -> tuple[int, int] | None:
        """Upright."""
        return read_size(self._settings.get("global", FORCED) or "")

    @forced.setter
    def forced(self, size: tuple[int, int] | None) -> None:
        if size is None or size == self.physical:
            self._settings.delete("global", FORCED)
        else:
            self._settings.put("global", FORCED, f"{size[0]},{size[1]}")

    @property
    def size(self) -> tuple[int, int]:
        """Pixels in the present rotation."""
        width, height = self.forced or self.physical
        return (height, width) if self._display.rotation % 2 else (width, height)

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Where the display has this pixel."""
        if self.forced is None:
            return x, y
        (width, height), (ours, high) = self._display.size, self.size
        return x * width / ours, y * height / high

    async def screenshot(self) -> bytes:
        if self.forced is None:
            return await self._display.screenshot()
        needed = max(ours / theirs for ours, theirs in zip(self.size, self._display.size, strict=True))
        picture = await self._display.screenshot(min(needed, 1.0))
        return await asyncio.to_thread(_resized, picture, self.size)

    async def hierarchy(self) -> str:
        xml = await self._display.hierarchy()
        if self.forced is None:
            return xml
        (width, height), (ours, high) = self._display.size, self.size

        def scaled(found: re.Match[str]) -> str:
            left, top, right, bottom = map(int, found.groups())
            corners = [round(left * ours / width), round(top * high / height)]
            corners += [round(right * ours / width), round(bottom * high / height)]
            return 'bounds="[{},{}][{},{}]"'.format(*corners)

        return _BOUNDS.sub(scaled, xml)


def _resized(picture: bytes, size: tuple[int, int]) -> bytes:
    from PIL import Image

    held = io.BytesIO()
    with Image.open(io.BytesIO(picture)) as image:
        if image.size == size:
            return picture
        image.resize(size).save(held, "PNG", compress_level=1)
    return held.getvalue()
