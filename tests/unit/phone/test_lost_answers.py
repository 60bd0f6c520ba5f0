"""What the screen tells about an act whose answer was lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from task_screens import (
    checkout,
    confirmed,
    conversation,
    crashed,
    editor,
    element,
    home,
    look,
    on,
    question,
    sale,
    settings_list,
    stopwatch,
    wifi,
)
from test_consequential_targets import ELEMENT
from test_postconditions import EVERYTHING, LOOKS

from gateway.phone.actions import Clear, DeviceAction, Enter, Tap, Type, Wait
from gateway.phone.element import Element
from gateway.phone.judging.happened import happened
from gateway.phone.judging.look import Look

TAP = Tap(coordinate=(0.5, 0.5))
PAY, SEND = on(checkout(), "pay"), on(conversation("hallo"), "send_message")


def harmless(before: Look, after: Look, action: DeviceAction = TAP) -> bool | None:
    return happened(action, None, "", before, after)


def paid(after: Look, before: Look | None = None) -> bool | None:
    return happened(TAP, PAY, "pay", before or checkout(), after)


def test_a_harmless_act_happened_where_anything_is_different() -> None:
    assert harmless(settings_list(), wifi(True)) is True
    assert harmless(stopwatch("00:01", 0.0), stopwatch("00:02", 1.0)) is True
    assert harmless(wifi(True), wifi(False)) is True
    assert harmless(settings_list(), settings_list()) is False


def test_an_unchanged_screen_that_hides_its_picture_proves_nothing() -> None:
    pad = look(("button", "1"), secure=True)
    assert harmless(pad, pad) is None


def test_of_a_screen_that_cannot_be_read_the_picture_tells() -> None:
    one, two = (look(readable=False, png=name) for name in "12")
    assert (harmless(one, one), harmless(one, two)) == (False, True)
    blind = Look(one.seen.with_(png=None), None)
    assert harmless(blind, blind) is None


def test_waiting_is_over() -> None:
    assert harmless(home(), home(), Wait()) is True


def test_a_payment_happened_where_the_app_shows_another_screen() -> None:
    assert paid(confirmed()) is True


@pytest.mark.parametrize(
    "after",
    [
        checkout(),
        checkout(png="another"),
        checkout("Processing…", disabled=True),
        checkout("Pay £99.98"),
        checkout(declined=True),
        sale(),
        home(),
        crashed(),
        wifi(True),
        look(readable=False),
        look(),
        look(("progress", "", (400, 1100, 680, 1300)), activity=".CheckoutActivity"),
        look(("button", "Install", (0, 0, 1080, 2400)), activity="com.google.android.gms.ads.AdActivity"),
    ],
)
def test_of_a_payment_everything_else_proves_nothing(after: Look) -> None:
    assert paid(after) is None


def test_a_popup_that_asks_about_the_very_thing_is_its_effect() -> None:
    delete = on(conversation(), "delete")
    assert happened(TAP, delete, "delete", conversation(), question("Delete this conversation?")) is True
    assert happened(TAP, delete, "delete", conversation(), sale(".ConversationActivity")) is None


def test_a_message_that_stands_in_the_conversation_was_sent() -> None:
    before = conversation("hallo")
    for action in (TAP, Enter()):
        assert happened(action, SEND, "send", before, conversation(sent=["hallo"], keyboard=False)) is True
        assert happened(action, SEND, "send", before, conversation("hallo")) is None
        assert happened(action, SEND, "send", before, conversation()) is None  # emptied, and nowhere to be seen
    typed = Type(text="hallo\n")
    assert happened(typed, None, "send", conversation(), conversation(sent=["hallo"])) is True
    assert happened(typed, None, "send", conversation(), conversation("hallo")) is None
    assert happened(typed, None, "send", conversation(), conversation()) is None


def test_of_typing_the_field_tells() -> None:
    typed = Type(text="milk")
    assert harmless(editor(), editor("milk"), typed) is True
    assert harmless(editor(), editor("mi"), typed) is True  # in part: what stands there is for the verification
    assert harmless(editor(), editor(), typed) is False
    assert harmless(editor("milk"), editor("milk"), typed) is False
    assert harmless(look(readable=False), look(readable=False), typed) is None
    assert harmless(settings_list(), settings_list(), typed) is False  # there is no field
    empty, filled = (editor(state=("focused", "password", *more)) for more in ((), ("filled",)))
    assert harmless(empty, filled, typed) is True
    assert harmless(empty, empty, typed) is False
    assert harmless(filled, filled, typed) is None


def test_of_clearing_too() -> None:
    assert harmless(editor("milk"), editor(), Clear()) is True
    assert harmless(editor("milk"), editor("milk"), Clear()) is False


@given(EVERYTHING, st.none() | ELEMENT, LOOKS, LOOKS)
def test_what_is_consequential_is_never_said_not_to_have_happened(
    action: DeviceAction, target: Element | None, before: Look, after: Look
) -> None:
    assert happened(action, target, "pay", before, after) is not False
    assert isinstance(action, Wait) or happened(action, target, "pay", before, before) is None


@given(EVERYTHING, st.none() | ELEMENT, LOOKS, LOOKS)
def test_whatever_there_is_there_is_an_answer(
    action: DeviceAction, target: Element | None, before: Look, after: Look
) -> None:
    assert happened(action, target, "", before, after) in (True, False, None)


@given(ELEMENT)
def test_as_long_as_the_target_is_there_nothing_is_proved(target: Element) -> None:
    before = look(target, element("text", "Bill", (0, 100, 1080, 200)))
    after = look(target, element("text", "Bill", (0, 100, 1080, 200)), element("button", "New", (0, 300, 1080, 500)))
    assert happened(TAP, before.shown[0], "pay", before, after) is not True
