"""A quick look at the screen, to be compared with the one before: by whichever way is cheapest on this device."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Hashable

from gateway.phone.calls import Calls
from gateway.phone.deadline import Deadline

Way = Callable[[Deadline], Hashable]
LIST_GAIN = 2  # times: what moves within a picture is not in a list, so that a list must be so much cheaper
DIGEST = re.compile(r"[0-9a-f]{32}\b")
NOTHING = hashlib.md5(usedforsecurity=False).hexdigest()  # of a `screencap` that printed none


class Looks:
    """Three ways: the phone's own digest of the pixels, for which it need not make a PNG of them nor send it; the
    picture; the list of what is on the screen. On phones the first is by far the cheapest, where there is `md5sum`; in
    the simulation the last. The first look tries and times them all."""

    def __init__(self, calls: Calls, screenshot: Callable[[Deadline], bytes], dump: str) -> None:
        self._calls = calls
        self._screenshot = screenshot
        self._dump = dump
        self._way: Way | None = None

    def look(self, deadline: Deadline) -> Hashable:
        """Equal for a screen that has not changed. None of a screen that cannot be told is equal to another."""
        if self._way is None:
            self._way = self._cheapest(deadline)
        return self._way(deadline)

    def _cheapest(self, deadline: Deadline) -> Way:
        took = {way: self._time(way, deadline) for way in (self._digest, self._picture, self._list)}
        pixels = min(self._digest, self._picture, key=lambda way: took[way])
        return self._list if LIST_GAIN * took[self._list] < took[pixels] else pixels

    def _time(self, way: Way, deadline: Deadline) -> float:
        began = time.perf_counter()
        known = isinstance(way(deadline), str)
        return time.perf_counter() - began if known else float("inf")

    def _digest(self, deadline: Deadline) -> Hashable:
        found = DIGEST.match(self._calls.query("screencap | md5sum", deadline))
        return found[0] if found and found[0] != NOTHING else object()

    def _picture(self, deadline: Deadline) -> Hashable:
        return hashlib.blake2b(self._screenshot(deadline)).hexdigest()

    def _list(self, deadline: Deadline) -> Hashable:
        said = self._calls.query(self._dump, deadline)
        return hashlib.blake2b(said.encode()).hexdigest() if "</hierarchy>" in said else object()
