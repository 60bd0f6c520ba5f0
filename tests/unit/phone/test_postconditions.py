from __future__ import annotations

from dataclasses import replace

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
    settings_list,
    stopwatch,
    wifi,
)
from test_consequential_targets import ACTIONS, ELEMENT

from gateway.phone.actions import (
    Back,
    Clear,
    DeviceAction,
    DoubleTap,
    Drag,
    Enter,
    Home,
    LongPress,
    OpenApp,
    Recent,
    Swipe,
    Tap,
    Type,
    Wait,
)
from gateway.phone.element import Element
from gateway.phone.judging.look import Look
from gateway.phone.judging.postcondition import judge
from gateway.phone.task.state import Result
from gateway.phone.text_input import INSTALL

TAP = Tap(coordinate=(0.5, 0.5))
DONE = {"ok": True, "how": "input tap 1 1", "output": ""}
DOWN = Swipe(start=(0.5, 0.7), end=(0.5, 0.2))


def of(action: DeviceAction, before: Look, after: Look, target: Element | None = None, **outcome: object) -> Result:
    return judge(action, target, before, after, {**DONE, **outcome}, screen_change=True)


def typed(read: str | None, matches: bool | None, note: str = "") -> dict[str, object]:
    return {"way": "input text", "read": read, "matches": matches, "note": note}


# touches


def test_a_tap_that_leads_to_another_screen_is_done() -> None:
    found = of(TAP, settings_list(), wifi(True), on(settings_list(), "Network"))
    assert found == Result(ok=True, how="input tap 1 1")


@pytest.mark.parametrize("action", [TAP, LongPress(coordinate=(0.5, 0.5)), DoubleTap(coordinate=(0.5, 0.5))])
def test_a_touch_after_which_nothing_is_different_was_dropped(action: DeviceAction) -> None:
    found = of(action, settings_list(), settings_list(), on(settings_list(), "Network"))
    assert (found.ok, found.cause) == (False, "dropped")
    assert 'button "Network"' in found.note


def test_a_quantity_that_changed_is_a_change() -> None:
    def counter(count: int) -> Look:
        return look(("text", f"{count}", (200, 400, 300, 500)), ("button", "Increase", (300, 400, 400, 500)))

    assert counter(1).seen.state_id == counter(2).seen.state_id
    assert of(TAP, counter(1), counter(2), on(counter(1), "Increase")).ok is True


@pytest.mark.parametrize("said", ["Wi-Fi", "Wi-Fi · On"])
def test_a_switch_has_to_flip(said: str) -> None:
    before = wifi(True, said=said)
    switch = on(before, "wifi_switch")
    assert of(TAP, before, wifi(False, said=said), switch).ok is True
    assert of(TAP, before, wifi(False, said="Wi-Fi · Off"), switch).ok is True
    assert of(TAP, before, wifi(True, said=said), switch).cause == "dropped"


def test_a_switch_that_has_not_flipped_is_told_though_something_else_changed() -> None:
    before = wifi(False)
    after = look(
        *before.shown,
        element("text", "Not available", (0, 1800, 1080, 1900)),
        package="com.android.settings",
        activity=".WifiSettings",
    )
    found = of(TAP, before, after, on(before, "wifi_switch"))
    assert found.ok is None and "still off" in found.note


def test_a_switch_whose_tap_asks_a_question_is_done() -> None:
    asked = question("Turn on Wi-Fi?", "Turn on", package="com.android.settings", activity=".WifiSettings")
    assert of(TAP, wifi(False), asked, on(wifi(False), "wifi_switch")).ok is True


def test_a_choice_that_was_made_before_is_told() -> None:
    found = of(TAP, checkout(), checkout(), on(checkout(), "payment_card"))
    assert found.ok is None and "was before" in found.note


def test_a_field_gets_the_focus() -> None:
    before, after = conversation(keyboard=False), conversation()
    assert of(TAP, before, after, on(before, "compose_message_text")).ok is True
    assert of(TAP, after, after, on(after, "compose_message_text")).ok is True  # it has it
    assert of(TAP, before, before, on(before, "compose_message_text")).cause == "dropped"


def test_what_is_disabled_says_so() -> None:
    before = conversation()
    found = of(TAP, before, before, on(before, "send_message"))
    assert (found.ok, found.cause) == (False, "disabled")


def test_the_keyboard_may_cover_what_was_tapped() -> None:
    before = editor("milk", keyboard=True)
    low = element("button", "Save", (0, 2000, 1080, 2200))
    assert of(TAP, before, before, low).cause == "covered"
    assert of(TAP, before, editor("milkj", keyboard=True), low).cause == "covered"
    assert of(TAP, before, before, on(before, "Delete")).cause == "dropped"
    assert of(TAP, editor("12", keyboard=True), editor("127", keyboard=True), replace(low, text="7")).ok is True


