"""The bridge against a phone of a few canned answers: what it asks, and what becomes of each failure."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_adb import FakeAdb, Stream, prints
from pictures import png

from gateway.errors import (
    ActionFailed,
    DeviceError,
    DeviceLost,
    DeviceTimeout,
    HierarchyUnreadable,
    ScreenshotFailed,
    TextNotTyped,
    UsageError,
)
from gateway.phone import actions
from gateway.phone.actions import Numbered, Tap, Type
from gateway.phone.adb import AdbServer
from gateway.phone.bridge import Bridge
from gateway.phone.link import Link
from gateway.phone.text_input import ADB_KEYBOARD

FOCUS = (
    b"Display: mDisplayId=0\n  init=100x200 160dpi cur=100x200\n"
    b"  mCurrentFocus=Window{1a2b u0 org.example/org.example.Main}\n"
)
BUTTON = (
    '<node class="android.widget.Button" text="Go" clickable="true" enabled="true" package="org.example" '
    'bounds="[10,20][50,60]" />'
)
FIELD = (
    '<node class="android.widget.EditText" text="{}" hint="Name" clickable="true" enabled="true" focused="true" '
    'package="org.example" bounds="[10,80][90,120]" />'
)
SHELL = "shell,v2,raw:"
DUMP = f"{SHELL}rm -f"


def screen(*nodes: str) -> bytes:
    inside = "".join(nodes)
    root = f'<node class="android.widget.FrameLayout" package="org.example" bounds="[0,0][100,200]">{inside}</node>'
    return f"UI hierchary dumped to: /data/x.xml\n<hierarchy rotation='0'>{root}</hierarchy>".encode()


@pytest.fixture
def phone() -> Iterator[FakeAdb]:
    answers = {
        "host-serial:S1:features": "shell_v2",
        f"{SHELL}screencap -p": prints(png(100, 200)),
        DUMP: prints(screen(BUTTON)),
        f"{SHELL}dumpsys window displays": prints(FOCUS),
        f"{SHELL}dumpsys window policy": prints(b"showingAndNotOccluded=false\nsecure=false\n"),
        f"{SHELL}dumpsys power": prints(b"mWakefulness=Awake\n"),
        f"{SHELL}input": prints(),
    }
    serving = FakeAdb(answers)
    yield serving
    serving.close()


@pytest.fixture
def bridge(phone: FakeAdb) -> Iterator[Bridge]:
    with Bridge(Link(AdbServer(phone.address), "S1"), retry_delay=0.01) as opened:
        yield opened


def asked(phone: FakeAdb, what: str) -> list[str]:
    return [each.removeprefix(SHELL) for each in phone.asked if each.startswith(SHELL + what)]


def test_all_of_an_observation_is_asked_for_at_the_same_time(phone: FakeAdb, bridge: Bridge) -> None:
    together = threading.Barrier(3, timeout=60)
    for name in (f"{SHELL}screencap -p", DUMP, f"{SHELL}dumpsys window displays"):
        answer = phone.answers[name]

        def meeting(stream: Stream, answer: object = answer) -> None:
            together.wait()
            assert callable(answer)
            answer(stream)

        phone.answers[name] = meeting
    seen = bridge.observe()
    assert (seen.size, seen.package, seen.activity) == ((100, 200), "org.example", "org.example.Main")
    assert seen.elements and seen.elements[0].text == "Go"
    assert seen.png == png(100, 200)


def test_a_picture_is_black_for_one_of_two_reasons(phone: FakeAdb, bridge: Bridge) -> None:
    phone.answers[f"{SHELL}screencap -p"] = prints(png(100, 200, 0))
    assert (bridge.observe().secure, bridge.observe().screen_on) == (True, True)
    phone.answers[f"{SHELL}dumpsys power"] = prints(b"mWakefulness=Asleep\n")
    assert (bridge.observe().secure, bridge.observe().screen_on) == (False, False)


def test_without_a_list_there_is_the_picture(phone: FakeAdb, bridge: Bridge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidocr_onnxruntime", None)
    phone.answers[DUMP] = prints(b"ERROR: could not get idle state.\ncat: x: No such file or directory\n")
    seen = bridge.observe()
    assert seen.png and seen.elements is None and seen.state_id is None
    assert "rest" in seen.unreadable
    assert len(asked(phone, "rm -f")) == 3
    with pytest.raises(HierarchyUnreadable):
        bridge.observe(screenshot=False)


def test_without_a_picture_there_is_an_error(phone: FakeAdb, bridge: Bridge) -> None:
    phone.answers[f"{SHELL}screencap -p"] = prints(err=b"screencap: error", code=1)
    with pytest.raises(ScreenshotFailed):
        bridge.observe()
    assert bridge.observe(screenshot=False).elements


def test_a_lost_link_in_a_worker_is_the_observations_error(phone: FakeAdb, bridge: Bridge) -> None:
    phone.answers[f"{SHELL}dumpsys window displays"] = lambda stream: stream.okay()
    with pytest.raises(DeviceLost):
        bridge.observe()


@pytest.mark.parametrize(
    ("action", "line"),
    [
        (Tap(coordinate=(1.0, 1.0)), "input tap 99 199"),
        (Tap(coordinate=Numbered(element=1)), "input tap 30 40"),
        (actions.LongPress(coordinate=(0, 0)), "input swipe 0 0 0 0 1000"),
        (actions.DoubleTap(coordinate=(0.5, 0.5)), "input tap 50 100 && input tap 50 100"),
        (actions.Swipe(start=(0.5, 0.9), end=(0.5, 0.1), duration=250), "input swipe 50 180 50 20 250"),
        (actions.Drag(start=Numbered(element=1), end=(1, 1)), "input draganddrop 30 40 99 199 1000"),
        (actions.Back(), "input keyevent 4"),
        (actions.Home(), "input keyevent 3"),
        (actions.Recent(), "input keyevent 187"),
        (actions.Enter(), "input keyevent 66"),
    ],
)
def test_each_action_is_one_line_for_the_phone(
    phone: FakeAdb, bridge: Bridge, action: actions.DeviceAction, line: str
) -> None:
    done = bridge.perform(action, bridge.observe())
    assert asked(phone, "input") == [line]
    assert done.how == line


def test_a_phone_that_cannot_drag_swipes_slowly(phone: FakeAdb, bridge: Bridge) -> None:
    phone.answers[f"{SHELL}input draganddrop"] = prints(b"Error: Unknown command: draganddrop\n", code=1)
    assert bridge.perform(actions.Drag(start=(0, 0), end=(1, 1))).how == "input swipe 0 0 99 199 2000"


def test_a_drag_that_fails_is_not_followed_by_another(phone: FakeAdb, bridge: Bridge) -> None:
    phone.answers[f"{SHELL}input draganddrop"] = prints(b"Killed \n", code=137)
    with pytest.raises(ActionFailed) as caught:
        bridge.perform(actions.Drag(start=(0, 0), end=(1, 1)))
    assert caught.value.performed is None
    assert len(asked(phone, "input")) == 1


@pytest.mark.parametrize(
    ("action", "said", "performed"),
    [
        (actions.DoubleTap(coordinate=(0, 0)), b"Error: Unknown command: tap\n", None),
        (Tap(coordinate=(0, 0)), b"Error: Unknown command: tap\n", False),
        (Tap(coordinate=(0, 0)), b"", None),
        (
            Tap(coordinate=(0, 0)),
            b"java.lang.SecurityException: Injecting to another application requires INJECT_EVENTS\n",
            False,
        ),
    ],
)
def test_an_act_that_ended_badly_says_whether_it_may_have_happened(
    phone: FakeAdb, bridge: Bridge, action: actions.DeviceAction, said: bytes, performed: bool | None
) -> None:
    phone.answers[f"{SHELL}input tap"] = prints(said, code=1)
    with pytest.raises(DeviceError) as caught:
        bridge.perform(action)
    assert caught.value.performed is performed


def test_what_is_no_file_is_not_installed(phone: FakeAdb, bridge: Bridge, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing.apk"):
        with pytest.raises(UsageError, match="no file"):
            bridge.install(path)
    assert not phone.asked


def test_a_deadline_of_no_time_is_one(phone: FakeAdb, bridge: Bridge) -> None:
    with pytest.raises(DeviceTimeout):
        bridge.perform(actions.Back(), deadline_s=0)
    assert not asked(phone, "input")


def test_fractions_without_an_observation_are_of_the_screen_as_it_is(phone: FakeAdb, bridge: Bridge) -> None:
    assert bridge.perform(Tap(coordinate=(1, 0.5))).pixels == ((99, 100),)
    with pytest.raises(ActionFailed):
        bridge.perform(Tap(coordinate=Numbered(element=1)))


def test_a_phone_that_tells_its_size_nowhere_else_is_asked_for_it(phone: FakeAdb, bridge: Bridge) -> None:
    phone.answers[f"{SHELL}dumpsys window displays"] = prints(b"mCurrentRotation=ROTATION_90\n")
    phone.answers[f"{SHELL}wm size"] = prints(b"Physical size: 100x200\nOverride size: 50x100\n")
    phone.answers[f"{SHELL}wm density"] = prints(b"Physical density: 160\n")
    display = bridge.display()
    assert (display.size, display.rotation, display.density) == ((100, 50), 1, 160)
    assert bridge.perform(Tap(coordinate=(1, 1))).pixels == ((99, 49),)


def test_text_that_did_not_arrive_is_said(phone: FakeAdb, bridge: Bridge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.phone.text_input.READ_BACK_S", 0.3)
    phone.answers[DUMP] = prints(screen(FIELD.format("Name")))
    typed = bridge.perform(Type(text="Ada")).typed
    assert typed is not None
    assert (typed.way, typed.read, typed.matches) == ("input text", "", False)
    assert asked(phone, "input text") == ["input text Ada"]


def test_text_that_appears_a_moment_later_is_waited_for(phone: FakeAdb, bridge: Bridge) -> None:
    looks = iter([FIELD.format("Name"), FIELD.format("Name"), FIELD.format("Ada")])
    phone.answers[DUMP] = lambda stream: prints(screen(next(looks)))(stream)
    assert bridge.perform(Type(text="Ada")).typed.matches  # type: ignore[union-attr]


def test_without_a_focused_field_nothing_is_typed(phone: FakeAdb, bridge: Bridge) -> None:
    phone.answers[f"{SHELL}dumpsys input_method"] = prints(b"mInputShown=false\n")
    with pytest.raises(TextNotTyped, match="focus"):
        bridge.perform(Type(text="Ada"))
    assert not asked(phone, "input text")


def test_text_without_keys_needs_another_way(phone: FakeAdb, bridge: Bridge) -> None:
    phone.answers[DUMP] = prints(screen(FIELD.format("Name")))
    phone.answers[f"{SHELL}ime list"] = prints(b"com.example/.Latin\n")
    phone.answers[f"{SHELL}pm list"] = prints()
    with pytest.raises(TextNotTyped, match="鹭"):
        bridge.perform(Type(text="鹭"))
    assert not asked(phone, "input text")


def test_text_that_would_end_the_shells_line_is_refused(phone: FakeAdb, bridge: Bridge) -> None:
    with pytest.raises(TextNotTyped, match="NUL"):
        bridge.perform(Type(text="鹭\0'; reboot '"))
    assert not asked(phone, "")


def test_a_long_text_is_pasted_in_pieces_that_adb_takes(phone: FakeAdb, bridge: Bridge) -> None:
    phone.answers |= {
        DUMP: prints(screen(FIELD.format("Name"))),
        f"{SHELL}ime list": prints(),
        f"{SHELL}pm list": prints(b"package:ca.zgrs.clipper\n"),
        f"{SHELL}am startservice": prints(),
        f"{SHELL}am broadcast": prints(b"Broadcast completed: result=-1\n"),
    }
    text = "🦩" * 20_000
    bridge.perform(Type(text=text))
    pasted = [each.rpartition(" ")[2].strip("'") for each in asked(phone, "am broadcast")]
    assert "".join(pasted) == text
    assert len(asked(phone, "input keyevent 279")) == len(pasted)
    assert all(len(each.encode()) < 4096 for each in phone.asked)


class Keyboards:
    """Settings and input methods of a phone whose link is lost while it is typed on."""

    def __init__(self, phone: FakeAdb) -> None:
        self.chosen = "com.example/.Latin"
        phone.answers |= {
            DUMP: prints(screen(FIELD.format("Name"))),
            f"{SHELL}ime list": prints(f"com.example/.Latin\n{ADB_KEYBOARD}\n".encode()),
            f"{SHELL}pm list": prints(),
            f"{SHELL}settings get": lambda stream: prints(f"{self.chosen}\n".encode())(stream),
            f"{SHELL}dumpsys input_method": lambda stream: prints(f"mCurMethodId={self.chosen}\n".encode())(stream),
            f"{SHELL}ime enable": prints(b"Input method enabled\n"),
            f"{SHELL}ime set {ADB_KEYBOARD}": lambda stream: self.set(stream, ADB_KEYBOARD),
            f"{SHELL}ime set com.example": lambda stream: self.set(stream, "com.example/.Latin"),
            f"{SHELL}am broadcast": lambda stream: stream.okay(),
        }

    def set(self, stream: Stream, name: str) -> None:
        self.chosen = name
        prints(f"Input method {name} selected for user #0\n".encode())(stream)


def test_the_input_method_is_put_back_when_the_link_is_lost(phone: FakeAdb, bridge: Bridge) -> None:
    keyboards = Keyboards(phone)
    with pytest.raises(DeviceLost) as caught:
        bridge.perform(Type(text="鹭"))
    assert caught.value.performed is None
    assert len(asked(phone, "am broadcast")) == 1
    assert keyboards.chosen == "com.example/.Latin"


def test_the_input_method_is_put_back_as_soon_as_that_is_possible(phone: FakeAdb, bridge: Bridge) -> None:
    keyboards = Keyboards(phone)
    back = phone.answers[f"{SHELL}ime set com.example"]
    phone.answers[f"{SHELL}ime set com.example"] = lambda stream: stream.okay()
    with pytest.raises(DeviceLost):
        bridge.perform(Type(text="鹭"))
    assert keyboards.chosen == ADB_KEYBOARD
    phone.answers[f"{SHELL}ime set com.example"] = back
    bridge.close()
    assert keyboards.chosen == "com.example/.Latin"


def test_what_was_typed_is_typed_also_where_it_cannot_be_read_back(phone: FakeAdb, bridge: Bridge) -> None:
    looks = iter([prints(screen(FIELD.format("Name")))])
    phone.answers[DUMP] = lambda stream: next(looks, lambda other: other.okay())(stream)
    typed = bridge.perform(Type(text="Ada")).typed
    assert typed is not None
    assert (typed.read, typed.matches) == (None, None)
    assert "cannot be read" in typed.note


def test_what_was_not_typed_is_not_typed(phone: FakeAdb, bridge: Bridge) -> None:
    phone.answers[DUMP] = lambda stream: stream.okay()
    with pytest.raises(DeviceLost) as caught:
        bridge.perform(Type(text="Ada"))
    assert caught.value.performed is False


def test_of_a_long_text_some_of_which_was_typed_nobody_knows(phone: FakeAdb, bridge: Bridge) -> None:
    phone.answers[DUMP] = prints(screen(FIELD.format("Name")))
    typed = iter([prints()])
    phone.answers[f"{SHELL}input text"] = lambda stream: next(typed, prints(b"Killed \n"))(stream)
    with pytest.raises(ActionFailed) as caught:
        bridge.perform(Type(text="a" * 500))
    assert caught.value.performed is None
    assert len(asked(phone, "input text")) == 2
