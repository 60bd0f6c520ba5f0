"""Every way to lose the link, at every kind of call: the right result, or the right error before the deadline; and an
act is never done twice."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from phone_lab import LAB, LAB_APP, OwnAdb, until

from gateway.errors import DeviceError, DeviceLost, DeviceOffline, DeviceTimeout
from gateway.phone.actions import Back, Numbered, OpenApp, Tap, Type
from gateway.phone.bridge import Bridge
from gateway.phone.deadline import Deadline
from gateway.phone.devices import listed
from simphone.background import PhoneThread
from simphone.faults import Fault
from simphone.phone import Phone

READS: dict[str, tuple[str, Callable[[Bridge, float], object]]] = {
    "screenshot": ("*screencap*", lambda bridge, s: bridge.screenshot(s)),
    "hierarchy": ("*uiautomator*", lambda bridge, s: bridge.hierarchy(s)),
    "foreground": ("dumpsys window*", lambda bridge, s: bridge.foreground(s).package == LAB),
    "display": ("wm density", lambda bridge, s: bridge.display(s)),
    "apps": ("cmd package*", lambda bridge, s: bridge.apps(s)),
    "observe, picture": ("*screencap*", lambda bridge, s: bridge.observe(deadline_s=s).png),
    "observe, list": ("*uiautomator*", lambda bridge, s: bridge.observe(deadline_s=s).elements),
    "observe, app": ("dumpsys window*", lambda bridge, s: bridge.observe(deadline_s=s).package == LAB),
}
ACTS: dict[str, tuple[str, Callable[[Bridge, float], object]]] = {
    "tap": ("input tap*", lambda bridge, s: bridge.perform(Tap(coordinate=(0.5, 0.02)), deadline_s=s)),
    "key": ("input keyevent*", lambda bridge, s: bridge.perform(Back(), deadline_s=s)),
    "open app": ("am start*", lambda bridge, s: bridge.perform(OpenApp(app="Notes"), deadline_s=s)),
    "stop app": ("am force-stop*", lambda bridge, s: bridge.stop_app(LAB, s)),
}
LINK = ["link_drop", "link_down", "answer_lost"]
SOON_S, LONG_S = 2.0, 30.0


def fault(name: str, at: str, times: int = 1) -> Fault:
    return Fault(name, at=at, times=times, seconds=0.5, bytes=0 if "input" in at or "am " in at else 20)


@pytest.mark.parametrize("name", LINK)
@pytest.mark.parametrize("kind", READS)
def test_a_read_whose_link_is_lost_is_done_again(lab: Bridge, phone: PhoneThread, name: str, kind: str) -> None:
    at, read = READS[kind]
    phone.faults.add(fault(name, at))
    assert read(lab, LONG_S)
    assert phone.faults.acted


@pytest.mark.parametrize("kind", READS)
def test_a_read_that_is_not_answered_once_is_asked_again(lab: Bridge, phone: PhoneThread, kind: str) -> None:
    at, read = READS[kind]
    phone.faults.add(Fault("no_answer", at=at))
    assert read(lab, 3 * SOON_S)


@pytest.mark.parametrize("kind", READS)
def test_a_read_that_is_never_answered_ends_by_its_deadline(lab: Bridge, phone: PhoneThread, kind: str) -> None:
    at, read = READS[kind]
    phone.faults.add(Fault("no_answer", at=at, times=0))
    began = time.monotonic()
    with pytest.raises(DeviceTimeout):
        read(lab, SOON_S)
    assert time.monotonic() - began < SOON_S + 8


@pytest.mark.parametrize("kind", READS)
def test_a_link_that_always_breaks_is_lost(lab: Bridge, phone: PhoneThread, kind: str) -> None:
    at, read = READS[kind]
    phone.faults.add(fault("link_drop", at, times=0))
    with pytest.raises(DeviceError) as caught:
        read(lab, LONG_S)
    assert isinstance(caught.value, DeviceLost | DeviceOffline | DeviceTimeout)
    assert caught.value.hint


@pytest.mark.parametrize("name", LINK)
@pytest.mark.parametrize("kind", ACTS)
def test_an_act_whose_link_is_lost_may_have_happened(lab: Bridge, phone: PhoneThread, name: str, kind: str) -> None:
    at, act = ACTS[kind]
    phone.faults.add(fault(name, at))
    with pytest.raises(DeviceLost) as caught:
        act(lab, LONG_S)
    assert caught.value.performed is None
    lab.reconnect()
    assert lab.observe().png


@pytest.mark.parametrize("kind", ACTS)
def test_an_act_that_is_not_answered_may_have_happened(lab: Bridge, phone: PhoneThread, kind: str) -> None:
    at, act = ACTS[kind]
    phone.faults.add(Fault("no_answer", at=at))
    began = time.monotonic()
    with pytest.raises(DeviceTimeout) as caught:
        act(lab, SOON_S)
    assert caught.value.performed is None
    assert time.monotonic() - began < SOON_S + 8


@pytest.mark.parametrize("name", [*LINK, "no_answer"])
def test_a_press_is_never_repeated(lab: Bridge, phone: PhoneThread, name: str) -> None:
    seen = lab.observe()
    button = next(each for each in seen.elements or () if each.text == "Press")
    phone.faults.add(fault(name, "input tap*"))
    with pytest.raises((DeviceLost, DeviceTimeout)):
        lab.perform(Tap(coordinate=Numbered(element=button.number)), seen, SOON_S)
    lab.reconnect()
    lab.settle()
    presses = [each for each in phone.app_state(LAB)["events"] if each["kind"] == "press"]
    assert len(presses) <= 1
    if name in ("answer_lost", "no_answer"):
        assert len(presses) == 1


def test_a_phone_that_was_gone_before_an_act_is_brought_back_for_it(
    lab: Bridge, phone: PhoneThread, adb: OwnAdb
) -> None:
    seen = lab.observe()
    button = next(each for each in seen.elements or () if each.text == "Press")

    async def cut(it: Phone) -> None:
        it.daemon.take_down(2.0)

    phone.call(cut)
    # Before the server has noticed, it would take the act, and could not say what came of it.
    assert until(lambda: not any(each.usable for each in listed(adb.server, Deadline(LONG_S))))
    lab.perform(Tap(coordinate=Numbered(element=button.number)), seen)
    assert until(lambda: [each["kind"] for each in phone.app_state(LAB)["events"]].count("press") == 1)


@pytest.mark.parametrize("name", [*LINK, "no_answer"])
def test_typing_says_that_it_is_not_known_what_was_typed(lab: Bridge, phone: PhoneThread, name: str) -> None:
    seen = lab.observe()
    field = next(each for each in seen.elements or () if each.hint == "Name")
    lab.perform(Tap(coordinate=Numbered(element=field.number)), seen)
    phone.faults.add(fault(name, "input text*"))
    with pytest.raises((DeviceLost, DeviceTimeout)) as caught:
        lab.perform(Type(text="once"), deadline_s=3 * SOON_S)
    assert caught.value.performed is None
    lab.reconnect()
    assert phone.app_state(LAB)["values"].get("name", "") in ("", "once")


@pytest.mark.parametrize("at", ["sync:send*", "pm install*"])
@pytest.mark.parametrize("name", [*LINK, "no_answer"])
def test_an_installation_that_is_cut_is_said(
    lab: Bridge, phone: PhoneThread, tmp_path: Path, name: str, at: str
) -> None:
    file = tmp_path / "lab.simapk"
    with zipfile.ZipFile(file, "w") as archive:
        for each in LAB_APP.iterdir():
            archive.write(each, each.name)
    phone.faults.add(Fault(name, at=at, seconds=0.5))
    with pytest.raises((DeviceLost, DeviceTimeout)) as caught:
        lab.install(file, LAB, deadline_s=4.0)
    assert caught.value.performed is None
    lab.reconnect()


def test_a_phone_that_stays_away_is_given_up_and_comes_back_later(lab: Bridge, phone: PhoneThread) -> None:
    phone.faults.add(Fault("link_down", at="getprop*", seconds=4))
    assert not lab.healthy()
    with pytest.raises((DeviceLost, DeviceTimeout)) as caught:
        lab.reconnect(1.0)
    assert caught.value.performed is False
    lab.reconnect()
    assert lab.healthy()


@pytest.mark.parametrize("popup", ["popup", "app_crash", "app_anr"])
def test_what_comes_in_between_is_seen(lab: Bridge, phone: PhoneThread, popup: str) -> None:
    before = lab.observe(screenshot=False)
    phone.faults.add(Fault(popup, at="getprop*", text="Battery low" if popup == "popup" else ""))
    assert lab.healthy()
    lab.settle()
    after = lab.observe()
    assert after.state_id != before.state_id


def test_a_screen_that_goes_off_is_said(lab: Bridge, phone: PhoneThread) -> None:
    phone.faults.add(Fault("screen_off", at="screencap*"))
    seen = lab.observe()
    assert seen.screen_on is False and not seen.secure
    assert lab.wake().screen_on


def test_a_slow_screen_is_waited_for(lab: Bridge, phone: PhoneThread) -> None:
    phone.faults.add(Fault("slow_screen", seconds=0.7, times=2))
    assert lab.observe().elements
