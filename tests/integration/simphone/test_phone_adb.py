"""The whole phone over real adb: launch, tap, type, back, home, recents, rotation, install."""

from __future__ import annotations

import base64
import re
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from adb_server import PROGRAMS, adb_server
from phone_adb import Adb

from simphone.background import PhoneThread
from simphone.system import app

NOTES, SHOP = "org.simphone.notes", "org.simphone.shop"
PATIENCE_S = 60.0
PAGE = """<!doctype html><meta charset="utf-8"><title>Small</title>
<link rel="stylesheet" href="/common/phone.css"><script src="/common/phone.js"></script>
<body><h1 id="title">{title}</h1><input id="field" placeholder="Name">
<button id="count" onclick="phone.state.count++; phone.save(); this.textContent = phone.state.count">0</button>
<button id="next" onclick="phone.start('.SecondActivity', {{name: 'heron'}})">Next</button>
<p id="extras"></p><script>document.getElementById("extras").textContent = JSON.stringify(phone.extras)</script>"""
MANIFEST = """{{"package": "org.example.small", "label": "Small",
"version_code": {version}, "version_name": "0.{version}",
"launcher": ".MainActivity", "activities": {{".MainActivity": "index.html", ".SecondActivity": "second.html"}},
"state": {{"count": 0}}, "signature": "{signature}"}}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Adb]:
    with adb_server(PROGRAMS["adb of the system"], tmp_path_factory.mktemp("adb")) as started:
        yield Adb(started)


@pytest.fixture
def adb(server: Adb, phone: PhoneThread) -> Adb:
    """Connected; the phone is as new."""
    phone.reset()
    server.connect(phone.serial)
    return server


@pytest.fixture
def small(adb: Adb, tmp_path: Path) -> Iterator[str]:
    """An app that is installed for the test."""
    assert b"Success" in adb("install", str(package(tmp_path, 3))).stdout
    yield "org.example.small"
    adb("uninstall", "org.example.small")


def package(folder: Path, version: int, signature: str = "example") -> Path:
    place = folder / f"small-{version}-{signature}"
    place.mkdir()
    (place / "manifest.json").write_text(MANIFEST.format(version=version, signature=signature))
    (place / "index.html").write_text(PAGE.format(title=f"Version {version}"))
    (place / "second.html").write_text(PAGE.format(title="Second"))
    app.pack(place, place.with_suffix(".apk"))  # adb installs no other name
    return place.with_suffix(".apk")


def nodes(adb: Adb) -> list[ElementTree.Element]:
    said = adb.shell("uiautomator dump /sdcard/d.xml")
    assert said == "UI hierchary dumped to: /sdcard/d.xml\n"
    return list(ElementTree.fromstring(adb("exec-out", "cat /sdcard/d.xml").stdout).iter("node"))


def find(adb: Adb, wanted: str) -> ElementTree.Element | None:
    """By text, description or id."""
    for each in nodes(adb):
        if wanted in (each.get("text"), each.get("content-desc"), each.get("resource-id", "").rpartition("/")[2]):
            return each
    return None


def see(adb: Adb, wanted: str) -> ElementTree.Element:
    found: list[ElementTree.Element] = []

    def there() -> bool:
        found.extend(each for each in (find(adb, wanted),) if each is not None)
        return bool(found)

    until(there, f"{wanted!r} is not on the screen")
    return found[0]


def tap(adb: Adb, wanted: str) -> None:
    left, top, right, bottom = map(int, re.findall(r"\d+", see(adb, wanted).get("bounds", "")))
    assert adb.shell(f"input tap {(left + right) // 2} {(top + bottom) // 2}") == ""


def until(holds: Callable[[], bool], otherwise: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, otherwise
        time.sleep(0.02)


def focus(adb: Adb) -> str:
    found = re.search(r"mCurrentFocus=Window\{\w+ u0 (.+)\}", adb.shell("dumpsys window"))
    assert found is not None
    return found[1]


def test_adb_lists_it_as_a_device(adb: Adb) -> None:
    line = next(each for each in adb("devices", "-l").stdout.decode().splitlines() if adb.serial in each)
    assert re.search(r"\bdevice\b.* model:Simphone\b", line)
    assert adb.shell("getprop ro.serialno") == "SIM0001\n"


def test_a_shipped_app_is_launched_and_left_by_back_and_home(adb: Adb) -> None:
    assert focus(adb).startswith("com.android.launcher3/")
    assert "Events injected: 1" in adb.shell(f"monkey -p {NOTES} -c android.intent.category.LAUNCHER 1")
    assert focus(adb) == f"{NOTES}/{NOTES}.NotesActivity"
    assert any(each.get("package") == NOTES for each in nodes(adb))
    adb.shell("input keyevent BACK")
    assert focus(adb).startswith("com.android.launcher3/")
    adb.shell(f"am start -n {NOTES}/.NotesActivity")
    adb.shell("input keyevent HOME")
    assert focus(adb).startswith("com.android.launcher3/")


def test_an_icon_of_the_home_screen_starts_its_app(adb: Adb) -> None:
    tap(adb, "Notes")
    until(lambda: focus(adb).startswith(f"{NOTES}/"), "the app did not start")


def test_a_tap_changes_what_the_app_keeps(adb: Adb, phone: PhoneThread, small: str) -> None:
    adb.shell(f"am start -n {small}/.MainActivity")
    tap(adb, "count")
    tap(adb, "count")
    assert phone.app_state(small) == {"count": 2}
    assert see(adb, "count").get("text") == "2"


def test_text_is_typed_and_cleared(adb: Adb, small: str) -> None:
    adb.shell(f"am start -n {small}/.MainActivity")
    tap(adb, "field")
    until(lambda: "mInputShown=true" in adb.shell("dumpsys input_method"), "there is no keyboard")
    adb.shell("input text heron%sand%spond")
    assert see(adb, "field").get("text") == "heron and pond"
    adb.shell("input keyevent DEL DEL DEL DEL")
    assert see(adb, "field").get("text") == "heron and "
    said = adb.shell("input text 苍鹭")
    assert "NullPointerException: Attempt to get length of null array" in said
    assert see(adb, "field").get("text") == "heron and "
    adb.shell("input keyevent BACK")
    assert "mInputShown=false" in adb.shell("dumpsys input_method")
    assert focus(adb).startswith(small), "back has put the keyboard away, and no more"


def test_any_script_is_typed_by_the_adb_keyboard(adb: Adb, small: str) -> None:
    adb.shell("ime enable com.android.adbkeyboard/.AdbIME")
    assert "selected for user #0" in adb.shell("ime set com.android.adbkeyboard/.AdbIME")
    adb.shell(f"am start -n {small}/.MainActivity")
    tap(adb, "field")
    assert "mInputShown=false" in adb.shell("dumpsys input_method")
    text = "für 苍鹭 שלום 😀"
    adb.shell(f"am broadcast -a ADB_INPUT_B64 --es msg {base64.b64encode(text.encode()).decode()}")
    assert see(adb, "field").get("text") == text
    adb.shell("am broadcast -a ADB_CLEAR_TEXT")
    assert see(adb, "field").get("text") in ("", "Name")


def test_an_activity_opens_another_with_extras_and_back_returns(adb: Adb, small: str) -> None:
    adb.shell(f"am start -n {small}/.MainActivity")
    tap(adb, "Next")
    until(lambda: focus(adb).endswith(".SecondActivity"), "it did not open")
    assert see(adb, "extras").get("text") == '{"name":"heron"}'
    adb.shell("input keyevent BACK")
    assert focus(adb).endswith(".MainActivity")
    assert see(adb, "Version 3") is not None


def test_a_task_in_the_background_keeps_its_place(adb: Adb, small: str) -> None:
    adb.shell(f"am start -n {small}/.MainActivity")
    tap(adb, "field")
    adb.shell("input text kept")
    adb.shell("input keyevent HOME")
    assert "brought to the front" in adb.shell(f"am start -n {small}/.MainActivity")
    assert see(adb, "field").get("text") == "kept"
    adb.shell(f"am force-stop {small}")
    adb.shell(f"am start -n {small}/.MainActivity")
    assert see(adb, "field").get("text") in ("", "Name")


def test_recents_lead_back_to_an_app(adb: Adb, small: str) -> None:
    adb.shell(f"am start -n {small}/.MainActivity")
    adb.shell(f"monkey -p {NOTES} 1")
    adb.shell("input keyevent APP_SWITCH")
    assert focus(adb).startswith("com.android.launcher3/")
    tap(adb, "Small")
    until(lambda: focus(adb).startswith(f"{small}/"), "the app is not in front")


def test_the_screen_turns(adb: Adb, small: str) -> None:
    adb.shell(f"am start -n {small}/.MainActivity")
    adb.shell("settings put system accelerometer_rotation 0; settings put system user_rotation 1")
    picture = adb("exec-out", "screencap", "-p").stdout
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert (int.from_bytes(picture[16:20], "big"), int.from_bytes(picture[20:24], "big")) == (2400, 1080)
    assert adb.shell("wm size") == "Physical size: 1080x2400\n"
    tap(adb, "count")
    assert see(adb, "count").get("text") == "1"
    adb.shell("settings put system user_rotation 0")
    assert int.from_bytes(adb("exec-out", "screencap -p").stdout[16:20], "big") == 1080


def test_a_package_is_updated_refused_and_removed(adb: Adb, small: str, tmp_path: Path) -> None:
    assert adb.shell(f"dumpsys package {small} | grep versionName").strip() == "versionName=0.3"
    for version, signature, failure in (
        (2, "example", "INSTALL_FAILED_VERSION_DOWNGRADE"),
        (4, "another", "INSTALL_FAILED_UPDATE_INCOMPATIBLE"),
    ):
        ended = adb("install", "-r", str(package(tmp_path, version, signature)))
        assert ended.returncode == 1 and failure in (ended.stdout + ended.stderr).decode()
    assert b"Success" in adb("install", "-r", str(package(tmp_path, 5))).stdout
    adb.shell(f"am start -n {small}/.MainActivity")
    assert see(adb, "Version 5") is not None
    assert b"Success" in adb("uninstall", small).stdout
    assert "does not exist" in adb.shell(f"am start -n {small}/.MainActivity")
    assert b"Success" in adb("install", str(package(tmp_path, 6))).stdout


def test_a_newer_adb_installs_too(phone: PhoneThread, tmp_path: Path) -> None:
    with adb_server(PROGRAMS["adb of adbutils"], tmp_path) as started:
        newer = Adb(started)
        newer.connect(phone.serial)
        file = str(package(tmp_path, 3))
        for options in ((), ("-r",), ("-r", "--no-streaming")):
            ended = newer("install", *options, file)
            assert b"Success" in ended.stdout, ended.stderr
        assert b"Success" in newer("uninstall", "org.example.small").stdout


def test_the_screen_goes_off_and_on(adb: Adb) -> None:
    lit = adb("exec-out", "screencap -p").stdout
    adb.shell("input keyevent POWER")
    dark = adb("exec-out", "screencap -p").stdout
    assert dark != lit and "mWakefulness=Asleep" in adb.shell("dumpsys power")
    adb.shell("input keyevent WAKEUP")
    assert adb("exec-out", "screencap -p").stdout == lit


def test_a_crash_leaves_a_dialog_that_starts_the_app_again(adb: Adb, phone: PhoneThread, small: str) -> None:
    from simphone.faults import Fault

    adb.shell(f"am start -n {small}/.MainActivity")
    phone.faults.add(Fault("app_crash", at="input tap*"))
    tap(adb, "count")
    assert focus(adb) == f"Application Error: {small}"
    assert see(adb, "Small has stopped") is not None
    tap(adb, "Open app again")
    until(lambda: focus(adb) == f"{small}/{small}.MainActivity", "the app is not there again")


def test_dark_mode_and_the_clock_are_what_the_shell_says(adb: Adb) -> None:
    before = adb("exec-out", "screencap -p").stdout
    adb.shell("cmd uimode night yes")
    adb.shell("monkey -p com.android.settings 1")
    assert "mCurrentFocus=Window" in adb.shell("dumpsys window displays | grep mCurrentFocus")
    assert adb("exec-out", "screencap -p").stdout != before
    assert adb.shell("date +%H:%M") == "10:00\n"