@pytest.mark.parametrize(("before", "after"), [("00:41.3", "00:43.9"), ("09:59", "10:00"), ("1:00:00", "0:59:58")])
def test_a_clock_that_goes_on_by_itself_is_no_proof(before: str, after: str) -> None:
    found = of(TAP, stopwatch(before, 100.0), stopwatch(after, 102.0), on(stopwatch("", 0), "Lap"))
    assert found.ok is None and "by itself" in found.note


def test_what_does_more_than_run_is_a_change() -> None:
    lap = on(stopwatch("", 0), "Lap")
    assert of(TAP, stopwatch("00:41", 100.0), stopwatch("00:00", 102.0), lap).ok is True
    assert of(TAP, stopwatch("06:45", 100.0), stopwatch("07:45", 102.0), lap).ok is True  # an alarm's hour
    assert of(TAP, stopwatch("00:41", 100.0), stopwatch("00:43", 102.0, label="Start"), lap).ok is True


def test_of_what_is_consequential_a_running_clock_is_looked_at_again() -> None:
    before, after = stopwatch("04:59", 100.0), stopwatch("04:57", 102.0)
    found = judge(TAP, None, before, after, DONE, screen_change=True, consequential="pay")
    assert (found.ok, found.cause) == (False, "unchanged")


def test_a_picture_that_changed_alone_tells_nothing_for_sure() -> None:
    found = of(
        TAP,
        settings_list(),
        look(*settings_list().shown, png="other", package="com.android.settings", activity=".Settings"),
    )
    assert found.ok is None and found.cause == "" and "picture" in found.note


def test_a_screen_that_hides_its_picture_tells_nothing_where_the_list_is_the_same() -> None:
    pad = look(("button", "1"), ("button", "2", (0, 600, 1080, 700)), secure=True)
    found = of(TAP, pad, pad, on(pad, "1"))
    assert (found.ok, found.cause) == (None, "secure")
    assert of(TAP, pad, look(("text", "Wrong PIN"), secure=True), on(pad, "1")).ok is True


def test_a_screen_that_cannot_be_read_is_judged_by_its_picture_and_its_app() -> None:
    unread = look(readable=False, png="1")
    assert of(TAP, unread, unread).cause == "dropped"
    assert of(TAP, unread, look(readable=False, png="2")).ok is None
    assert of(TAP, unread, look(readable=False, png="2", activity=".Other")).ok is True
    blind = Look(unread.seen.with_(png=None), None)
    assert (of(TAP, blind, blind).ok, of(TAP, blind, blind).cause) == (None, "unreadable")


@pytest.mark.parametrize(
    "said",
    ["Shop keeps stopping", "Shop isn’t responding", "Shop wurde beendet", "Shop ne répond pas", "Shop 屡次停止运行"],
)
def test_an_app_that_crashed_or_hangs_is_gone(said: str) -> None:
    found = of(TAP, checkout(), crashed(said), on(checkout(), "pay"))
    assert (found.ok, found.cause) == (False, "app_gone")
    assert of(TAP, crashed(said), home()).ok is True  # Close app
    assert of(Back(), crashed(said), crashed(said)).cause == "dropped"


def test_the_dialog_of_a_crash_is_known_in_any_language_by_its_buttons() -> None:
    dialog = crashed("Shop ha petado", ids=("aerr_close", "aerr_wait"))
    assert of(Type(text="a"), editor(), dialog, typed=typed("a", True)).cause == "app_gone"


def test_a_tap_that_ends_on_the_home_screen_lost_its_app() -> None:
    assert of(TAP, checkout(), home()).cause == "app_gone"
    assert of(TAP, home(), home(), on(home(), "Clock")).cause == "dropped"
    assert of(Back(), checkout(), home()).ok is True
    assert of(Home(), checkout(), home()).ok is True
    assert of(Swipe(start=(0.5, 0.99), end=(0.5, 0.5)), checkout(), home()).ok is True  # the system's own gesture


def test_a_dark_screen_tells_nothing() -> None:
    found = of(TAP, checkout(), look(readable=False, screen_on=False))
    assert (found.ok, found.cause) == (None, "screen_off")


# moving


def test_a_swipe_has_to_move_something() -> None:
    assert of(DOWN, settings_list(), settings_list(top=192)).ok is True
    found = of(DOWN, settings_list(), settings_list())
    assert (found.ok, found.cause) == (False, "scrolled_to_end")
    assert "at the bottom" in found.note
    assert "at the top" in of(Swipe(start=(0.5, 0.2), end=(0.5, 0.7)), settings_list(), settings_list()).note
    assert of(DOWN, wifi(True), wifi(True)).cause == "dropped"
    assert of(Drag(start=(0.5, 0.7), end=(0.5, 0.2)), settings_list(), settings_list()).cause == "dropped"


