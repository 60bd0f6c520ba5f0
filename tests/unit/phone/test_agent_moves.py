"""The moves that a screen allows."""

from __future__ import annotations

from typing import Any

import pytest
from android_recordings import recorded
from hypothesis import given
from hypothesis import strategies as st
from task_screens import SIZE, element, elements
from test_element_list import RECORDED

from gateway.phone.actions import ACTION, Clear, Numbered, Swipe, Tap, Type, pixels
from gateway.phone.agents import moves
from gateway.phone.agents.moves import Move, moves_of, typing
from gateway.phone.element import Bounds, Element
from gateway.phone.elements import elements_of
from gateway.phone.hierarchy import parse

ROLES = ("button", "field", "switch", "checkbox", "radio", "tab", "slider", "picker", "text", "image", "list", "canvas")
STATES = ("checked", "disabled", "focused", "selected", "password", "filled", "scrollable")

screens = st.lists(
    st.builds(
        Element,
        number=st.just(0),
        role=st.sampled_from(ROLES),
        text=st.text('abc "é🎂·', max_size=80),
        bounds=st.builds(
            lambda x, y, w, h: Bounds(x, y, x + w, y + h),
            st.integers(-50, 1100),
            st.integers(-50, 2500),
            st.integers(0, 1200),
            st.integers(0, 2500),
        ),
        hint=st.text("abc", max_size=9),
        resource_id=st.sampled_from(("", "search", "up")),
        state=st.lists(st.sampled_from(STATES), unique=True, max_size=3).map(tuple),
        clickable=st.sampled_from((True, False, None)),
    ),
    max_size=12,
).map(lambda found: elements(*found))


def named(found: list[Move], name: str) -> Move:
    return next(each for each in found if each.name == name)


@given(screens, st.booleans())
def test_every_move_is_an_action_on_what_is_there(screen: tuple[Element, ...], keyboard: bool) -> None:
    found = moves_of(screen, SIZE, keyboard=keyboard)
    for move in found:
        action: Any = ACTION.validate_python(move.action)
        for x, y in pixels(action, SIZE, screen):
            assert 0 <= x < SIZE[0] and 0 <= y < SIZE[1]
        assert move.element is None or "disabled" not in move.element.state
    assert len({each.name for each in found}) == len(found)


@given(screens, st.data())
def test_a_barred_action_is_no_move_however_it_was_written(screen: tuple[Element, ...], data: st.DataObject) -> None:
    given_actions = [each.action for each in moves_of(screen, SIZE) if each.action]
    barred = data.draw(st.lists(st.sampled_from(given_actions), max_size=4))
    written = [
        {"action": "tap", "element": each["coordinate"]["element"]} if each["action"] == "tap" else each
        for each in barred
    ]
    left = [each.action for each in moves_of(screen, SIZE, barred=written)]
    assert not [each for each in left if each in barred]


@given(screens, st.text(min_size=1, max_size=30))
def test_typing_leaves_just_that_text(screen: tuple[Element, ...], text: str) -> None:
    for field in (each for each in screen if each.role == "field"):
        done = [ACTION.validate_python(each) for each in typing(field, text)]
        assert done[-1] == Type(text=text)
        assert ("focused" in field.state) != any(
            each == Tap(coordinate=Numbered(element=field.number)) for each in done
        )
        assert bool(field.text or "filled" in field.state) == (Clear() in done)


def test_moves_are_called_by_what_stands_on_them() -> None:
    screen = elements(
        ("button", "Save"),
        ("field", "tea", (0, 600, 1080, 700), {"hint": "Search", "state": ("focused",)}),
        ("button", "Open"),
        ("button", "Open"),
        ("text", "Nothing to tap"),
        ("button", "Buy", (0, 800, 1080, 900), {"state": ("disabled",)}),
    )
    assert [each.name for each in moves_of(screen, SIZE)] == [
        "Save",
        "Search",
        "press enter",
        "Open",
        "Open (2)",
        "back",
    ]


def test_scrolling_stays_inside_of_what_scrolls() -> None:
    screen = elements(("list", "", (0, 300, 1080, 2300), {"state": ("scrollable",)}))
    action = ACTION.validate_python(named(moves_of(screen, SIZE), "scroll down").action)
    assert isinstance(action, Swipe)
    (_, start), (_, end) = pixels(action, SIZE)
    assert 2300 > start > end > 300


def test_a_row_of_chips_is_no_page_to_scroll() -> None:
    screen = elements(("list", "", (0, 300, 1080, 440), {"state": ("scrollable",)}))
    assert [each.kind for each in moves_of(screen, SIZE)] == ["back"]


def test_a_keyboard_is_closed_before_one_goes_back() -> None:
    assert [each.name for each in moves_of((), SIZE, keyboard=True)] == ["hide keyboard"]


def test_texts_read_from_a_picture_can_be_tapped() -> None:
    screen = elements(("text", "Play", (0, 0, 100, 100), {"clickable": None}))
    assert named(moves_of(screen, SIZE), "Play").action == {"action": "tap", "coordinate": {"element": 1}}


@pytest.mark.parametrize(("hint", "looks_up"), [("Search settings", True), ("Suche", True), ("Subject", False)])
def test_a_field_that_looks_things_up_is_told_from_others(hint: str, looks_up: bool) -> None:
    assert moves.is_search(element("field", "", hint=hint)) is looks_up


@pytest.mark.parametrize("name", RECORDED)
def test_every_recorded_screen_has_moves(name: str) -> None:
    size, _, _ = RECORDED[name]
    found = moves_of(elements_of(parse(recorded(name)), size), size)
    assert found[-1].kind == "back"
    for each in found:
        ACTION.validate_python(each.action)
