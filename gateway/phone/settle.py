"""Waiting until the screen has come to rest: a fixed time is too long for most screens and too short for some."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from gateway.phone.deadline import Deadline

LONGEST_S = 10.0
BETWEEN_S, LONGEST_BETWEEN_S = 0.1, 0.5  # the pauses grow: a cursor blinks every half second


@dataclass(frozen=True)
class Settled:
    """`stable` is False where the screen was still changing when the time was over, as under an endless animation."""

    stable: bool
    waited_s: float
    looks: int


def settle(look: Callable[[Deadline], Hashable], deadline: Deadline, longest_s: float = LONGEST_S) -> Settled:
    """Look until two looks in succession are equal, for `longest_s` seconds at most."""
    began = time.monotonic()
    until = deadline.within(longest_s)
    pause, looks, last = BETWEEN_S, 1, look(deadline)
    while True:
        stable = False
        if until.remaining > pause:
            until.pause(pause)
            now = look(deadline)
            looks += 1
            stable, last = now == last, now
        if stable or until.remaining <= pause:
            return Settled(stable, time.monotonic() - began, looks)
        pause = min(pause * 1.5, LONGEST_BETWEEN_S)