def test_a_short_press_in_its_place_is_a_tap() -> None:
    press = Swipe(start=(0.5, 0.5), end=(0.5, 0.5), duration=80)
    assert of(press, wifi(True), wifi(False), on(wifi(True), "wifi_switch")).ok is True
    assert of(press, settings_list(), settings_list()).cause == "dropped"


# typing


def test_what_stands_in_the_field_was_typed() -> None:
    assert of(Type(text="milk"), editor(), editor("milk"), typed=typed("milk", True)).ok is True
    assert of(Type(text="milk"), editor(), editor("milk"), typed=None).ok is True  # its answer was lost


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("5551234", "(555) 123-4"),
        ("4242424242424242", "4242 4242 4242 4242"),
        ("1000", "1,000.00"),
        ("hello", "Hello"),
        ("+49 (151) 55", "4915155"),
    ],
)
def test_what_an_app_shows_in_another_form_was_typed(text: str, read: str) -> None:
    found = of(Type(text=text), editor(), editor(read), typed=typed(read, False))
    assert found.ok is True and read.split()[0] in found.note


@pytest.mark.parametrize(
    ("read", "said"),
    [("", "Nothing was typed"), ("buy mi", 'took only "buy mi"'), ("but milk", 'says "but milk" instead')],
)
def test_what_does_not_stand_in_the_field_is_told(read: str, said: str) -> None:
    found = of(Type(text="buy milk"), editor(), editor(read), typed=typed(read, False))
    assert (found.ok, found.cause) == (False, "not_typed")
    assert said in found.note


def test_what_stood_there_before_is_no_proof() -> None:
    assert of(Type(text="milk"), editor("milk"), editor("milk"), typed=typed("milk", False)).cause == "not_typed"


def test_of_a_password_only_that_there_is_one_is_known() -> None:
    empty, filled = (editor(state=("focused", "password", *more)) for more in ((), ("filled",)))
    told = typed(None, None, "a password cannot be read: 4 characters stand in the field")
    assert of(Type(text="1234"), empty, filled, typed=told).ok is True
    assert of(Type(text="1234"), empty, empty, typed=told).cause == "not_typed"
    assert of(Clear(), filled, empty, typed=typed(None, None)).ok is True
    assert of(Clear(), filled, filled, typed=typed(None, None)).cause == "not_cleared"


def test_a_field_that_cannot_be_read_is_told() -> None:
    found = of(Type(text="1234"), look(readable=False), look(readable=False), typed=typed(None, None))
    assert found.ok is None and found.cause == ""
    hidden = look(readable=False, secure=True)
    assert of(Type(text="1234"), hidden, hidden, typed=typed(None, None)).cause == "secure"
    hint = of(Type(text="Note"), editor(), editor(), typed=typed("", None))
    assert hint.ok is None and "hint" in hint.note


def test_a_text_with_a_line_feed_may_have_been_sent() -> None:
    found = of(Type(text="hallo\n"), conversation(), conversation(sent=["hallo"]), typed=typed("", False))
    assert found.ok is True
    assert of(Type(text="hallo\n"), conversation(), conversation(), typed=typed("", False)).ok is False


def test_a_field_has_to_be_empty_when_it_was_cleared() -> None:
    assert of(Clear(), editor("milk"), editor(), typed=typed("", True)).ok is True
    found = of(Clear(), editor("milk"), editor("mi"), typed=typed("mi", False))
    assert (found.ok, found.cause) == (False, "not_cleared")


# keys and apps


def test_back_says_what_it_did() -> None:
    closed = of(Back(), conversation("hi"), conversation("hi", keyboard=False))
    assert closed.ok is True
    moved = of(Back(), editor("milk", lift=654), editor("milk"))
    assert moved.ok is True and "closed the keyboard" in moved.note
    assert "home screen" in of(Back(), settings_list(), home()).note
    assert of(Back(), wifi(True), settings_list()) == Result(ok=True, how="input tap 1 1")
    assert of(Back(), wifi(True), wifi(True)).cause == "dropped"


def test_keys_have_to_change_something() -> None:
    assert of(Home(), home(), home()).ok is True
    assert of(Home(), wifi(True), wifi(True)).cause == "dropped"
    assert of(Recent(), wifi(True), home()).ok is True
    assert of(Recent(), wifi(True), wifi(True)).cause == "dropped"
    assert of(Enter(), editor("a"), editor("a")).cause == "dropped"
    assert of(Enter(), conversation("hi"), conversation(sent=["hi"])).ok is True


def test_waiting_is_always_done() -> None:
    assert of(Wait(), checkout(), crashed()).ok is True
    assert of(Wait(), look(readable=False), look(readable=False)).ok is True


