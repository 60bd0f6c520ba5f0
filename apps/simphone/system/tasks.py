"""Tasks and the activities in them: what has been started, and in which order it lies on the screen."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from simphone.system.component import Component
from simphone.system.intent import Intent

_MARKS = itertools.count(1)


def mark() -> str:
    """What Android prints as an object's identity: hexadecimal, different for each."""
    return f"{(next(_MARKS) * 0x9E3779B1) & 0xFFFFFFF:x}"


@dataclass(eq=False)
class Activity:
    """An instance of an activity. `token` names its window, `record` and `window` are its marks in dumps."""

    component: Component
    intent: Intent
    token: str
    record: str = field(default_factory=mark)
    window: str = field(default_factory=mark)


@dataclass(eq=False)
class Task:
    """Its activities from the bottom to the top; `affinity` is the package that it belongs to, `uid` that one's."""

    id: int
    affinity: str
    uid: int
    activities: list[Activity]
    is_home: bool = False
    mark: str = field(default_factory=mark)

    @property
    def root(self) -> Activity:
        return self.activities[0]

    @property
    def top(self) -> Activity:
        return self.activities[-1]
