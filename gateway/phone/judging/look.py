"""What the screen showed at one moment, and what is different at a later one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property

from gateway.phone.element import Element
from gateway.phone.state_id import SYSTEM
from gateway.phone.task.state import Seen

CLOCK = re.compile(r"\b(\d{1,3}):(\d\d)(?::(\d\d))?(?:[.,]\d+)?\b")
FASTER, SLACK_S = 1.5, 2.0  # a clock of the screen may have been read earlier or later than the picture
INSET, TOP = 0.06, 0.1  # of the screen's width and height: a dialog leaves so much at its sides, and above
SHEET = 0.3  # of its height: what is free above a sheet


@dataclass(frozen=True)
class Look:
    """`elements` are None where the screen could not be read."""

    seen: Seen
    elements: tuple[Element, ...] | None = None

    @property
    def shown(self) -> tuple[Element, ...]:
        """The elements, without the system's clock and the like."""
        return tuple(
            each
            for each in self.elements or ()
            if not (each.package == "com.android.systemui" and each.resource_id in SYSTEM)
        )

    @property
    def structure(self) -> str:
        return self.seen.state_id.partition(":")[0]

    @property
    def field(self) -> Element | None:
        """The field that has the focus."""
        return next((each for each in self.shown if each.role == "field" and "focused" in each.state), None)

    @property
    def is_popup(self) -> bool:
        """Whether what is shown leaves free what a page would take: a dialog, or a sheet from below."""
        boxes = [each.bounds for each in self.shown if each.bounds.area]
        if not boxes:
            return False
        width, height = self.seen.size
        around = boxes[0]
        for each in boxes[1:]:
            around = around.around(each)
        inset = around.left >= INSET * width and around.right <= (1 - INSET) * width
        return (inset and around.top >= TOP * height) or around.top >= SHEET * height


@dataclass(frozen=True)
class Difference:
    before: Look
    after: Look

    @property
    def readable(self) -> bool:
        return self.before.elements is not None and self.after.elements is not None

    @property
    def app(self) -> bool:
        return self.before.seen.package != self.after.seen.package

    @property
    def screen(self) -> bool:
        """Another app or activity, or the screen held in another way."""
        then, now = self.before.seen, self.after.seen
        return self.app or then.activity != now.activity or then.size != now.size

    @property
    def picture(self) -> bool | None:
        """None where pictures tell nothing: there are none, or they are black."""
        then, now = self.before.seen, self.after.seen
        if then.png is None or now.png is None or then.secure or now.secure:
            return None
        return then.png != now.png

    @cached_property
    def anything(self) -> bool:
        """Whether anything is different that is known of the screen, but for its picture."""
        if self.screen or self.before.seen.keyboard != self.after.seen.keyboard:
            return True
        return self.readable and _counted(self.before, _all_of) != _counted(self.after, _all_of)

    @cached_property
    def only_places(self) -> bool:
        """Whether all is as it was, but elsewhere or of another size."""
        return self.anything and not self.screen and _counted(self.before, _said) == _counted(self.after, _said)

    @cached_property
    def by_itself(self) -> bool:
        """Whether nothing is different but what goes on without anyone: clocks by about the time that has passed,
        progress."""
        if self.screen or not self.anything or not self.readable:
            return False
        then, now = _counted(self.before, _steady), _counted(self.after, _steady)
        return then == now and self._passed()

    def _passed(self) -> bool:
        before = {_place(each): each for each in self.before.shown}
        for each in self.after.shown:
            earlier = before.get(_place(each))
            if earlier is None or earlier.text == each.text:
                continue
            for old, new in zip(CLOCK.findall(earlier.text), CLOCK.findall(each.text), strict=False):
                if not self._has_gone(old, new):
                    return False
        return True

    def _has_gone(self, old: tuple[str, str, str], new: tuple[str, str, str]) -> bool:
        longest = FASTER * max(self.after.seen.at - self.before.seen.at, 0.0) + SLACK_S
        apart = abs(_units(new) - _units(old))
        return apart <= longest or (
            not old[2] and apart <= 1 + longest / 60
        )  # minutes and seconds, or hours and minutes


def _counted(look: Look, what: Callable[[Element], Hashable]) -> Counter[Hashable]:
    return Counter(what(each) for each in look.shown)


def _all_of(element: Element) -> Hashable:
    return (*_said(element), element.bounds)


def _said(element: Element) -> tuple[Hashable, ...]:
    return (
        element.role,
        element.text,
        element.hint,
        element.resource_id,
        element.package,
        element.state,
    )


def _steady(element: Element) -> Hashable:
    """What an element says apart from clocks, and from how far something has come; a clock is as wide as its digits."""
    running = element.role == "progress" or CLOCK.search(element.text) is not None
    text = "" if element.role == "progress" else CLOCK.sub("#", element.text)
    place = element.bounds.top if running else element.bounds
    return element.role, text, element.hint, element.resource_id, element.package, element.state, place


def _place(element: Element) -> Hashable:
    return element.role, element.resource_id, element.bounds.top, CLOCK.sub("#", element.text)


def _units(clock: Iterable[str]) -> int:
    """Seconds, or minutes where a clock has none."""
    total = 0
    for part in clock:
        total = total * 60 + int(part) if part else total
    return total
