"""Whether the screen is still the one that an act was chosen on."""

from __future__ import annotations

from dataclasses import replace

from task_screens import checkout, confirmed, conversation, home, look, on, wifi

from gateway.phone.actions import Enter, Home, Swipe, Tap
from gateway.phone.judging.look import Look
from gateway.phone.judging.still_there import still_there, unmoved

TAP = Tap(coordinate=(0.5, 0.5))
PAY = on(checkout(), "pay")


def test_an_act_belongs_to_the_page_on_which_its_target_is_in_its_place() -> None:
    assert still_there(TAP, PAY, checkout(), checkout(), closely=True)
    for other in (confirmed(), home(), checkout("Pay £99.98"), look(readable=False)):
        assert not still_there(TAP, PAY, checkout(), other, closely=False)


def test_another_activity_is_another_page_though_its_button_is_alike() -> None:
    shown = checkout()
    other = Look(shown.seen.with_(activity=".OtherActivity"), shown.elements)
    assert not still_there(TAP, PAY, shown, other, closely=False)
    untold = Look(shown.seen.with_(activity=""), shown.elements)
    assert still_there(TAP, PAY, shown, untold, closely=False)


def test_a_phone_that_was_turned_is_another_place() -> None:
    shown = checkout()
    turned = Look(shown.seen.with_(size=(2400, 1080)), shown.elements)
    assert not still_there(TAP, PAY, shown, turned, closely=False)


def test_a_switch_that_has_been_switched_is_not_switched_again() -> None:
    off, turned_on = wifi(False), wifi(True)
    switch = next(each for each in off.shown if each.role == "switch")
    assert not still_there(TAP, switch, off, turned_on, closely=False)


def test_enter_goes_where_it_was_meant_to() -> None:
    written, other = conversation("hallo"), conversation("something else")
    assert still_there(Enter(), None, written, written, closely=True)
    assert not still_there(Enter(), None, written, other, closely=False)
    assert not still_there(Enter(), None, written, home(), closely=False)


def test_what_is_harmless_may_touch_what_tells_another_number() -> None:
    def rows(*texts: str) -> Look:
        return look(*(("button", text, (0, 400 + 200 * at, 1080, 600 + 200 * at)) for at, text in enumerate(texts)))

    was = rows("Clara 1 min", "Ben 5 min")
    clara, later = on(was, "Clara 1 min"), rows("Clara 2 min", "Ben 6 min")
    assert still_there(TAP, clara, was, later, closely=False, harmless=True)
    assert not still_there(TAP, clara, was, later, closely=False)
    assert not still_there(TAP, clara, was, rows("Zoe 1 min", "Clara 2 min"), closely=False, harmless=True)
    up = Swipe(start=(0.5, 0.2), end=(0.5, 0.1))
    assert still_there(up, clara, was, rows("Zoe 1 min", "Clara 2 min"), closely=False, harmless=True)


def test_home_is_home_from_everywhere() -> None:
    assert still_there(Home(), None, checkout(), wifi(True), closely=True)


def test_closely_anything_else_that_matters_counts_too() -> None:
    send = on(conversation("hallo"), "send_message")
    was = conversation("hallo")
    title = next(each for each in was.shown if each.role == "text")
    changed = tuple(replace(each, text="Ben") if each is title else each for each in was.shown)
    other = Look(was.seen.with_(state_id="another:one"), changed)
    assert still_there(TAP, send, was, other, closely=False)
    assert not still_there(TAP, send, was, other, closely=True)


def test_a_page_with_little_more_on_it_has_not_been_left() -> None:
    was = checkout()
    busy = look(*(was.elements or ()), ("progress", "Processing", (400, 1100, 680, 1300)), activity=was.seen.activity)
    assert unmoved(PAY, was, busy)
    assert not unmoved(PAY, was, confirmed())
    assert not unmoved(PAY, was, checkout("Pay £99.98"))
