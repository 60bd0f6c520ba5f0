from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from task_screens import SIZE, element, elements, look, settings_list, wifi
from test_consequential_targets import ACTIONS, ELEMENT

from gateway.phone.actions import Back, Drag, LongPress, Numbered, Swipe, Tap
from gateway.phone.element import Element
from gateway.phone.judging.another_way import another_way
from gateway.phone.judging.loops import action_of, key
from gateway.phone.judging.target import again, called, same, target_of
from gateway.phone.task.state import Seen

ROW = element("button", "Network", (0, 400, 1080, 600))
INNER = element("switch", "Mobile data", (876, 430, 1032, 570))
LIST = element("list", "", (0, 264, 1080, 2256))


def at(x: int, y: int) -> tuple[float, float]:
    return (x + 0.5) / SIZE[0], (y + 0.5) / SIZE[1]


def test_a_number_names_its_element() -> None:
    shown = elements(LIST, ROW, INNER)
    assert target_of(Tap(coordinate=Numbered(element=3)), shown, SIZE) is shown[2]
    assert target_of(Tap(coordinate=Numbered(element=4)), shown, SIZE) is None
    assert target_of(Tap(coordinate=Numbered(element=1)), None, SIZE) is None


def test_a_place_is_on_the_smallest_element_there() -> None:
    shown = (LIST, ROW, INNER)
    assert target_of(LongPress(coordinate=at(900, 500)), shown, SIZE) is INNER
    assert target_of(Tap(coordinate=at(100, 500)), shown, SIZE) is ROW
    assert target_of(Tap(coordinate=at(100, 599)), shown, SIZE) is ROW
    assert target_of(Tap(coordinate=at(100, 600)), shown, SIZE) is LIST
    assert target_of(Tap(coordinate=at(100, 100)), shown, SIZE) is None
    assert target_of(Drag(start=at(900, 500), end=at(1, 1)), shown, SIZE) is INNER


def test_a_place_beside_a_text_that_was_read_in_a_picture_is_on_its_button() -> None:
    pay = element("text", "Pay now", (400, 1000, 600, 1040), clickable=None)
    canvas = element("canvas", "", (0, 0, 1080, 2400))
    assert target_of(Tap(coordinate=at(360, 1060)), (canvas, pay), SIZE) is pay
    assert target_of(Tap(coordinate=at(360, 1200)), (canvas, pay), SIZE) is canvas


def test_what_touches_nothing_has_no_target() -> None:
    assert target_of(Back(), (ROW,), SIZE) is None


def test_it_is_called_as_people_call_it() -> None:
    assert called(ROW) == 'button "Network"'
    assert called(element("field", "", hint="Title")) == 'field "Title"'
    assert called(element("button", "", resource_id="send")) == 'button "send"'
    assert called(element("image", "")) == "image"
    assert called(None) == ""


def test_it_is_found_again_wherever_it_is_and_whatever_its_number() -> None:
    before, after = settings_list(), settings_list(top=192)
    row = before.shown[4]
    assert row.text == "Battery"
    found = same(row, after.shown)
    assert found is not None and found.text == "Battery" and found.bounds != row.bounds


def test_of_several_of_the_same_name_it_is_the_nearest() -> None:
    one, two = (element("button", "Remove", (0, top, 100, top + 100), resource_id="remove") for top in (100, 500))
    assert same(two, (one, two)) is two
    assert again(one, (one, two)) is one


def test_a_toggle_is_found_again_though_it_says_something_else() -> None:
    switch = wifi(True, said="Wi-Fi · On").shown[1]
    assert same(switch, wifi(False, said="Wi-Fi · Off").shown) is None
    found = again(switch, wifi(False, said="Wi-Fi · Off").shown)
    assert found is not None and found.text == "Wi-Fi · Off"


def test_what_is_gone_is_not_taken_for_what_else_there_is() -> None:
    pay = element("button", "Pay", (48, 2088, 1032, 2232))
    assert again(pay, (element("button", "Done", (48, 1000, 1032, 1144)),)) is None
    rows = settings_list(names=("A", "B"))
    assert again(element("button", "C", (0, 264, 1080, 456), package="com.android.settings"), rows.shown) is not None


