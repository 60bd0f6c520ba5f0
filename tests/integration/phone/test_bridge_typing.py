"""Text of any script stands in the field, and the bridge says what it read there."""

from __future__ import annotations

import pytest
from phone_lab import LAB, OwnAdb, until

from gateway.errors import DeviceLost, TextNotTyped
from gateway.phone import devices
from gateway.phone.actions import Clear, Numbered, Tap, Type
from gateway.phone.bridge import Bridge
from gateway.phone.deadline import Deadline
from gateway.phone.link import Link
from gateway.phone.text_input import ADB_KEYBOARD, CLIPPER
from simphone.background import PhoneThread
from simphone.faults import Fault
from simphone.phone import PhoneOptions

HARD = 'it\'s 100%s "of" $HOME & `id` \\n; <b>#1</b> ~/* ?![x]{y}|z'


def focus(bridge: Bridge, hint: str) -> None:
    seen = bridge.observe(screenshot=False)
    field = next(each for each in seen.elements or () if each.hint == hint)
    bridge.perform(Tap(coordinate=Numbered(element=field.number)), seen)


def value(phone: PhoneThread, field: str) -> str:
    return str(phone.app_state(LAB)["values"].get(field, ""))


def chosen(phone: PhoneThread) -> str:
    async def ask(it: object) -> str:
        return str(it.system.input_methods.chosen)  # type: ignore[attr-defined]

    return phone.call(ask)


@pytest.mark.parametrize("text", ["Hello", "two words", HARD, "a" * 450, "%s%s", "-n"])
def test_ascii_is_typed_by_keys(lab: Bridge, phone: PhoneThread, text: str) -> None:
    focus(lab, "Name")
    typed = lab.perform(Type(text=text)).typed
    assert typed is not None
    assert (typed.way, typed.read, typed.matches) == ("input text", text, True)
    assert until(lambda: value(phone, "name") == text)


@pytest.mark.parametrize("text", ["Grüße", "苍鹭在河边", "مرحبا بالعالم", "👩‍🔬 E=mc²", "a😀" * 400])
def test_any_script_is_typed_by_an_input_method(lab: Bridge, phone: PhoneThread, text: str) -> None:
    focus(lab, "Story")
    before = chosen(phone)
    typed = lab.perform(Type(text=text)).typed
    assert typed is not None
    assert (typed.way, typed.matches) == ("input method", True)
    assert until(lambda: value(phone, "story") == text)
    assert chosen(phone) == before != ADB_KEYBOARD


def test_lines_are_typed_as_lines(lab: Bridge, phone: PhoneThread) -> None:
    focus(lab, "Story")
    assert lab.perform(Type(text="one\ntwo")).typed.matches  # type: ignore[union-attr]
    assert until(lambda: value(phone, "story") == "one\ntwo")


def test_text_is_added_to_what_stands_there_and_cleared(lab: Bridge, phone: PhoneThread) -> None:
    focus(lab, "Name")
    lab.perform(Type(text="Ada"))
    assert lab.perform(Type(text=" Lovelace")).typed.read == "Ada Lovelace"  # type: ignore[union-attr]
    cleared = lab.perform(Clear()).typed
    assert cleared is not None and cleared.read == "" and cleared.matches
    assert until(lambda: value(phone, "name") == "")


def test_a_password_is_typed_and_not_read(lab: Bridge, phone: PhoneThread) -> None:
    focus(lab, "Secret")
    typed = lab.perform(Type(text="hunter2")).typed
    assert typed is not None
    assert typed.read is None and typed.matches is None and "password" in typed.note
    assert until(lambda: value(phone, "secret") == "hunter2")


def test_without_a_focused_field_nothing_is_typed(lab: Bridge, phone: PhoneThread) -> None:
    with pytest.raises(TextNotTyped, match="focus") as caught:
        lab.perform(Type(text="Hello"))
    assert caught.value.hint == "tap the field first"
    assert not phone.app_state(LAB)["values"]


def test_the_former_input_method_is_put_back_after_an_error(lab: Bridge, phone: PhoneThread) -> None:
    focus(lab, "Story")
    before = chosen(phone)
    phone.faults.add(Fault("answer_lost", at="am broadcast*"))
    with pytest.raises(DeviceLost) as caught:
        lab.perform(Type(text="苍鹭"))
    assert caught.value.performed is None
    lab.reconnect()
    assert lab.perform(Clear()).typed is not None
    assert chosen(phone) == before


def test_the_clipboard_is_used_where_there_is_no_input_method(
    tmp_path_factory: pytest.TempPathFactory, adb: OwnAdb
) -> None:
    from phone_lab import LAB_APP

    options = PhoneOptions(
        folder=tmp_path_factory.mktemp("plain"), adb_keyboard=False, clipper=True, apps=(str(LAB_APP),)
    )
    with PhoneThread(options) as plain:
        devices.connect(adb.server, plain.serial, Deadline(30))
        with Bridge(Link(adb.server, plain.serial)) as bridge:
            bridge.start_app(LAB)
            focus(bridge, "Story")
            assert bridge.ways_to_type() == ["input text", "clipboard"]
            typed = bridge.perform(Type(text="苍鹭 it's")).typed
            assert typed is not None and (typed.way, typed.matches) == ("clipboard", True)
            assert until(lambda: value(plain, "story") == "苍鹭 it's")
            bridge._calls.act(f"pm uninstall {CLIPPER}", Deadline(10))
            with pytest.raises(TextNotTyped) as caught:
                bridge.perform(Type(text="苍鹭"))
            assert "ADBKeyBoard" in caught.value.hint
            assert "苍" in str(caught.value)
