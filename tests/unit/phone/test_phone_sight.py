"""Observations of screens that tell little, and of phones that are turned or that hang meanwhile."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from itertools import chain, repeat

import pytest
from fake_adb import FakeAdb, Stream, prints
from pictures import png
from screens import node
from screens import screen as dump

from gateway.errors import DeviceError
from gateway.phone.adb import AdbServer
from gateway.phone.bridge import Bridge
from gateway.phone.deadline import Deadline
from gateway.phone.element import Bounds, Element
from gateway.phone.hierarchy import Hierarchy
from gateway.phone.link import Link

SHELL = "shell,v2,raw:"
DUMP, PICTURE, WINDOWS = f"{SHELL}rm -f", f"{SHELL}screencap -p", f"{SHELL}dumpsys window displays"
RESTLESS = prints(b"ERROR: could not get idle state.\n")
LINE = Element(1, "text", "Level 3", Bounds(10, 20, 90, 40), clickable=None)


def windows(width: int, height: int, turned: int) -> bytes:
    return (
        f"  init=100x200 160dpi cur={width}x{height}\n  mCurrentRotation=ROTATION_{turned}\n"
        "  mCurrentFocus=Window{1a2b u0 org.example/org.example.Main}\n"
    ).encode()


def listed(child: str = "", *, rotation: int = 0) -> bytes:
    return dump(node("FrameLayout", "[0,0][100,200]", child), rotation=rotation).encode()


BUTTON = node("Button", "[10,20][50,60]", text="Go", clickable=True)


@pytest.fixture
def phone() -> Iterator[FakeAdb]:
    answers = {
        "host-serial:S1:features": "shell_v2",
        PICTURE: prints(png(100, 200)),
        DUMP: prints(listed(BUTTON)),
        WINDOWS: prints(windows(100, 200, 0)),
    }
    serving = FakeAdb(answers)
    yield serving
    serving.close()


@pytest.fixture
def bridge(phone: FakeAdb) -> Iterator[Bridge]:
    with Bridge(Link(AdbServer(phone.address), "S1"), retry_delay=0.01) as opened:
        yield opened


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The pictures that were read: each says the same."""
    pictures: list[bytes] = []

    def elements(picture: bytes) -> tuple[Element, ...]:
        pictures.append(picture)
        return (LINE,)

    monkeypatch.setattr("gateway.phone.ocr.elements", elements)
    return pictures


def test_without_a_hierarchy_the_picture_is_read(phone: FakeAdb, bridge: Bridge, read: list[bytes]) -> None:
    phone.answers[DUMP] = RESTLESS
    seen = bridge.observe()
    assert (seen.elements, seen.from_picture, read) == ((LINE,), True, [png(100, 200)])
    assert seen.state_id is not None
    assert "rest" in seen.unreadable


def test_a_screen_that_tells_nothing_of_its_content_is_read(phone: FakeAdb, bridge: Bridge, read: list[bytes]) -> None:
    page = node("android.webkit.WebView", "[0,60][100,200]")
    phone.answers[DUMP] = prints(listed(BUTTON + page))
    seen = bridge.observe()
    assert seen.elements is not None
    assert {f"{each.role} {each.text}" for each in seen.elements} == {"button Go", "canvas ", "text Level 3"}
    assert seen.from_picture and not seen.unreadable


def test_a_picture_is_read_only_where_that_is_needed(phone: FakeAdb, bridge: Bridge, read: list[bytes]) -> None:
    assert not bridge.observe().from_picture
    phone.answers[DUMP] = RESTLESS
    assert bridge.observe(hierarchy=False).elements is None
    phone.answers[PICTURE] = prints(png(100, 200, 0))
    phone.answers[f"{SHELL}dumpsys window policy"] = prints()
    phone.answers[f"{SHELL}dumpsys power"] = prints(b"mWakefulness=Awake\n")
    assert bridge.observe().elements is None
    assert not read


def test_without_the_extra_it_is_said_how_to_get_it(
    phone: FakeAdb, bridge: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rapidocr_onnxruntime", None)
    phone.answers[DUMP] = RESTLESS
    seen = bridge.observe()
    assert (seen.elements, seen.from_picture) == (None, False)
    assert "rest" in seen.unreadable and "echelon-gateway[ocr]" in seen.unreadable


def test_a_picture_that_takes_long_to_read_is_not_waited_for(
    phone: FakeAdb, bridge: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    going_on = threading.Event()
    monkeypatch.setattr("gateway.phone.ocr.elements", lambda _: going_on.wait(60))
    phone.answers[DUMP] = prints(listed())
    try:
        seen = bridge.observe(deadline_s=1.0)
    finally:
        going_on.set()
    assert (seen.elements, seen.from_picture) == ((), False)
    assert "not done within" in seen.unreadable


def counted(phone: FakeAdb) -> tuple[int, int]:
    return sum(each == PICTURE for each in phone.asked), sum(each.startswith(DUMP) for each in phone.asked)


def test_a_phone_that_is_turned_meanwhile_is_looked_at_again(phone: FakeAdb, bridge: Bridge) -> None:
    lists = chain([listed(BUTTON, rotation=1)], repeat(listed(BUTTON)))
    phone.answers[DUMP] = lambda stream: prints(next(lists))(stream)
    pictures = chain([png(100, 200), png(200, 100)], repeat(png(100, 200)))
    phone.answers[PICTURE] = lambda stream: prints(next(pictures))(stream)
    seen = bridge.observe()
    assert (seen.rotation, seen.size) == (0, (100, 200))
    assert counted(phone) == (3, 3)


def test_a_phone_that_tells_of_positions_of_its_own_is_not_asked_again_for_ever(phone: FakeAdb, bridge: Bridge) -> None:
    phone.answers[DUMP] = prints(listed(BUTTON, rotation=1))
    assert bridge.observe().elements
    first = counted(phone)[1]
    assert bridge.observe().elements
    assert counted(phone)[1] == first + 1


@pytest.mark.parametrize("hangs", [PICTURE, WINDOWS])
def test_whoever_interrupts_an_observation_does_not_wait_for_a_phone_that_hangs(
    phone: FakeAdb, bridge: Bridge, hangs: str
) -> None:
    asked = threading.Event()

    def hang(stream: Stream) -> None:
        stream.okay()
        asked.set()
        stream.wait()

    def interrupted(deadline: Deadline) -> Hierarchy:
        asked.wait(10)
        raise KeyboardInterrupt

    phone.answers[hangs] = hang
    bridge._sight.hierarchy = interrupted  # type: ignore[method-assign]
    raised: list[BaseException] = []

    def look() -> None:
        try:
            bridge.observe(deadline_s=60)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    thread.join(20)
    assert [type(each) for each in raised] == [KeyboardInterrupt]


def test_a_read_ends_when_its_deadline_is_cancelled(phone: FakeAdb) -> None:
    asked = threading.Event()

    def hang(stream: Stream) -> None:
        stream.okay()
        asked.set()
        stream.wait()

    phone.answers[f"{SHELL}cat"] = hang
    outer = Deadline(60)

    def cancel() -> None:
        asked.wait(10)
        outer.cancel()

    threading.Thread(target=cancel, daemon=True).start()
    with pytest.raises(DeviceError):
        Link(AdbServer(phone.address), "S1").shell("cat x", outer.within(50))
    assert outer.passed
