"""What can be done on a phone. Places are fractions of the screen, 0..1, or the number of an element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from gateway.errors import ActionFailed
from gateway.phone.element import Element

Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Point = tuple[Fraction, Fraction]
Size = tuple[int, int]
Pixel = tuple[int, int]


class Numbered(BaseModel):
    """An element of the list that was observed, which stands for the point in its middle."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    element: int = Field(ge=1)


Place = Point | Numbered


class _Action(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _AtPlace(_Action):
    """`element: N` may be written instead of a coordinate."""

    coordinate: Place

    @model_validator(mode="before")
    @classmethod
    def _element(cls, given: Any) -> Any:
        if isinstance(given, dict) and "element" in given and "coordinate" not in given:
            given = dict(given)
            given["coordinate"] = {"element": given.pop("element")}
        return given


class Tap(_AtPlace):
    action: Literal["tap"] = "tap"


class LongPress(_AtPlace):
    action: Literal["long_press"] = "long_press"


class DoubleTap(_AtPlace):
    action: Literal["double_tap"] = "double_tap"


class Swipe(_Action):
    """`duration` in milliseconds: a fast swipe flings, a slow one moves what is under the finger."""

    action: Literal["swipe"] = "swipe"
    start: Place
    end: Place
    duration: int = Field(300, ge=1, le=10_000)


class Drag(_Action):
    """Takes hold of what is at `start`, as a long press does, and lets it go at `end`."""

    action: Literal["drag"] = "drag"
    start: Place
    end: Place


class Type(_Action):
    """Into the field that has the focus."""

    action: Literal["type"] = "type"
    text: str = Field(min_length=1, max_length=20_000)


class Clear(_Action):
    """Empties the field that has the focus."""

    action: Literal["clear"] = "clear"


class Back(_Action):
    action: Literal["back"] = "back"


class Home(_Action):
    action: Literal["home"] = "home"


class Recent(_Action):
    action: Literal["recent"] = "recent"


class Enter(_Action):
    action: Literal["enter"] = "enter"


class OpenApp(_Action):
    """By the name under its icon, or by its package."""

    action: Literal["open_app"] = "open_app"
    app: str = Field(min_length=1, max_length=200)


class Wait(_Action):
    action: Literal["wait"] = "wait"
    seconds: float = Field(1, ge=0, le=60, allow_inf_nan=False)


class AskUser(_Action):
    """`takeover` hands the phone to the person, until the answer, for what only they can do."""

    action: Literal["ask_user"] = "ask_user"
    question: str
    takeover: bool = False


class McpCall(_Action):
    action: Literal["mcp_call"] = "mcp_call"
    tool: str
    args: dict[str, Any] = {}


class Answer(_Action):
    action: Literal["answer"] = "answer"
    text: str


class Finish(_Action):
    action: Literal["FINISH"] = "FINISH"
    reason: str = ""
    success: bool = True


DeviceAction = Tap | LongPress | DoubleTap | Swipe | Drag | Type | Clear | Back | Home | Recent | Enter | OpenApp | Wait
AgentAction = AskUser | McpCall | Answer | Finish
"""What the agent's own loop carries out; the phone knows nothing of it."""

Action = Annotated[DeviceAction | AgentAction, Field(discriminator="action")]
ACTION: TypeAdapter[DeviceAction | AgentAction] = TypeAdapter(Action)
"""Validates and describes actions as data: `{"action": "tap", "coordinate": [0.5, 0.5]}`."""

DEVICE_ACTION: TypeAdapter[DeviceAction] = TypeAdapter(Annotated[DeviceAction, Field(discriminator="action")])
"""Of these, what the phone itself does."""


def pixel(point: tuple[float, float], size: Size) -> Pixel:
    """Of a point in fractions; 1.0 is the last pixel of the `size`."""
    return _along(point[0], size[0]), _along(point[1], size[1])


def _along(fraction: float, length: int) -> int:
    return min(int(fraction * length), length - 1)


def pixels(action: DeviceAction, size: Size, elements: Sequence[Element] = ()) -> tuple[Pixel, ...]:
    """Where it touches the screen: none, one, or start and end. ActionFailed where an element is not in the list."""
    if isinstance(action, Tap | LongPress | DoubleTap):
        places: tuple[Place, ...] = (action.coordinate,)
    elif isinstance(action, Swipe | Drag):
        places = (action.start, action.end)
    else:
        return ()
    return tuple(_pixel(place, size, elements) for place in places)


def _pixel(place: Place, size: Size, elements: Sequence[Element]) -> Pixel:
    if not isinstance(place, Numbered):
        return pixel(place, size)
    found = next((each for each in elements if each.number == place.element), None)
    if found is None:
        there = f"there are {len(elements)}" if elements else "none were listed"
        raise ActionFailed(
            f"no element {place.element} on the screen: {there}", hint="look again, or give a coordinate"
        )
    x, y = found.bounds.centre
    return min(max(x, 0), size[0] - 1), min(max(y, 0), size[1] - 1)
