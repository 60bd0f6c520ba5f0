"""Size and rotation, settings, properties, and who the shell is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from phone_bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "phone")


async def test_the_size_stays_and_the_rotation_shows(bench: Bench) -> None:
    assert (await bench.line("wm size")).out == "Physical size: 1080x2400\n"
    assert (await bench.line("wm density")).out == "Physical density: 480\n"
    await bench.line("settings put system user_rotation 1")
    assert bench.display.rotation == 0, "it turns with the phone, which is held upright"
    await bench.line("settings put system accelerometer_rotation 0")
    assert bench.display.rotation == 1
    assert (await bench.line("wm size")).out == "Physical size: 1080x2400\n"
    shown = (await bench.line("dumpsys display")).out
    assert "orientation=1," in shown and "deviceWidth=2400, deviceHeight=1080" in shown
    assert "SurfaceOrientation: 1" in (await bench.line("dumpsys input")).out
    await bench.line("wm user-rotation lock 0")
    assert bench.display.rotation == 0
    assert (await bench.line("wm user-rotation")).out == "lock 0\n"


async def test_a_set_size_is_that_of_pictures_bounds_and_touches(bench: Bench) -> None:
    assert (await bench.line("wm size 540x1200")).code == 0
    assert (await bench.line("wm size")).out == "Physical size: 1080x2400\nOverride size: 540x1200\n"
    await bench.line("input tap 270 600")
    assert bench.display.asked[-1] == ("tap", 540.0, 1200.0)
    assert 'bounds="[0,36][540,120]"' in (await bench.line("uiautomator dump /dev/tty")).out
    assert "cur=540x1200" in (await bench.line("dumpsys window displays")).out
    await bench.line("wm user-rotation lock 1")
    await bench.line("input swipe 1200 540 0 0")
    assert bench.display.asked[-1][1:5] == (2400.0, 1080.0, 0.0, 0.0)
    await bench.line("wm size reset")
    assert (await bench.line("wm size")).out == "Physical size: 1080x2400\n"
    for size in ("0x0", "wide", "99999x1"):
        assert (await bench.line(f"wm size {size}")).code == 255


async def test_a_picture_has_the_set_size(bench: Bench) -> None:
    pytest.importorskip("PIL")
    await bench.line("wm size 540x1200")
    picture = (await bench.line("screencap -p")).raw
    assert (int.from_bytes(picture[16:20], "big"), int.from_bytes(picture[20:24], "big")) == (540, 1200)


async def test_settings_are_read_written_and_deleted(bench: Bench) -> None:
    assert (await bench.line("settings get system nothing")).out == "null\n"
    await bench.line("settings put global heron grey")
    assert (await bench.line("settings get global heron")).out == "grey\n"
    assert "heron=grey" in (await bench.line("settings list global")).out.splitlines()
    assert (await bench.line("settings delete global heron")).out == "Deleted 1 rows\n"
    assert (await bench.line("settings delete global heron")).out == "Deleted 0 rows\n"
    assert "Invalid namespace" in (await bench.line("settings get nowhere a")).err


async def test_settings_survive_a_restart(bench: Bench) -> None:
    await bench.line("settings put system screen_brightness 7")
    again = Bench(bench.folder)
    assert (await again.line("settings get system screen_brightness")).out == "7\n"


async def test_svc_switches_what_the_status_bar_shows(bench: Bench) -> None:
    await bench.line("svc wifi disable")
    assert (await bench.line("settings get global wifi_on")).out == "0\n"
    name, status = bench.display.asked[-1]
    assert name == "status" and status.wifi is False
    assert (await bench.line("svc fridge on")).code == 1


async def test_dark_mode_is_a_setting_of_two_commands(bench: Bench) -> None:
    assert (await bench.line("cmd uimode night yes")).out == "Night mode: yes\n"
    assert bench.display.asked[-1] == ("theme", True)
    await bench.line("settings put secure ui_night_mode 1")
    assert bench.display.asked[-1] == ("theme", False)


async def test_properties_are_printed_in_brackets_or_alone(bench: Bench) -> None:
    assert (await bench.line("getprop ro.build.version.sdk")).out == "34\n"
    assert (await bench.line("getprop no.such")).out == "\n"
    lines = (await bench.line("getprop")).out.splitlines()
    assert "[ro.serialno]: [SIM0001]" in lines
    assert all(re.fullmatch(r"\[[^\]]+\]: \[.*\]", each) for each in lines)
    assert (await bench.line("setprop ro.serialno X")).code == 1


async def test_cmd_reaches_the_same_commands(bench: Bench) -> None:
    assert (await bench.line("cmd package list packages org.example")).out == "package:org.example.small\n"
    await bench.line("cmd activity start -n org.example.small/.MainActivity")
    assert bench.system.activities.front.component.package == "org.example.small"
    ran = await bench.line("cmd fridge open")
    assert (ran.code, ran.err) == (20, "cmd: Can't find service: fridge\n")


async def test_who_and_when_is_told(bench: Bench) -> None:
    assert (await bench.line("whoami")).out == "shell\n"
    assert (await bench.line("id")).out.startswith("uid=2000(shell) gid=2000(shell) groups=")
    assert re.fullmatch(r"\d{4}\n", (await bench.line("date +%Y")).out)
    assert (await bench.line("logcat -d")).out == ""


async def test_an_unknown_service_is_told_on_standard_error(bench: Bench) -> None:
    ran = await bench.line("dumpsys fridge")
    assert (ran.code, ran.out, ran.err) == (0, "", "Can't find service: fridge\n")
