"""What the bridge does reaches the app, where it was meant to."""

from __future__ import annotations

from typing import Any

import pytest
from phone_lab import LAB, until

from gateway.errors import ActionFailed, DeviceDenied, UsageError
from gateway.phone import actions
from gateway.phone.actions import DoubleTap, Drag, LongPress, Numbered, Swipe, Tap
from gateway.phone.bridge import Bridge
from gateway.phone.element import Element
from gateway.phone.observation import Observation
from simphone.background import PhoneThread
from simphone.faults import Fault

SCALE = 3  # pixels of the screen for each of a page


def events(phone: PhoneThread, kind: str) -> list[dict[str, Any]]:
    return [each for each in phone.app_state(LAB)["events"] if each["kind"] == kind]


def named(seen: Observation, text: str) -> Element:
    return next(each for each in seen.elements or () if text in (each.text, each.hint))


def on(seen: Observation, text: str) -> Numbered:
    return Numbered(element=named(seen, text).number)


def fraction(seen: Observation, text: str) -> tuple[float, float]:
    x, y = named(seen, text).bounds.centre
    return (x + 0.5) / seen.size[0], (y + 0.5) / seen.size[1]


def test_a_tap_on_an_element_reaches_it(lab: Bridge, phone: PhoneThread) -> None:
    seen = lab.observe()
    done = lab.perform(Tap(coordinate=on(seen, "Press")), seen)
    assert done.pixels == (named(seen, "Press").bounds.centre,)
    assert done.how == f"input tap {done.pixels[0][0]} {done.pixels[0][1]}"
    assert until(lambda: len(events(phone, "press")) == 1)


def test_a_tap_at_a_fraction_reaches_the_same_place(lab: Bridge, phone: PhoneThread) -> None:
    seen = lab.observe()
    assert lab.perform(Tap(coordinate=fraction(seen, "Press"))).pixels == (named(seen, "Press").bounds.centre,)
    assert until(lambda: len(events(phone, "press")) == 1)


def test_a_number_needs_the_observation_that_it_is_of(lab: Bridge) -> None:
    with pytest.raises(ActionFailed, match="no element 1"):
        lab.perform(Tap(coordinate=Numbered(element=1)))


def test_a_double_tap_is_one(lab: Bridge, phone: PhoneThread) -> None:
    seen = lab.observe()
    lab.perform(DoubleTap(coordinate=on(seen, "Area")), seen)
    assert until(lambda: len(events(phone, "double")) == 1)


def test_a_long_press_is_one(lab: Bridge, phone: PhoneThread) -> None:
    seen = lab.observe()
    lab.perform(LongPress(coordinate=on(seen, "Area")), seen)
    assert until(lambda: len(events(phone, "long")) == 1)
    assert not events(phone, "double")


@pytest.mark.parametrize("kind", [Swipe, Drag])
def test_a_swipe_goes_from_start_to_end(lab: Bridge, kind: type[Swipe] | type[Drag]) -> None:
    seen = lab.observe()
    bounds = named(seen, "Area").bounds
    start = (bounds.left + 60.5) / seen.size[0], (bounds.centre[1] + 0.5) / seen.size[1]
    end = (bounds.right - 60.5) / seen.size[0], start[1]
    done = lab.perform(kind(start=start, end=end), seen)
    assert done.pixels == ((bounds.left + 60, bounds.centre[1]), (bounds.right - 61, bounds.centre[1]))


def test_the_keys_lead_back_and_home(lab: Bridge) -> None:
    lab.start_app("Settings")
    lab.settle()
    assert lab.foreground().package == "com.android.settings"
    lab.perform(actions.Back())
    lab.settle()
    assert lab.foreground().package != "com.android.settings"
    lab.start_app(LAB)
    lab.perform(actions.Home())
    lab.settle()
    assert "launcher" in lab.foreground().package
    lab.perform(actions.Recent())
    lab.perform(actions.Enter())


def test_an_app_is_opened_by_its_name(bridge: Bridge) -> None:
    done = bridge.perform(actions.OpenApp(app="Notes"))
    assert "org.simphone.notes" in done.how
    bridge.settle()
    assert bridge.foreground().package == "org.simphone.notes"


def test_waiting_does_nothing(bridge: Bridge) -> None:
    assert bridge.perform(actions.Wait(seconds=0.01)).how == "waited 0.01 s"


@pytest.mark.parametrize(
    "action", [actions.AskUser(question="?"), actions.Answer(text="!"), actions.Finish(), actions.McpCall(tool="x")]
)
def test_what_is_not_the_phones_is_refused(bridge: Bridge, action: actions.AgentAction) -> None:
    with pytest.raises(UsageError):
        bridge.perform(action)


def test_a_phone_that_allows_no_input_says_so(lab: Bridge, phone: PhoneThread) -> None:
    phone.faults.add(Fault("input_denied", times=0))
    for action in (Tap(coordinate=(0.5, 0.5)), Swipe(start=(0, 0), end=(1, 1)), actions.Back(), actions.Type(text="x")):
        with pytest.raises(DeviceDenied) as caught:
            if isinstance(action, actions.Type):
                phone.call(lambda it: it.display.tap(300, 300))
            lab.perform(action)
        assert "developer options" in caught.value.hint
    with pytest.raises(DeviceDenied):
        lab.press_nothing()


def test_a_tap_that_was_dropped_can_be_seen(lab: Bridge, phone: PhoneThread) -> None:
    seen = lab.observe()
    phone.faults.add(Fault("tap_dropped"))
    lab.perform(Tap(coordinate=on(seen, "Press")), seen)
    lab.settle()
    assert not events(phone, "press")
    assert lab.observe().state_id == seen.state_id
