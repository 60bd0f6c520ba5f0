"""What an oracle sees, and what it can do: the task's text, the elements of the screen, actions as data."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from gateway.phone.element import Bounds, Element

Action = dict[str, Any]
Moves = Generator[Action, "Screen", "Screen"]
"""Actions, one after the other; what each led to is sent back, and the last screen returned."""
Solver = Callable[["Screen"], Moves]
Point = tuple[float, float]


class Stuck(Exception):
    """The oracle does not find what its task needs."""


@dataclass(frozen=True)
class Screen:
    """`size` in pixels. The element that shows the task itself is left out, and so is the page as a whole."""

    task: str
    elements: tuple[Element, ...]
    size: tuple[int, int]

    @classmethod
    def of(cls, task: str, elements: tuple[Element, ...], size: tuple[int, int]) -> Screen:
        page = [each for each in elements if each.role == "list" and each.bounds.width == size[0]][:1]
        return cls(
            task, tuple(each for each in elements if each not in page and _plain(each.text) != _plain(task)), size
        )

    def asked(self, pattern: str) -> tuple[str, ...]:
        """The groups of the pattern in the task, without those that do not take part."""
        found = re.search(pattern, self.task)
        if found is None:
            raise Stuck(f"the task is not of the form {pattern!r}: {self.task}")
        return tuple(each for each in found.groups() if each is not None)

    def quoted(self) -> list[str]:
        """What the task has in quotation marks."""
        return re.findall(r'"([^"]*)"', self.task)

    def all(self, *roles: str) -> list[Element]:
        return [each for each in self.elements if each.role in roles]

    def texts(self) -> list[str]:
        return [each.text for each in self.elements if each.text]

    def find(self, text: str, *roles: str) -> Element | None:
        """What says exactly that; something that can be tapped rather than something else."""
        found = [each for each in self.elements if each.text == text and (not roles or each.role in roles)]
        return max(found, key=lambda each: bool(each.clickable), default=None)

    def get(self, text: str, *roles: str) -> Element:
        found = self.find(text, *roles)
        if found is None:
            raise Stuck(f"no {'/'.join(roles) or 'element'} {text!r} among {self.texts()}")
        return found

    def matching(self, pattern: str, *roles: str) -> list[Element]:
        return [each for each in self.elements if re.search(pattern, each.text) and (not roles or each.role in roles)]

    def named(self, resource_id: str) -> Element:
        found = next((each for each in self.elements if each.resource_id == resource_id), None)
        if found is None:
            raise Stuck(f"no element {resource_id!r}")
        return found

    def at(self, x: float, y: float) -> Point:
        """Of a pixel, in fractions: what the phone takes for the same pixel again."""
        return (int(x) + 0.5) / self.size[0], (int(y) + 0.5) / self.size[1]

    def within(self, element: Element, x: float, y: float) -> Point:
        """A place in an element, 0..1 from its left and from its top."""
        box: Bounds = element.bounds
        return self.at(box.left + x * (box.width - 1), box.top + y * (box.height - 1))


Place = Element | Point


def tap(place: Place) -> Action:
    return {"action": "tap", "coordinate": _place(place)}


def double_tap(place: Place) -> Action:
    return {"action": "double_tap", "coordinate": _place(place)}


def swipe(start: Place, end: Place, duration: int = 500) -> Action:
    return {"action": "swipe", "start": _place(start), "end": _place(end), "duration": duration}


def drag(start: Place, end: Place) -> Action:
    return {"action": "drag", "start": _place(start), "end": _place(end)}


def type_text(text: str) -> Action:
    return {"action": "type", "text": text}


CLEAR: Action = {"action": "clear"}
ENTER: Action = {"action": "enter"}
BACK: Action = {"action": "back"}


def wait(seconds: float) -> Action:
    return {"action": "wait", "seconds": seconds}


def press(screen: Screen, text: str = "Submit", *roles: str) -> Moves:
    """Tap what says so; where the keyboard covers it, put that away first."""
    if screen.find(text, *roles) is None and any("focused" in each.state for each in screen.all("field")):
        screen = yield BACK
    return (yield tap(screen.get(text, *roles)))


def fill(screen: Screen, field: Element, text: str) -> Moves:
    """Put the text into a field, in place of what stands there."""
    screen = yield tap(field)
    if any(each.text for each in screen.all("field") if "focused" in each.state):
        screen = yield CLEAR
    return (yield type_text(text))


def scroll(screen: Screen, inside: Element, share: float = 0.6) -> Moves:
    """Move what is inside by a share of its height: up, to see what is below, where the share is positive."""
    near, far = 0.5 + share / 2, 0.5 - share / 2
    return (yield swipe(screen.within(inside, 0.5, near), screen.within(inside, 0.5, far), 800))


def scroll_to(screen: Screen, there: Callable[[Screen], Element | None], inside: Callable[[Screen], Element]) -> Moves:
    """Scroll down until it is there."""
    while there(screen) is None:
        before = screen
        screen = yield from scroll(screen, inside(screen))
        if screen.elements == before.elements:
            raise Stuck(f"not found, down to the end: {screen.texts()}")
    return screen


def _place(place: Place) -> Any:
    return {"element": place.number} if isinstance(place, Element) else list(place)


def _plain(text: str) -> str:
    return " ".join(text.split())
