"""`mai-phone devices` and `mai-phone doctor` with a simulated phone."""

from __future__ import annotations

import json

import pytest
from phone_lab import START_S, OwnAdb

from echelon.cli import start
from echelon.phone import phone as mai_phone
from gateway.phone import devices
from gateway.phone.deadline import Deadline
from simphone.background import PhoneThread
from simphone.faults import Fault


@pytest.fixture
def connected(phone: PhoneThread, adb: OwnAdb, monkeypatch: pytest.MonkeyPatch) -> PhoneThread:
    monkeypatch.setenv("ECHELON_DEVICE__ADB_SERVER", adb.server.address)
    devices.connect(adb.server, phone.serial, Deadline(START_S))
    return phone


def checks(capsys: pytest.CaptureFixture[str], code: int, *arguments: str) -> dict[str, dict[str, str]]:
    assert start(["doctor", "--json", *arguments], mai_phone, "mai-phone") == code
    return {each["name"]: each for each in json.loads(capsys.readouterr().out)}


def test_all_is_well(connected: PhoneThread, capsys: pytest.CaptureFixture[str]) -> None:
    found = checks(capsys, 0, "--device", connected.serial)
    assert {
        "adb",
        "server",
        "devices",
        "device",
        "lease",
        "shell",
        "screen",
        "screenshot",
        "hierarchy",
        "touch",
        "typing",
    } == set(found)
    assert all(each["status"] == "ok" for name, each in found.items() if name != "devices"), found
    assert "1080 × 2400" in found["screen"]["detail"]


@pytest.mark.parametrize(
    ("fault", "check", "status", "advice"),
    [
        (Fault("input_denied", times=0), "touch", "fail", "developer options"),
        (Fault("black_screenshot", times=0), "screenshot", "warn", "forbids pictures"),
        (Fault("dump_fails", times=0), "hierarchy", "fail", "animation"),
        (Fault("screenshot_empty", times=0), "screenshot", "fail", "try again"),
        (Fault("screen_off", at="dumpsys power"), "screen", "warn", "stay on"),
    ],
    ids=lambda each: each.name if isinstance(each, Fault) else None,
)
def test_what_is_wrong_is_said_with_what_to_do(
    connected: PhoneThread,
    capsys: pytest.CaptureFixture[str],
    fault: Fault,
    check: str,
    status: str,
    advice: str,
) -> None:
    connected.faults.add(fault)
    found = checks(capsys, 4 if status == "fail" else 0, "--device", connected.serial)
    assert found[check]["status"] == status
    assert advice in found[check]["advice"]
    connected.call(lambda it: it.display.power(True))


def test_a_simulated_phone_is_there_for_as_long_as_the_doctor_looks(
    adb: OwnAdb, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ECHELON_DEVICE__ADB_SERVER", adb.server.address)
    before = {each.serial for each in devices.listed(adb.server, Deadline(10))}
    assert start(["devices", "--simulated", "--json"], mai_phone, "mai-phone") == 0
    rows = json.loads(capsys.readouterr().out)
    assert {each["serial"] for each in rows} > before
    assert {each.serial for each in devices.listed(adb.server, Deadline(10))} == before
    found = checks(capsys, 0, "--simulated")
    assert found["hierarchy"]["status"] == "ok"
