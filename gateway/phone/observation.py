"""What a phone shows at one moment."""

from __future__ import annotations

from dataclasses import dataclass, field

from gateway.phone.element import Element
from gateway.phone.state_id import StateId


@dataclass(frozen=True)
class Observation:
    """`size` is width and height in pixels as the screen is held, `rotation` 0..3 times 90 degrees. `png` and
    `elements` are None where they were not asked for. Where the device gives no hierarchy, as `unreadable` says then,
    or where that tells nothing of the content, `elements` are, `from_picture`, what was read there; where that cannot
    be, `unreadable` says why, too, and without a hierarchy they are None.
    `secure`: the picture is black although the screen is on, for what is shown forbids pictures.
    `screen_on` and `locked` are None where nothing made it worth asking. `at` is in seconds since the epoch."""

    size: tuple[int, int]
    rotation: int
    package: str
    activity: str
    png: bytes | None
    elements: tuple[Element, ...] | None
    state_id: StateId | None
    unreadable: str = ""
    from_picture: bool = False
    secure: bool = False
    screen_on: bool | None = None
    locked: bool | None = None
    at: float = 0.0
    timings_ms: dict[str, float] = field(default_factory=dict)

    def element(self, number: int) -> Element | None:
        """The element with that number in this observation."""
        return next((each for each in self.elements or () if each.number == number), None)
