"""Actions as data, and where they touch the screen."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from gateway.errors import ActionFailed
from gateway.phone.actions import ACTION, Drag, LongPress, Numbered, Swipe, Tap, Type, pixel, pixels
from gateway.phone.element import Bounds, Element

FRACTIONS = st.floats(0, 1)
SIZES = st.tuples(st.integers(1, 5000), st.integers(1, 5000))
ELEMENTS = [
    Element(1, "button", "Save", Bounds(0, 100, 200, 300)),
    Element(2, "field", "", Bounds(900, 2300, 1080, 2400)),
    Element(3, "text", "beyond", Bounds(1000, 2300, 1400, 2600)),
]


@pytest.mark.parametrize(
    "given",
    [
        {"action": "tap", "coordinate": [0.5, 0.25]},
        {"action": "long_press", "coordinate": [0, 1]},
        {"action": "double_tap", "coordinate": {"element": 3}},
        {"action": "swipe", "start": [0.5, 0.8], "end": [0.5, 0.2], "duration": 250},
        {"action": "drag", "start": {"element": 1}, "end": [0.1, 0.9]},
        {"action": "type", "text": "苍鹭"},
        {"action": "clear"},
        {"action": "back"},
        {"action": "home"},
        {"action": "recent"},
        {"action": "enter"},
        {"action": "open_app", "app": "Notes"},
        {"action": "wait", "seconds": 2},
        {"action": "ask_user", "question": "Which one?"},
        {"action": "mcp_call", "tool": "time.now", "args": {"zone": "UTC"}},
        {"action": "answer", "text": "42"},
        {"action": "FINISH", "reason": "done", "success": True},
    ],
)
def test_every_action_is_understood_and_written_again(given: dict[str, Any]) -> None:
    assert ACTION.validate_python(given).action == given["action"]
    again = ACTION.validate_json(ACTION.dump_json(ACTION.validate_python(given)))
    assert again == ACTION.validate_python(given)


@pytest.mark.parametrize("name", ["tap", "long_press", "double_tap"])
def test_an_element_stands_for_a_coordinate(name: str) -> None:
    found = ACTION.validate_python({"action": name, "element": 7})
    assert isinstance(found, Tap | LongPress) or name == "double_tap"
    assert found == ACTION.validate_python({"action": name, "coordinate": {"element": 7}})


@pytest.mark.parametrize(
    "given",
    [
        {"action": "tap"},
        {"action": "tap", "coordinate": [540, 1200]},
        {"action": "tap", "coordinate": [0.5]},
        {"action": "tap", "coordinate": [0.5, float("nan")]},
        {"action": "tap", "element": 0},
        {"action": "tap", "element": 1, "coordinate": [0.5, 0.5]},
        {"action": "swipe", "start": [0, 0]},
        {"action": "type", "text": ""},
        {"action": "wait", "seconds": 3600},
        {"action": "dance"},
        {"coordinate": [0, 0]},
    ],
)
def test_what_is_no_action_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ACTION.validate_python(given)


def test_fractions_are_pixels_up_to_the_last_one() -> None:
    assert pixel((0, 0), (1080, 2400)) == (0, 0)
    assert pixel((0.5, 0.5), (1080, 2400)) == (540, 1200)
    assert pixel((1.0, 1.0), (1080, 2400)) == (1079, 2399)
    assert pixel((0.9999, 0.9999), (1080, 2400)) == (1079, 2399)


@given(FRACTIONS, FRACTIONS, SIZES)
def test_a_pixel_is_on_the_screen(x: float, y: float, size: tuple[int, int]) -> None:
    assert all(0 <= at < length for at, length in zip(pixel((x, y), size), size, strict=True))


@given(FRACTIONS, FRACTIONS, SIZES)
def test_what_lies_further_right_is_no_pixel_to_the_left(one: float, other: float, size: tuple[int, int]) -> None:
    low, high = sorted((one, other))
    assert pixel((low, 0), size)[0] <= pixel((high, 0), size)[0]


@given(st.integers(1, 5000), st.data())
def test_every_pixel_can_be_reached(length: int, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, length - 1))
    assert pixel(((at + 0.5) / length, 0), (length, 1))[0] == at


def test_a_number_is_the_middle_of_its_element() -> None:
    size = (1080, 2400)
    assert pixels(Tap(coordinate=Numbered(element=1)), size, ELEMENTS) == ((100, 200),)
    drag = Drag(start=Numbered(element=2), end=(0.0, 1.0))
    assert pixels(drag, size, ELEMENTS) == ((990, 2350), (0, 2399))
    assert pixels(Swipe(start=(0, 0), end=(1, 1)), size) == ((0, 0), (1079, 2399))
    assert pixels(Tap(coordinate=Numbered(element=3)), size, ELEMENTS) == ((1079, 2399),)
    assert pixels(Type(text="x"), size) == ()


@pytest.mark.parametrize("elements", [ELEMENTS, []])
def test_a_number_that_nothing_has_is_an_error(elements: list[Element]) -> None:
    with pytest.raises(ActionFailed, match="no element 9"):
        pixels(Tap(coordinate=Numbered(element=9)), (1080, 2400), elements)
