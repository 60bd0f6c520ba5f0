"""Seeing what a phone shows: picture, hierarchy and the app in front."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from gateway.errors import DeviceError, HierarchyUnreadable
from gateway.phone import status
from gateway.phone.calls import Calls
from gateway.phone.deadline import Deadline
from gateway.phone.element import Element
from gateway.phone.elements import elements_of, is_blank
from gateway.phone.hierarchy import Hierarchy, parse
from gateway.phone.looks import Looks
from gateway.phone.observation import Observation
from gateway.phone.reading.display import Screen
from gateway.phone.reading.focus import Focus
from gateway.phone.state_id import state_id

T = TypeVar("T")
Timings = dict[str, float]

TURNS = 3

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
        self._disagree = False

    def close(self) -> None:
        self._workers.shutdown()

    def observe(self, deadline: Deadline, *, screenshot: bool, hierarchy: bool) -> Observation:
        """All of one position of the screen: what was turned meanwhile is asked for again."""
        with _given_up(deadline):
            for _ in range(TURNS):
                seen = self._observe(deadline, screenshot, hierarchy)
                if self._disagree or not seen.turned:
                    break
            else:
                self._disagree = True  # nobody turns a phone so often: this one tells of positions of its own
            return self._observed(seen, hierarchy, deadline)

    def _observe(self, deadline: Deadline, screenshot: bool, hierarchy: bool) -> _Seen:
        """All at the same time: each is an answer that the device takes long for."""
        timings: Timings = {}
        picture = self._start(timings, "screenshot", self.screenshot, deadline) if screenshot else None
        front = self._start(timings, "foreground", lambda until: status.front(self._calls, until), deadline)
        tree, unreadable = None, ""
        try:
            if hierarchy:
                with _given_up(deadline):
                    tree = _timed(timings, "hierarchy", self.hierarchy, deadline)
        except HierarchyUnreadable as error:
            if not screenshot:
                raise
            unreadable = _told(error)
        finally:
            for each in (picture, front):
                if each is not None:
                    each.exception()  # waits: they use the device, too
        return _Seen(picture.result() if picture else None, *front.result(), tree, unreadable, timings)

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

    def _observed(self, seen: _Seen, hierarchy: bool, deadline: Deadline) -> Observation:
        from gateway.phone.screenshot import is_black, png_size

        at, png, tree, unreadable = time.time(), seen.png, seen.tree, seen.unreadable
        self.size = size = (png_size(png) if png else seen.screen.size) or status.size(self._calls, deadline)
        elements = _timed(seen.timings, "elements", lambda _: elements_of(tree, size), deadline) if tree else None
        black = png is not None and is_black(png)
        power = status.power(self._calls, deadline) if black else None
        from_picture = False
        if hierarchy and png is not None and not black and (elements is None or is_blank(elements)):
            try:
                elements = _timed(seen.timings, "picture", lambda until: self._read(elements, png, until), deadline)
                from_picture = True
            except DeviceError as error:
                unreadable = "; ".join(filter(None, (unreadable, _told(error))))
        name = f"{seen.focus.package}/{seen.focus.activity}"
        return Observation(
            size=size,
            rotation=tree.rotation if tree else seen.screen.rotation or 0,
            package=seen.focus.package,
            activity=seen.focus.activity,
            png=png,
            elements=elements,
            state_id=state_id(elements, name) if elements is not None else None,
            unreadable=unreadable,
            from_picture=from_picture,
            secure=power is not None and power.screen_on is not False,
            screen_on=power.screen_on if power else None,
            locked=power.locked if power else None,
            at=at,
            timings_ms=seen.timings,
        )

    def _read(self, told: tuple[Element, ...] | None, png: bytes, deadline: Deadline) -> tuple[Element, ...]:
        """What stands in the picture. Reading it cannot be interrupted: so it is left to itself at the deadline."""
        from gateway.phone import ocr

        reading = self._workers.submit(lambda: ocr.elements(png) if told is None else ocr.with_picture(told, png))
        try:
            return reading.result(deadline.left())
        except FutureTimeout as error:
            raise deadline.over() from error


@dataclass(frozen=True)
class _Seen:
    """What the device answered, all of about the same moment."""

    png: bytes | None
    focus: Focus
    screen: Screen
    tree: Hierarchy | None
    unreadable: str
    timings: Timings

    @property
    def turned(self) -> bool:
        """Whether picture, hierarchy and screen are of different positions."""
        from gateway.phone.screenshot import png_size

        sizes = [size for size in (self.screen.size, png_size(self.png) if self.png else None) if size]
        wide = {width > height for width, height in sizes if width != height}
        turns = {turn for turn in (self.screen.rotation, self.tree.rotation if self.tree else None) if turn is not None}
        return len(wide) > 1 or len({turn % 2 for turn in turns}) > 1


@contextmanager
def _given_up(deadline: Deadline) -> Iterator[None]:
    """Whoever interrupts this does not wait for the workers, which would go on until the deadline."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, Exception):
            deadline.cancel()
        raise


def _told(error: DeviceError) -> str:
    return f"{error} ({error.hint})" if error.hint else str(error)


def _timed(timings: Timings, name: str, work: Callable[[Deadline], T], deadline: Deadline) -> T:
    began = time.perf_counter()
    try:
        return work(deadline)
    finally:
        timings[name] = (time.perf_counter() - began) * 1000
