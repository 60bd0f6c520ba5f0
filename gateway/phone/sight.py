"""Seeing what a phone shows: picture, hierarchy and the app in front."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from gateway.errors import HierarchyUnreadable
from gateway.phone import status
from gateway.phone.calls import Calls
from gateway.phone.deadline import Deadline
from gateway.phone.elements import elements_of
from gateway.phone.hierarchy import Hierarchy, parse
from gateway.phone.looks import Looks
from gateway.phone.observation import Observation
from gateway.phone.reading.display import Screen
from gateway.phone.reading.focus import Focus
from gateway.phone.state_id import state_id

T = TypeVar("T")
Timings = dict[str, float]

# An old file would pass for the new one where the dump fails, so it is removed first; and afterwards, for what it holds
# is nobody's business.
DUMP = "rm -f {file}; uiautomator dump {file}; cat {file}; rm -f {file}"


class Sight:
    """Its methods are for who has the device alone; `size` is that of the screen as it was last seen."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._workers = ThreadPoolExecutor(2, thread_name_prefix=f"phone-{calls.serial}")
        self._dump = DUMP.format(file=f"/data/local/tmp/echelon-{secrets.token_hex(4)}.xml")
        self._looks = Looks(calls, self.screenshot, self._dump)
        self.size: tuple[int, int] | None = None

    def close(self) -> None:
        self._workers.shutdown()

    def observe(self, deadline: Deadline, *, screenshot: bool, hierarchy: bool) -> Observation:
        """All at the same time: each is an answer that the device takes long for."""
        timings: Timings = {}
        picture = self._start(timings, "screenshot", self.screenshot, deadline) if screenshot else None
        front = self._start(timings, "foreground", lambda until: status.front(self._calls, until), deadline)
        tree, unreadable = None, ""
        try:
            if hierarchy:
                tree = _timed(timings, "hierarchy", self.hierarchy, deadline)
        except HierarchyUnreadable as error:
            if not screenshot:
                raise
            unreadable = f"{error} ({error.hint})" if error.hint else str(error)
        finally:
            for each in (picture, front):
                if each is not None:
                    each.exception()  # waits: they use the device, too
        png = picture.result() if picture else None
        return self._observed(png, front.result(), tree, unreadable, timings, deadline)

    def screenshot(self, deadline: Deadline) -> bytes:
        """A PNG. Raises ScreenshotFailed."""
        from gateway.phone.screenshot import png_of

        return self._calls.read(lambda until: png_of(self._calls.link.binary("screencap -p", until)), deadline)

    def hierarchy(self, deadline: Deadline) -> Hierarchy:
        """Raises HierarchyUnreadable."""
        return self._calls.read(lambda until: parse(self._calls.link.shell(self._dump, until).out), deadline)

    def look(self, deadline: Deadline) -> Hashable:
        """The same for the same screen."""
        return self._looks.look(deadline)

    def _start(self, timings: Timings, name: str, work: Callable[[Deadline], T], deadline: Deadline) -> Future[T]:
        return self._workers.submit(_timed, timings, name, work, deadline)

    def _observed(
        self,
        png: bytes | None,
        front: tuple[Focus, Screen],
        tree: Hierarchy | None,
        unreadable: str,
        timings: Timings,
        deadline: Deadline,
    ) -> Observation:
        from gateway.phone.screenshot import is_black, png_size

        at = time.time()
        focus, screen = front
        self.size = size = (png_size(png) if png else screen.size) or status.size(self._calls, deadline)
        elements = _timed(timings, "elements", lambda _: elements_of(tree, size), deadline) if tree else None
        black = png is not None and is_black(png)
        power = status.power(self._calls, deadline) if black else None
        return Observation(
            size=size,
            rotation=tree.rotation if tree else screen.rotation or 0,
            package=focus.package,
            activity=focus.activity,
            png=png,
            elements=elements,
            state_id=state_id(elements, f"{focus.package}/{focus.activity}") if elements is not None else None,
            unreadable=unreadable,
            secure=power is not None and power.screen_on is not False,
            screen_on=power.screen_on if power else None,
            locked=power.locked if power else None,
            at=at,
            timings_ms=timings,
        )


def _timed(timings: Timings, name: str, work: Callable[[Deadline], T], deadline: Deadline) -> T:
    began = time.perf_counter()
    try:
        return work(deadline)
    finally:
        timings[name] = (time.perf_counter() - began) * 1000
