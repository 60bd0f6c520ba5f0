"""Which of many tools are offered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.engine.ports import Effect
from gateway.tools.registry import Tool, Touches, tool
from gateway.tools.shortlist import OFFERED, USUAL, shortlist


def made(name: str, says: str, *touches: Touches) -> Tool:
    async def run(place: str = "") -> str:
        return place

    run.__doc__ = says
    return tool(name, effect=Effect.READ, touches=touches)(run)


MANY = [
    *(made(name, f"Do {name}.") for name in USUAL),
    made("mcp.time.convert_time", "Convert time between timezones."),
    made("mcp.time.get_current_time", "Get the current time in a timezone."),
    *(made(f"mcp.db.verb_{number}", "Handle rows of a database.") for number in range(40)),
]


def test_few_tools_are_all_offered() -> None:
    assert shortlist(MANY[:4], "anything at all") == sorted(each.name for each in MANY[:4])


def test_tools_with_words_of_the_request_go_before_the_usual_ones() -> None:
    offered = shortlist(MANY, "What is 9 o'clock in Berlin? Converting between time zones is wanted")
    assert {"mcp.time.convert_time", "mcp.time.get_current_time"} <= set(offered)
    assert len(offered) == OFFERED


def test_a_tool_that_is_named_is_offered() -> None:
    assert "mcp.db.verb_39" in shortlist(MANY, "Call mcp.db.verb_39, please")


def test_where_nothing_speaks_for_any_the_usual_ones_are_offered() -> None:
    assert set(USUAL) <= set(shortlist(MANY, "xyzzy"))


PHONES = [
    made("phone.tap", "Tap something on the screen.", Touches.PHONE),
    made("phone.type", "Type a text.", Touches.PHONE),
    made("phone.press", "Press a button.", Touches.PHONE),
    made("phone.open_app", "Open an app.", Touches.PHONE),
]


@pytest.mark.parametrize("text", ["Write an app that can type a text", "Press on with the phone number check"])
def test_the_phones_tools_take_no_place_where_nobody_speaks_of_a_phone(text: str) -> None:
    assert shortlist([*MANY, *PHONES], text) == shortlist(MANY, text)


@pytest.mark.parametrize("text", ["Type hello on my phone", "Tippe Hallo auf dem Handy", "Open the app on the Android"])
def test_the_phones_tools_are_offered_where_somebody_does(text: str) -> None:
    assert any(name.startswith("phone.") for name in shortlist([*MANY, *PHONES], text))


def test_where_there_are_no_others_they_are_offered_whatever_is_said() -> None:
    assert shortlist(PHONES, "go on") == sorted(each.name for each in PHONES)


@given(st.text(max_size=60))
def test_any_text_gives_as_many_as_there_is_room_for_and_the_same_again(text: str) -> None:
    offered = shortlist(MANY, text)
    assert len(offered) == OFFERED == len(set(offered))
    assert offered == shortlist(MANY, text)
