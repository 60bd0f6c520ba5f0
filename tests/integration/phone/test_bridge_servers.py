"""adb servers of both ages: used as they are, started where there is none, missed when they are killed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from phone_lab import LAB, LAB_APP, START_S, OwnAdb, adb_programs, free_port, own_adb, until

from gateway.errors import AdbMissing, DeviceLost, DeviceUnauthorized
from gateway.phone import adb as adbs
from gateway.phone import devices
from gateway.phone.actions import Numbered, Tap
from gateway.phone.adb import AdbServer
from gateway.phone.bridge import Bridge
from gateway.phone.deadline import Deadline
from gateway.phone.link import Link
from simphone.background import PhoneThread
from simphone.faults import Fault
from simphone.phone import PhoneOptions


@pytest.fixture(params=sorted(adb_programs()))
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OwnAdb]:
    with own_adb(tmp_path, adb_programs()[request.param]) as started:
        yield started


@pytest.fixture
def starting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AdbServer]:
    """The address of a server that there is not; those that are started there are ended."""
    monkeypatch.setenv("HOME", str(tmp_path))
    before = len(adbs._started)
    yield AdbServer(f"127.0.0.1:{free_port()}")
    for process in adbs._started[before:]:
        process.kill()
        process.wait()


def test_a_phone_is_seen_and_touched_through_either(either: OwnAdb, phone: PhoneThread) -> None:
    device = devices.choose(either.server, Deadline(START_S), phone.serial)
    assert (device.serial, device.state, device.transport) == (phone.serial, "device", "wifi")
    assert device.model == "Simphone"
    with Bridge(Link(either.server, device.serial)) as bridge:
        bridge.start_app(LAB)
        bridge.settle()
        seen = bridge.observe()
        button = next(each for each in seen.elements or () if each.text == "Press")
        bridge.perform(Tap(coordinate=Numbered(element=button.number)), seen)
        assert until(lambda: [each["kind"] for each in phone.app_state(LAB)["events"]].count("press") == 1)


def test_a_lost_phone_comes_back_through_either(either: OwnAdb, phone: PhoneThread) -> None:
    devices.connect(either.server, phone.serial, Deadline(START_S))
    with Bridge(Link(either.server, phone.serial), retry_delay=0.05) as bridge:
        bridge.start_app(LAB)
        phone.faults.add(Fault("link_down", at="*screencap*", seconds=1.0))
        assert bridge.observe().png
        phone.faults.add(Fault("link_drop", at="*uiautomator*", bytes=100))
        assert bridge.observe().elements


def test_a_phone_that_refuses_is_told_through_either(
    either: OwnAdb, phone: PhoneThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "AUTHORISING_S", 1.0)
    either.server.disconnect(phone.serial, Deadline(5))
    phone.faults.add(Fault("auth_refused", at="connect", times=0))
    with pytest.raises(DeviceUnauthorized) as caught:
        devices.connect(either.server, phone.serial, Deadline(START_S))
    assert "allow this computer" in caught.value.hint
    phone.faults.clear()
    assert devices.connect(either.server, phone.serial, Deadline(START_S)).usable


def test_a_phone_that_is_slow_to_allow_is_waited_for(adb: OwnAdb, phone: PhoneThread) -> None:
    adb.server.disconnect(phone.serial, Deadline(5))
    phone.faults.add(Fault("auth_slow", at="connect", seconds=1.5))
    assert devices.connect(adb.server, phone.serial, Deadline(START_S)).usable


@pytest.mark.parametrize("name", sorted(adb_programs()))
def test_a_server_is_started_where_there_is_none(
    starting: AdbServer, phone: PhoneThread, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADBUTILS_ADB_PATH", adb_programs()[name])
    assert starting.version(Deadline(START_S)) == 41
    assert devices.connect(starting, phone.serial, Deadline(START_S)).usable


def test_threads_start_one_server(starting: AdbServer) -> None:
    servers = [starting, *(AdbServer(starting.address) for _ in range(3))]
    before = len(adbs._started)
    said: list[int] = []
    threads = [
        threading.Thread(target=lambda each=each: said.append(each.version(Deadline(START_S)))) for each in servers
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert said == [41] * 4
    assert len(adbs._started) == before + 1


def test_a_server_of_another_version_is_used_as_it_is(
    either: OwnAdb, phone: PhoneThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in adb_programs().values():
        monkeypatch.setenv("ADBUTILS_ADB_PATH", path)
        server = AdbServer(either.server.address)
        devices.choose(server, Deadline(START_S), phone.serial)
        assert Link(server, phone.serial).shell("getprop ro.product.model", Deadline(10)).text == "Simphone\n"
    assert either.process.poll() is None


def test_a_program_that_does_not_serve_is_told(
    starting: AdbServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "adb"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("ADBUTILS_ADB_PATH", str(broken))
    with pytest.raises(AdbMissing, match="ended with 3"):
        starting.version(Deadline(START_S))


def held(phone: PhoneThread, what: str) -> threading.Event:
    """Set once the phone has got that command, which it never answers."""
    phone.faults.add(Fault("no_answer", at=what))
    begun = threading.Event()
    number = len(phone.faults.acted)
    threading.Thread(
        target=lambda: begun.set() if until(lambda: len(phone.faults.acted) > number, 20) else None, daemon=True
    ).start()
    return begun


def test_a_server_that_is_killed_in_the_middle_of_an_act_is_a_lost_link(either: OwnAdb, phone: PhoneThread) -> None:
    devices.connect(either.server, phone.serial, Deadline(START_S))
    with Bridge(Link(either.server, phone.serial)) as bridge:
        bridge.display()
        begun = held(phone, "input tap*")
        killer = threading.Thread(target=lambda: begun.wait(20) and either.kill())
        killer.start()
        with pytest.raises(DeviceLost) as caught:
            bridge.perform(Tap(coordinate=(0.5, 0.02)))
        killer.join()
        assert caught.value.performed is None


def test_a_server_that_is_killed_in_the_middle_of_a_read_is_started_again(
    starting: AdbServer, phone: PhoneThread
) -> None:
    devices.connect(starting, phone.serial, Deadline(START_S))
    with Bridge(Link(starting, phone.serial), retry_delay=0.05) as bridge:
        begun = held(phone, "*screencap*")
        (process,) = adbs._started[-1:]
        killer = threading.Thread(target=lambda: begun.wait(20) and process.kill())
        killer.start()
        assert bridge.screenshot(30.0)
        killer.join()
        assert adbs._started[-1] is not process


def test_eight_threads_on_one_phone_do_not_disturb_each_other(lab: Bridge, phone: PhoneThread, adb: OwnAdb) -> None:
    seen = lab.observe()
    button = next(each for each in seen.elements or () if each.text == "Press")
    other = Bridge(Link(adb.server, phone.serial))
    wrong: list[BaseException] = []

    def work(number: int) -> None:
        bridge = (lab, other)[number % 2]
        try:
            for turn in range(3):
                if number < 4:
                    bridge.perform(Tap(coordinate=Numbered(element=button.number)), seen, 60)
                else:
                    now = bridge.observe(deadline_s=60)
                    assert now.png and now.elements and now.package == LAB, turn
                    assert now.state_id == seen.state_id
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    other.close()
    assert not wrong
    assert until(lambda: [each["kind"] for each in phone.app_state(LAB)["events"]].count("press") == 12)


def test_two_phones_at_once_are_told_apart(
    lab: Bridge, phone: PhoneThread, adb: OwnAdb, tmp_path_factory: pytest.TempPathFactory
) -> None:
    options = PhoneOptions(
        folder=tmp_path_factory.mktemp("second"), serial_number="SIM0002", model="Second", apps=(str(LAB_APP),)
    )
    with PhoneThread(options) as second:
        devices.connect(adb.server, second.serial, Deadline(START_S))
        listed = {each.serial: each.model for each in devices.listed(adb.server, Deadline(10))}
        assert listed[phone.serial] == "Simphone" and listed[second.serial] == "Second"
        with Bridge(Link(adb.server, second.serial)) as another:
            another.start_app("Settings")
            another.settle()
            found: dict[str, list[str]] = {}

            def look(bridge: Bridge) -> None:
                found[bridge.serial] = [bridge.observe(deadline_s=60).package for _ in range(4)]

            threads = [threading.Thread(target=look, args=(each,)) for each in (lab, another)]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
        assert found == {phone.serial: [LAB] * 4, second.serial: ["com.android.settings"] * 4}
        adb.server.disconnect(second.serial, Deadline(5))
