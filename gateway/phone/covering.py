"""What lies above what: that which a tap would not reach is not on the screen for whoever acts on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gateway.phone.element import Bounds

COVERED = 0.8  # of its area, by something else that takes the tap
SAME = 0.9  # of each other's area: two views at one place
MANY = 300  # elements: no screen shows more; above, only what covers all is looked for


@dataclass(slots=True, eq=False)
class Item:
    """A candidate for an element. It was painted as number `order`, its descendants up to number `last`."""

    role: str
    bounds: Bounds
    order: int
    last: int
    text: str = ""
    hint: str = ""
    resource_id: str = ""
    package: str = ""
    state: set[str] = field(default_factory=set)
    acts: bool = False  # a tap or a text does something to it
    clickable: bool = False

    @property
    def named(self) -> bool:
        return bool(self.text or self.hint)


@dataclass(frozen=True, slots=True)
class Scrim:
    """A large view that takes every tap on it; `bare` when it shows nothing itself."""

    bounds: Bounds
    order: int
    bare: bool


def at_one_place(one: Bounds, other: Bounds) -> bool:
    return one.covered_by(other) >= SAME and other.covered_by(one) >= SAME


def without_covered(items: Sequence[Item], scrims: Sequence[Scrim]) -> list[Item]:
    """The items of one window that a tap reaches, and texts that can be seen.

    Nothing tells whether a view is opaque, but one that takes taps keeps them from what it covers: that goes, unless
    the upper view is nameless and of its size: then the upper one is but the lower one's touch area.
    """
    left = [item for item in items if not any(_under(item, scrim) for scrim in scrims)]
    if len(left) > MANY:
        return left
    gone: set[int] = set()
    covers = [item for item in left if item.clickable]
    for item in left:
        if not item.acts:
            continue
        for cover in covers:
            if cover.order > item.last and item.bounds.covered_by(cover.bounds) >= COVERED:
                touch_area = not cover.named and cover.bounds.area < 2 * item.bounds.area
                gone.add((cover if touch_area else item).order)
    return [item for item in left if item.order not in gone]


def _under(item: Item, scrim: Scrim) -> bool:
    if item.last >= scrim.order or item.bounds.covered_by(scrim.bounds) < COVERED:
        return False
    return item.acts or item.role == "list" or not scrim.bare
