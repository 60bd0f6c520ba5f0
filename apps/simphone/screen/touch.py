"""Touches and keys on the page, as events that a browser gets from a finger and a keyboard."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from typing import Any

from simphone.screen import keys
from simphone.screen.browser import Browser

PIXELS = 3  # of the screen, for one of CSS
_STEPS = range(6, 25)  # of a movement, so many events
_FRAME_MS = 16
_HOLD_S = 0.5  # a press is a long one then
_SLOP = 16 * PIXELS  # pixels: the browser takes less for a trembling finger, and hands no movement on


class Touch:
    """Coordinates are pixels of the screen. Nothing here waits for what the page does afterwards, but all of it has
    been handed to the page by then."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self.dragged: dict[str, Any] | None = None  # what a page began to drag by HTML's drag and drop

    async def tap(self, x: float, y: float) -> None:
        await self._finger("touchStart", x, y)
        await self._finger("touchEnd")
        await self._handed(x, y)
        if await self._browser.evaluate("system.missed"):
            await self._browser.evaluate("system.again = true")
            await self._mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
            await self._mouse("mouseReleased", x, y, button="left", buttons=0, clickCount=1)
            await self._browser.evaluate("system.again = system.missed = false")

    async def hold(self, x: float, y: float, ms: int) -> None:
        """A long press: the page's menu instead of a click. A browser without a window opens none by itself."""
        await self._finger("touchStart", x, y)
        await asyncio.sleep(_HOLD_S)
        await self._browser.evaluate(f"system.longPress({x / PIXELS}, {y / PIXELS})")
        await asyncio.sleep(max(0, ms / 1000 - _HOLD_S))
        await self._finger("touchEnd")
        await self._handed(x, y)
        await self._browser.evaluate("system.pressing = false")

    async def move(self, x1: float, y1: float, x2: float, y2: float, ms: int, *, hold: bool = False) -> None:
        """From one place to the other in `ms`; the page scrolls with it and stops with it."""
        await self._finger("touchStart", x1, y1)
        if hold:
            await asyncio.sleep(_HOLD_S)
        loop = asyncio.get_running_loop()
        begun = loop.time()
        if 0 < (distance := math.hypot(x2 - x1, y2 - y1)) < _SLOP:
            away = _SLOP / distance
            await self._finger("touchMove", x1 + (x2 - x1) * away, y1 + (y2 - y1) * away)
        moves = []
        for part, x, y in _way(x1, y1, x2, y2, ms):
            await asyncio.sleep(max(0.0, begun + part * ms / 1000 - loop.time()))
            moves.append(asyncio.ensure_future(self._finger("touchMove", x, y)))
        await asyncio.gather(*moves)
        await self._finger("touchEnd")
        await self._handed(x2, y2)

    async def drag_by_mouse(self, x1: float, y1: float, x2: float, y2: float, ms: int) -> None:
        """For pages that know no touch, and for HTML's drag and drop."""
        self.dragged = None
        await self._browser.call("Input.setInterceptDrags", {"enabled": True})
        await self._mouse("mouseMoved", x1, y1)
        await self._mouse("mousePressed", x1, y1, button="left", buttons=1, clickCount=1)
        for _, x, y in _way(x1, y1, x2, y2, ms):
            await self._mouse("mouseMoved", x, y, button="left", buttons=1)
        if self.dragged is not None:
            for kind in ("dragEnter", "dragOver", "drop"):
                place = {"x": x2 / PIXELS, "y": y2 / PIXELS}
                await self._browser.call("Input.dispatchDragEvent", {"type": kind, "data": self.dragged, **place})
        await self._mouse("mouseReleased", x2, y2, button="left", buttons=0, clickCount=1)
        await self._browser.call("Input.setInterceptDrags", {"enabled": False})

    async def press(self, key: dict[str, Any], *, repeat: bool = False) -> None:
        down = "keyDown" if "text" in key else "rawKeyDown"
        await self._browser.call("Input.dispatchKeyEvent", {"type": down, **key})
        if repeat:
            await self._browser.call("Input.dispatchKeyEvent", {"type": down, **key, "autoRepeat": True})
        up = {name: value for name, value in key.items() if name != "text"}
        await self._browser.call("Input.dispatchKeyEvent", {"type": "keyUp", **up})

    async def type(self, text: str) -> None:
        """Key by key, where there is one."""
        for character in text:
            if key := keys.CHARACTERS.get(character) or (keys.NAMED["Enter"] if character == "\n" else None):
                await self.press(key)
            else:
                await self.insert(character)

    async def insert(self, text: str) -> None:
        """At once, as an input method commits it."""
        await self._browser.call("Input.insertText", {"text": text})

    async def _finger(self, kind: str, x: float = 0, y: float = 0) -> None:
        points = [] if kind == "touchEnd" else [{"x": x / PIXELS, "y": y / PIXELS}]
        await self._browser.call("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    async def _mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        await self._browser.call("Input.dispatchMouseEvent", {"type": kind, "x": x / PIXELS, "y": y / PIXELS, **more})

    async def _handed(self, x: float, y: float) -> None:
        """The click that follows a touch comes after the answer to the touch: events of the mouse queue behind it."""
        await self._mouse("mouseMoved", x, y)


def _way(x1: float, y1: float, x2: float, y2: float, ms: int) -> Iterator[tuple[float, float, float]]:
    steps = min(max(ms // _FRAME_MS, _STEPS.start), _STEPS.stop)
    for step in range(1, steps + 1):
        part = step / steps
        yield part, x1 + (x2 - x1) * part, y1 + (y2 - y1) * part