def test_a_tap_is_pressed_for_a_moment_beside_the_middle() -> None:
    pressed = another_way(Tap(coordinate=Numbered(element=1)), ROW, SIZE)
    assert isinstance(pressed, Swipe) and pressed.start == pressed.end and pressed.duration < 200
    assert target_of(pressed, (LIST, ROW), SIZE) is ROW
    kept = another_way(Tap(coordinate=(0.25, 0.5)), None, SIZE)
    assert isinstance(kept, Swipe) and kept.start == kept.end == (0.25, 0.5)


def test_there_is_not_always_another_way() -> None:
    assert another_way(Back(), None, SIZE) is None
    slow = another_way(Swipe(start=(0.5, 0.8), end=(0.5, 0.2), duration=300), None, SIZE)
    assert isinstance(slow, Swipe) and slow.duration == 900 and slow.end == (0.5, 0.2)
    assert another_way(slow.model_copy(update={"duration": 1500}), None, SIZE) is None


@given(ACTIONS, st.none() | ELEMENT)
def test_another_way_is_an_action_that_starts_where_the_first_did(action: Tap, target: Element | None) -> None:
    other = another_way(action, target, SIZE)
    assert other is None or isinstance(other, Swipe)
    assert other != action


def seen(*names: str) -> Seen:
    return look(*(("button", name) for name in names)).seen


def test_the_same_choice_on_the_same_screen_has_the_same_key() -> None:
    tap = {"action": "tap", "coordinate": {"element": 3}}
    assert key(seen("A"), tap) == key(seen("A"), dict(reversed(tap.items())))
    assert key(seen("A"), tap) != key(seen("B"), tap)
    assert key(seen("A"), tap) != key(seen("A"), {"action": "tap", "coordinate": {"element": 4}})
    assert key(seen("Total 1"), tap) != key(seen("Total 2"), tap)  # who taps + gets on


def test_a_choice_that_is_off_by_a_pixel_or_slower_is_the_same() -> None:
    swipe = {"action": "swipe", "start": [0.5011, 0.8], "end": [0.5, 0.2], "duration": 300}
    assert key(seen("A"), swipe) == key(seen("A"), {**swipe, "start": [0.5, 0.8004], "duration": 500})
    assert key(seen("A"), swipe) != key(seen("A"), {**swipe, "start": [0.5, 0.6]})


def test_a_swipe_that_moves_the_picture_only_is_no_loop() -> None:
    before, after = (look(("field", "A long text"), png=name).seen for name in ("1", "2"))
    swipe = {"action": "swipe", "start": [0.5, 0.8], "end": [0.5, 0.2]}
    assert key(before, swipe) != key(after, swipe)
    assert action_of(key(before, swipe), before) == swipe and action_of(key(before, swipe), after) is None
    tap = {"action": "tap", "coordinate": {"element": 1}}
    assert key(before, tap) == key(after, tap)


ARGUMENTS = st.dictionaries(st.text(max_size=5), st.none() | st.integers() | st.text() | st.lists(st.integers()))


@given(ARGUMENTS, st.booleans())
def test_a_key_tells_its_action_on_its_screen_and_nothing_elsewhere(arguments: dict[str, object], here: bool) -> None:
    action = {**arguments, "action": "tap"}
    action.pop("duration", None)
    made = key(seen("A"), action)
    assert action_of(made, seen("A" if here else "B")) == (action if here else None)


@pytest.mark.parametrize("picture", [True, False])
def test_screens_that_cannot_be_read_are_told_by_their_pictures(picture: bool) -> None:
    one, two = (look(readable=False, png=name).seen for name in ("1", "2" if picture else "1"))
    tap = {"action": "tap", "coordinate": [0.5, 0.5]}
    assert (key(one, tap) != key(two, tap)) == picture
    assert action_of(key(one, tap), one) == tap
