"""Faults that act on commands."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from phone_bench import XML, Bench

from simphone.screen.picture import black


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "phone")


PNG = black(1080, 2400)


async def test_a_screenshot_is_a_png_on_standard_output_or_in_a_file(bench: Bench) -> None:
    assert (await bench.line("screencap -p")).raw == PNG
    assert (await bench.line("screencap -d 4619827677550801152 -p")).raw == PNG
    assert (await bench.line("screencap /sdcard/a.png")).raw == b""
    assert bench.files.host("/sdcard/a.png").read_bytes() == PNG
    assert (await bench.line("screencap -d 7 -p")).code == 1
    assert (await bench.line("screencap -p /system/a.png")).code == 1


def test_the_black_picture_can_be_read() -> None:
    image = pytest.importorskip("PIL.Image").open(io.BytesIO(black(3, 2)))
    assert image.size == (3, 2) and image.getcolors() == [(6, (0, 0, 0))]


async def test_without_p_there_are_pixels_behind_a_header(bench: Bench) -> None:
    pytest.importorskip("PIL")
    raw = (await bench.line("screencap")).raw
    assert raw[:16] == bytes.fromhex("38040000 60090000 01000000 00000000")
    assert len(raw) == 16 + 1080 * 2400 * 4


@pytest.mark.parametrize(
    ("fault", "left"),
    [
        ("screenshot_empty", b""),
        ("screenshot_cut", PNG[: len(PNG) // 2]),
        ("screenshot_cut:bytes=7", PNG[:7]),
        ("screenshot_crlf", PNG.replace(b"\n", b"\r\n")),
        ("screenshot_warning:text=[Warning] heron", b"[Warning] heron\n" + PNG),
    ],
)
async def test_a_screenshot_is_spoilt_once(bench: Bench, fault: str, left: bytes) -> None:
    bench.fault(fault)
    assert (await bench.line("screencap -p")).raw == left
    assert (await bench.line("screencap -p")).raw == PNG


async def test_a_secure_window_is_black(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    async def picture() -> bytes:
        return b"what is on the screen"

    monkeypatch.setattr(bench.display, "screenshot", picture, raising=False)
    await bench.line("am start -n org.example.small/.PinActivity")
    assert (await bench.line("screencap -p")).raw == PNG
    await bench.line("input keyevent HOME")
    assert (await bench.line("screencap -p")).raw == b"what is on the screen"


async def test_a_dump_goes_to_a_file_or_the_terminal(bench: Bench) -> None:
    ran = await bench.line("uiautomator dump")
    assert (ran.code, ran.out) == (0, "UI hierchary dumped to: /sdcard/window_dump.xml\n")
    assert bench.files.host("/sdcard/window_dump.xml").read_text(encoding="utf-8") == XML
    told = await bench.line("uiautomator dump --compressed /sdcard/b.xml")
    assert told.out == "UI hierchary dumped to: /sdcard/b.xml\n"
    assert (await bench.line("uiautomator dump /dev/tty")).out == f"{XML}UI hierchary dumped to: /dev/tty\n"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("dump_fails", "ERROR: could not get idle state.\n"),
        ("animation", "ERROR: could not get idle state.\n"),
        ("dump_null_root", "ERROR: null root node returned by UiTestAutomationBridge.\n"),
    ],
)
async def test_a_dump_fails_on_standard_output_and_the_old_file_stays(bench: Bench, fault: str, said: str) -> None:
    file = bench.files.host("/sdcard/window_dump.xml")
    file.write_text("old")
    bench.fault(fault)
    ran = await bench.line("uiautomator dump")
    assert (ran.code, ran.out, ran.err) == (0, said, "")
    assert file.read_text() == "old"


async def test_with_the_screen_off_there_is_nothing_to_dump(bench: Bench) -> None:
    await bench.line("input keyevent SLEEP")
    assert (await bench.line("uiautomator dump")).out.startswith("ERROR: null root node")
    assert not bench.files.host("/sdcard/window_dump.xml").exists()


async def test_a_dump_may_be_empty_invalid_or_huge(bench: Bench) -> None:
    file = bench.files.host("/sdcard/window_dump.xml")
    for fault in ("dump_empty", "dump_invalid", "dump_huge:bytes=1234"):
        bench.fault(fault)
    await bench.line("uiautomator dump")
    assert file.read_text() == ""
    await bench.line("uiautomator dump")
    assert not file.read_text().endswith("</hierarchy>")
    await bench.line("uiautomator dump")
    assert file.read_text().count("<node ") == 1 + 1234 and file.read_text().endswith("</hierarchy>")


async def test_without_room_a_dump_is_not_written(bench: Bench) -> None:
    bench.fault("storage_full")
    assert (await bench.line("uiautomator dump")).out.startswith("ERROR: could not write /sdcard/window_dump.xml")


async def test_a_dropped_tap_says_nothing(bench: Bench) -> None:
    bench.fault("tap_dropped:at=input tap*")
    assert (await bench.line("input tap 1 2")).code == 0
    assert not bench.display.asked
    await bench.line("input tap 1 2")
    assert bench.display.names() == ["tap"]
    assert bench.faults.acted == ["tap_dropped input tap 1 2"]


async def test_a_vendor_denies_input(bench: Bench) -> None:
    bench.fault("input_denied:times=0")
    ran = await bench.line("input swipe 1 2 3 4")
    assert ran.code == 255 and "INJECT_EVENTS permission" in ran.err and not bench.display.asked


async def test_an_app_crashes_and_is_asked_about(bench: Bench) -> None:
    await bench.line("monkey -p org.example.small 1")
    bench.fault("app_crash:at=input tap*")
    await bench.line("input tap 1 2")
    assert (await bench.line("pidof org.example.small")).code == 1
    assert bench.display.asked[-1] == ("dialog", "Small has stopped", "", ("Open app again", "Close app"))
    focus = "mCurrentFocus=Window{d1a1061 u0 Application Error: org.example.small}"
    assert focus in (await bench.line("dumpsys window")).out
    await bench.system.dialog_choice("Small has stopped", "Open app again")
    assert "org.example.small/org.example.small.MainActivity}" in (await bench.line("dumpsys window displays")).out


async def test_an_app_hangs_until_it_is_closed(bench: Bench) -> None:
    await bench.line("monkey -p org.example.small 1")
    bench.fault("app_anr:at=input*")
    await bench.line("input tap 1 2")
    assert bench.display.asked[-1][:2] == ("dialog", "Small isn't responding")
    await bench.system.dialog_choice("Small isn't responding", "Wait")
    assert (await bench.line("pidof org.example.small")).code == 0
    bench.fault("app_anr:at=input*")
    await bench.line("input tap 1 2")
    await bench.system.dialog_choice("Small isn't responding", "Close app")
    assert (await bench.line("pidof org.example.small")).code == 1


async def test_a_dialog_comes_and_the_screen_goes_off(bench: Bench) -> None:
    bench.fault("popup:at=input tap*,text=Update available")
    await bench.line("input tap 1 2")
    assert bench.display.names() == ["dialog", "tap"] and "Update available" in bench.display.asked[0]
    bench.fault("screen_off:at=input tap*")
    await bench.line("input tap 1 2")
    assert not bench.display.on
    assert "mWakefulness=Asleep" in (await bench.line("dumpsys power")).out


async def test_a_reset_takes_everything_back(bench: Bench) -> None:
    await bench.line("monkey -p org.example.small 1")
    await bench.line("settings put system accelerometer_rotation 0")
    await bench.line("settings put system user_rotation 3")
    bench.store.save("org.example.small", {"count": 9})
    bench.fault("dump_fails:times=0")
    await bench.system.reset()
    assert bench.system.activities.front.component.package == "com.android.launcher3"
    assert bench.store.load("org.example.small") == {"count": 0}
    assert bench.display.rotation == 0 and not bench.faults.active()
    assert (await bench.line("settings get system accelerometer_rotation")).out == "1\n"
