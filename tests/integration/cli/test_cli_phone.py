"""`mai-phone` and `echelon phone`: which phones there are, and what to do about each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake_adb import FakeAdb, fake_adb, prints

from echelon.cli import start
from echelon.phone import phone
from gateway.engine.store import Store
from gateway.phone.lease import device_lease

from .conftest import Cli

LISTED = (
    "77EE88               unauthorized usb:1-3 transport_id:5\n"
    "S1                   device usb:1-2 product:oriole model:Pixel_6 device:oriole transport_id:3\n"
    "emulator-5554        offline transport_id:4"
)
Told = Callable[..., tuple[int, str, str]]


@pytest.fixture
def adb(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeAdb]:
    answers = {"host:devices-l": LISTED, "host-serial:S1:features": "shell_v2,cmd", "shell,v2,raw:": prints(b"14\n")}
    with fake_adb(answers) as serving:
        monkeypatch.setenv("ECHELON_DEVICE__ADB_SERVER", serving.address)
        monkeypatch.setattr("echelon.phone_devices.ASK_S", 60.0)
        yield serving


@pytest.fixture
def mai_phone(capsys: pytest.CaptureFixture[str]) -> Told:
    def run(*arguments: str) -> tuple[int, str, str]:
        code = start(arguments, phone, "mai-phone")
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_phones_are_listed_with_what_to_do(adb: FakeAdb, mai_phone: Told, cli: Cli) -> None:
    code, out, _ = mai_phone("devices")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split()[:5] == ["serial", "state", "model", "android", "connected"]
    assert lines[1].split() == ["S1", "ready", "Pixel", "6", "14", "usb"]
    assert "unlock the phone and allow this computer" in lines[2]
    assert cli("phone", "devices").stdout == out


def test_a_program_gets_the_same(adb: FakeAdb, mai_phone: Told) -> None:
    code, out, _ = mai_phone("devices", "--json")
    rows = {each["serial"]: each for each in json.loads(out)}
    assert code == 0
    assert (rows["S1"]["android"], rows["S1"]["advice"]) == ("14", "")
    assert (rows["emulator-5554"]["connected"], rows["emulator-5554"]["state"]) == ("emulator", "offline")


def test_without_a_phone_it_is_said_what_to_do(adb: FakeAdb, mai_phone: Told) -> None:
    adb.answers["host:devices-l"] = ""
    code, out, err = mai_phone("devices")
    assert (code, out) == (4, "")
    assert "adb pair" in err
    assert mai_phone("devices", "--json")[:2] == (4, "[]\n")


def test_the_phone_doctor_ends_where_there_is_no_phone(adb: FakeAdb, mai_phone: Told) -> None:
    adb.answers["host:devices-l"] = "77EE88 unauthorized"
    code, out, _ = mai_phone("doctor", "--json")
    checks = {each["name"]: each for each in json.loads(out)}
    assert code == 4
    assert (checks["server"]["status"], checks["devices"]["status"]) == ("ok", "warn")
    assert (checks["device"]["status"], list(checks)[-1]) == ("fail", "device")
    assert "allow this computer" in checks["device"]["advice"]


def test_the_phone_doctor_asks_for_a_choice(adb: FakeAdb, mai_phone: Told) -> None:
    adb.answers["host:devices-l"] = "S1 device\nS2 device"
    code, out, _ = mai_phone("doctor")
    assert code == 4
    assert "2 devices are connected: S1 (usb), S2 (usb)" in out
    assert "--device" in out


async def test_a_phone_that_another_run_has_is_said(adb: FakeAdb, mai_phone: Told, echelon_home: Path) -> None:
    adb.answers["host:devices-l"] = "S1 device"
    assert "no other process" in mai_phone("doctor")[1]
    store = Store(echelon_home / "echelon.db")
    async with device_lease(store, "S1"):
        checks = {each["name"]: each for each in json.loads(mai_phone("doctor", "--json")[1])}
    store.close()
    assert (checks["lease"]["status"], checks["lease"]["advice"]) == ("warn", "echelon runs list shows it")


def test_something_that_is_no_adb_server_is_told(
    adb: FakeAdb, mai_phone: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    adb.answers["host:version"] = lambda stream: stream.send(b"220 smtp ready\r\n")
    code, _, err = mai_phone("devices")
    assert code == 4
    assert "no adb server" in err and "device.adb_server" in err


def test_the_doctor_of_all_names_the_phones(adb: FakeAdb, cli: Cli) -> None:
    checks = {each["name"]: each for each in json.loads(cli("doctor", "--json").stdout)}
    assert checks["adb"]["status"] == "warn"
    assert "version 1.0.41" in checks["adb"]["detail"] and "S1 (device)" in checks["adb"]["detail"]
    assert "mai-phone devices" in checks["adb"]["advice"]


def test_the_doctor_of_all_starts_no_server(adb: FakeAdb, cli: Cli) -> None:
    adb.close()
    checks = {each["name"]: each for each in json.loads(cli("doctor", "--json").stdout)}
    assert "no server runs" in checks["adb"]["detail"] or checks["adb"]["status"] == "warn"


def test_what_the_server_says_cannot_command_the_terminal(adb: FakeAdb, mai_phone: Told) -> None:
    adb.answers["host:devices-l"] = lambda stream: stream.fail("oops \x1b]0;title\x07\x1b[2J")
    code, _, err = mai_phone("devices")
    assert code == 4
    assert "oops" in err
    assert not {"\x1b", "\x07"} & set(err)
