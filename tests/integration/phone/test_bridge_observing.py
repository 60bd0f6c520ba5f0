"""What the bridge sees is what the phone shows."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import pytest
from phone_lab import LAB, OwnAdb, until

from gateway.errors import HierarchyUnreadable, ScreenshotFailed
from gateway.phone.actions import Numbered, Tap
from gateway.phone.bridge import Bridge
from gateway.phone.link import Link
from gateway.phone.screenshot import png_size
from simphone.background import PhoneThread
from simphone.faults import Fault


def test_an_observation_has_picture_elements_and_the_app_in_front(lab: Bridge) -> None:
    seen = lab.observe()
    assert seen.size == png_size(seen.png or b"") == (1080, 2400)
    assert (seen.package, seen.activity, seen.rotation) == (LAB, f"{LAB}.LabActivity", 0)
    assert seen.elements
    assert {"Press", "Show secret", "Area"} <= {each.text for each in seen.elements}
    assert [each.hint for each in seen.elements if each.editable] == ["Name", "Secret", "Story"]
    assert [each.number for each in seen.elements] == list(range(1, len(seen.elements) + 1))
    assert seen.element(1) is seen.elements[0]
    assert {"screenshot", "hierarchy", "foreground", "elements"} == set(seen.timings_ms)
    assert not seen.unreadable and not seen.secure


def test_the_same_screen_has_the_same_state(lab: Bridge) -> None:
    first, again = lab.observe(screenshot=False), lab.observe(screenshot=False)
    assert first.state_id == again.state_id
    lab.start_app("Settings")
    lab.settle()
    assert lab.observe(screenshot=False).state_id != first.state_id


def test_either_half_may_be_left_out(lab: Bridge) -> None:
    picture, tree = lab.observe(hierarchy=False), lab.observe(screenshot=False)
    assert picture.png and picture.elements is None and picture.state_id is None
    assert tree.elements and tree.png is None
    assert picture.size == tree.size


def test_a_screen_that_is_turned_has_its_own_size(lab: Bridge, phone: PhoneThread) -> None:
    phone.call(lambda it: it.display.rotate(1))
    try:
        seen, tree = lab.observe(), lab.observe(screenshot=False)
        assert (seen.size, seen.rotation) == (tree.size, tree.rotation) == ((2400, 1080), 1)
        display = lab.display()
        assert (display.size, display.rotation) == ((2400, 1080), 1)
    finally:
        phone.call(lambda it: it.display.rotate(0))


def test_display_and_foreground(lab: Bridge) -> None:
    display = lab.display()
    assert (display.size, display.density, display.rotation) == ((1080, 2400), 480, 0)
    front = lab.foreground()
    assert (front.package, front.activity) == (LAB, f"{LAB}.LabActivity")


def test_a_dark_phone_is_woken(lab: Bridge, phone: PhoneThread) -> None:
    phone.call(lambda it: it.display.power(False))
    seen = lab.observe()
    assert (seen.screen_on, seen.secure) == (False, False)
    assert lab.power().screen_on is False
    assert lab.wake().screen_on
    assert lab.observe().elements


def test_a_window_that_forbids_pictures_is_said(lab: Bridge) -> None:
    lab.start_app(LAB)
    seen = lab.observe()
    assert seen.elements
    button = next(each for each in seen.elements if each.text == "Show secret")
    from gateway.phone.actions import Numbered, Tap

    lab.perform(Tap(coordinate=Numbered(element=button.number)), seen)
    lab.settle()
    secret = lab.observe()
    assert secret.secure and secret.screen_on
    assert secret.activity.endswith("SecretActivity")


def test_a_black_picture_is_said(lab: Bridge, phone: PhoneThread) -> None:
    phone.faults.add(Fault("black_screenshot"))
    assert lab.observe().secure


def test_a_warning_before_the_picture_is_cut_off(lab: Bridge, phone: PhoneThread) -> None:
    phone.faults.add(Fault("screenshot_warning"))
    assert png_size(lab.screenshot()) == (1080, 2400)


def test_a_picture_that_was_translated_is_restored_or_taken_again(lab: Bridge, phone: PhoneThread) -> None:
    phone.faults.add(Fault("screenshot_crlf"))
    assert png_size(lab.screenshot()) == (1080, 2400)


@pytest.mark.parametrize("fault", ["screenshot_empty", "screenshot_cut"])
def test_a_picture_that_is_none_is_taken_again(lab: Bridge, phone: PhoneThread, fault: str) -> None:
    phone.faults.add(Fault(fault, times=2))
    assert png_size(lab.screenshot()) == (1080, 2400)
    phone.faults.add(Fault(fault, times=0))
    with pytest.raises(ScreenshotFailed) as caught:
        lab.screenshot()
    assert caught.value.hint
    with pytest.raises(ScreenshotFailed):
        lab.observe()


@pytest.mark.parametrize("fault", ["dump_fails", "dump_empty", "dump_null_root", "dump_invalid"])
def test_a_list_that_is_none_is_asked_for_again_and_missed_in_the_end(
    lab: Bridge, phone: PhoneThread, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rapidocr_onnxruntime", None)
    phone.faults.add(Fault(fault, times=2))
    assert lab.observe(screenshot=False).elements
    phone.faults.add(Fault(fault, times=0))
    with pytest.raises(HierarchyUnreadable):
        lab.observe(screenshot=False)
    seen = lab.observe()
    assert seen.png and seen.elements is None and seen.unreadable


@pytest.mark.skipif(find_spec("rapidocr_onnxruntime") is None, reason="the ocr extra is not installed")
def test_without_a_list_what_is_read_in_the_picture_can_be_tapped(lab: Bridge, phone: PhoneThread) -> None:
    phone.faults.add(Fault("dump_fails", times=0))
    seen = lab.observe()
    assert seen.from_picture and seen.unreadable and seen.elements
    press = next(each for each in seen.elements if each.text == "Press")
    lab.perform(Tap(coordinate=Numbered(element=press.number)), seen)
    assert until(lambda: any(each["kind"] == "press" for each in phone.app_state(LAB)["events"]))


def test_an_old_list_is_never_taken_for_the_new_one(lab: Bridge, phone: PhoneThread) -> None:
    assert lab.observe(screenshot=False).package == LAB
    lab.start_app("Settings")
    lab.settle()
    phone.faults.add(Fault("dump_fails", times=0))
    with pytest.raises(HierarchyUnreadable):
        lab.observe(screenshot=False)


def test_no_list_is_left_on_the_phone(lab: Bridge, phone: PhoneThread) -> None:
    before = phone.call(_files)  # a link that was cut may have left one
    lab.observe(screenshot=False)
    assert phone.call(_files) == before


async def _files(phone: object) -> list[str]:
    return sorted(each.name for each in phone.files.host("/data/local/tmp").iterdir())  # type: ignore[attr-defined]


def test_a_list_of_50_000_nodes_is_read(lab: Bridge, phone: PhoneThread) -> None:
    phone.faults.add(Fault("dump_huge", bytes=50_000))
    seen = lab.observe(screenshot=False)
    assert seen.elements and "Press" in {each.text for each in seen.elements}


def test_a_screen_that_rests_is_settled_at_once_and_an_animation_is_said(lab: Bridge, phone: PhoneThread) -> None:
    assert lab.settle().stable
    phone.faults.add(Fault("animation", times=0))
    try:
        moving = lab.settle(longest_s=1.5)
        assert not moving.stable and moving.looks >= 2
    finally:
        phone.faults.clear()
    assert lab.settle().stable


def test_an_old_shell_shows_the_same(lab: Bridge, adb: OwnAdb) -> None:
    with Bridge(Link(adb.server, lab.serial, shell_v2=False), retry_delay=0.05) as old:
        seen = old.observe()
        assert seen.size == (1080, 2400)
        assert seen.elements and "Press" in {each.text for each in seen.elements}
        assert seen.state_id == lab.observe(screenshot=False).state_id