def test_an_app_that_was_opened_is_in_front() -> None:
    shop, started = OpenApp(app="Shop"), {"how": "started org.simphone.shop/.MainActivity"}
    assert of(shop, home(), checkout(), **started).ok is True
    assert of(shop, checkout(), checkout(), **started).ok is True  # it was there
    assert of(shop, home(), home(), **started).cause == "wrong_app"
    assert of(shop, home(), wifi(True), **started).cause == "wrong_app"
    assert of(shop, home(), wifi(True), how="").ok is True  # its answer was lost: another app came
    assert of(OpenApp(app="org.simphone.shop"), home(), home(), how="").cause == "wrong_app"
    assert of(shop, home(), crashed(), **started).cause == "app_gone"
    asked = look(("button", "Allow"), package="com.android.permissioncontroller")
    assert of(shop, home(), asked, **started).ok is None


# refusals


@pytest.mark.parametrize(
    ("error", "hint", "cause"),
    [
        ("text_not_typed", INSTALL, "no_input_method"),
        ("text_not_typed", "tap the field first", "not_typed"),
        ("app_not_found", "", "no_such_app"),
        ("device_denied", "", "denied"),
        ("action_failed", "look again, or give a coordinate", "failed"),
        ("something", "", "failed"),
    ],
)
def test_what_the_phone_refused_was_not_done(error: str, hint: str, cause: str) -> None:
    refused = {"ok": False, "error": error, "message": "no field has the focus", "hint": hint}
    found = judge(Type(text="ü"), None, editor(), editor(), refused, screen_change=True)
    assert (found.ok, found.cause) == (False, cause)
    assert cause == "no_input_method" or ("no field has the focus" in found.note and hint in found.note)
    assert "no field has the focus" in found.output


def test_without_validation_an_unchanged_screen_counts_for_nothing() -> None:
    found = judge(TAP, None, settings_list(), settings_list(), DONE, screen_change=False)
    assert found == Result(ok=None, how="input tap 1 1")
    wrong = judge(Type(text="milk"), None, editor(), editor(), {**DONE, "typed": typed("", False)}, screen_change=False)
    assert wrong.cause == "not_typed"
    assert judge(TAP, None, checkout(), crashed(), DONE, screen_change=False).cause == "app_gone"


# whatever there is

SCREENS = [checkout(), confirmed(), conversation("hi"), editor(), home(), settings_list(), wifi(True), crashed()]
LOOKS = st.one_of(
    st.sampled_from(SCREENS),
    st.builds(
        lambda shown, activity, readable, secure, keyboard: look(
            *shown, activity=activity, readable=readable, secure=secure, keyboard=keyboard
        ),
        st.lists(ELEMENT, max_size=5),
        st.sampled_from(["", ".MainActivity"]),
        st.booleans(),
        st.booleans(),
        st.booleans(),
    ),
)
EVERYTHING = st.one_of(ACTIONS, st.sampled_from([Wait(), OpenApp(app="Shop"), Home(), Clear()]))
OUTCOMES = st.one_of(
    st.just({}),
    st.fixed_dictionaries(
        {"ok": st.sampled_from([True, None])},
        optional={
            "how": st.text(max_size=20),
            "typed": st.none()
            | st.builds(typed, st.none() | st.text(max_size=9), st.sampled_from([True, False, None])),
        },
    ),
    st.fixed_dictionaries(
        {"ok": st.just(False), "error": st.text(max_size=9), "message": st.text(), "hint": st.text()}
    ),
)


@given(EVERYTHING, st.none() | ELEMENT, LOOKS, LOOKS, OUTCOMES, st.booleans())
def test_there_is_always_a_result_and_a_short_note(
    action: DeviceAction, target: Element | None, before: Look, after: Look, outcome: dict[str, object], validate: bool
) -> None:
    found = judge(action, target, before, after, outcome, screen_change=validate)
    assert len(found.note.split()) <= 25
    assert not (found.ok is True and found.cause)
    assert found.ok is not False or (found.cause and found.note)


@given(st.sampled_from([TAP, LongPress(coordinate=(0.5, 0.5)), DOWN]), st.none() | ELEMENT, LOOKS, st.text(max_size=5))
def test_a_touch_is_never_done_where_the_looks_are_equal(
    action: DeviceAction, target: Element | None, screen: Look, png: str
) -> None:
    after = Look(screen.seen.with_(png=png), screen.elements)
    has_focus = target is not None and target.role == "field"
    assert has_focus or of(action, screen, after, target).ok is not True


@given(LOOKS, st.sampled_from(SCREENS))
def test_what_was_refused_is_never_done(before: Look, after: Look) -> None:
    for action in (TAP, Back(), Type(text="a"), Wait()):
        assert judge(action, None, before, after, {"ok": False, "error": "x"}, screen_change=True).ok is False
