"""When a call has to have ended, however its answer drips in."""

from __future__ import annotations

import time
from typing import Self

from gateway.errors import DeviceTimeout


class Deadline:
    """A moment, so many seconds from now; `what` is to be done by then. What is done in several steps passes it on to
    each of them."""

    def __init__(self, seconds: float, what: str = "the call", *, outer: Deadline | None = None) -> None:
        self.seconds = seconds
        self.what = what
        self._end = time.monotonic() + seconds
        self._outer = outer

    @property
    def remaining(self) -> float:
        """Seconds; below zero once it has passed."""
        own = self._end - time.monotonic()
        return own if self._outer is None else min(own, self._outer.remaining)

    @property
    def passed(self) -> bool:
        return self.remaining <= 0

    def left(self) -> float:
        """Seconds, more than none. Raises DeviceTimeout once it has passed."""
        left = self.remaining
        if left <= 0:
            raise self.over()
        return left

    def over(self) -> DeviceTimeout:
        return DeviceTimeout(f"{self.what}: not done within {self.seconds:g} s", performed=False)

    def within(self, seconds: float) -> Self:
        """One that is this many seconds away, or as near as this one. Raises DeviceTimeout."""
        return type(self)(min(seconds, self.left()), self.what, outer=self)

    def cancel(self) -> None:
        """Let it have passed, also for who waits by one within it: nobody wants what it is for any more."""
        self._end = float("-inf")

    def pause(self, seconds: float) -> None:
        """Wait; DeviceTimeout at once where the deadline would pass meanwhile."""
        if seconds >= self.left():
            raise self.over()
        time.sleep(seconds)
