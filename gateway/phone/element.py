"""What a screen consists of for whoever acts on it: numbered elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Bounds(NamedTuple):
    """A rectangle in pixels of the screen as it is held now; `right` and `bottom` lie just outside."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        return max(self.right - self.left, 0)

    @property
    def height(self) -> int:
        return max(self.bottom - self.top, 0)

    @property
    def area(self) -> int:
        return self.width * self.height

    @property
    def centre(self) -> tuple[int, int]:
        """The pixel to tap."""
        return (self.left + self.right) // 2, (self.top + self.bottom) // 2

    def within(self, other: Bounds) -> Bounds:
        """What of it lies inside another one; of no area where they do not meet."""
        left, top = max(self.left, other.left), max(self.top, other.top)
        return Bounds(left, top, max(min(self.right, other.right), left), max(min(self.bottom, other.bottom), top))

    def around(self, other: Bounds) -> Bounds:
        """The smallest one that holds both."""
        return Bounds(
            min(self.left, other.left),
            min(self.top, other.top),
            max(self.right, other.right),
            max(self.bottom, other.bottom),
        )

    def covered_by(self, other: Bounds) -> float:
        """The share of its area that lies inside another one, 0..1."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return width * height / self.area if width > 0 and height > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Element:
    """One thing on the screen.

    `role` is one of button, field, switch, checkbox, radio, tab, slider, picker, text, image, list, progress, canvas.
    `text` is what it says (of a field: what stands in it), `hint` what a field asks for, `resource_id` the name that
    its developers gave it, without the package. `state` has some of checked, disabled, focused, selected, password,
    filled (a password that is not told), scrollable. `clickable` is None where only a picture was read.
    All texts are on one line, without control characters, and at most 1,000 characters long.
    """

    number: int
    role: str
    text: str
    bounds: Bounds
    hint: str = ""
    resource_id: str = ""
    state: tuple[str, ...] = ()
    clickable: bool | None = False
    editable: bool = False
    package: str = ""
