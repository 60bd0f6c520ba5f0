"""A simulated phone behind an adb server of the tests' own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from phone_lab import LAB, LAB_APP, START_S, OwnAdb, own_adb
from tasks_of_lab import Tasks

from gateway.phone import devices
from gateway.phone.bridge import Bridge
from gateway.phone.deadline import Deadline
from gateway.phone.link import Link
from gateway.phone.task import beginning
from gateway.phone.task.beginning import options_of
from simphone.background import PhoneThread
from simphone.phone import PhoneOptions


@pytest.fixture(scope="session")
def adb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnAdb]:
    with own_adb(tmp_path_factory.mktemp("adb-home")) as started:
        yield started


@pytest.fixture(scope="session")
def _phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PhoneThread]:
    folder = tmp_path_factory.mktemp("phone")
    with PhoneThread(PhoneOptions(folder=folder, clipper=True, apps=(str(LAB_APP),))) as started:
        yield started


@pytest.fixture
def phone(_phone: PhoneThread) -> Iterator[PhoneThread]:
    """As it was delivered: on its home screen, and without faults, also afterwards."""
    _phone.faults.clear()
    _phone.reset()
    yield _phone
    _phone.faults.clear()


@pytest.fixture
def bridge(phone: PhoneThread, adb: OwnAdb) -> Iterator[Bridge]:
    devices.connect(adb.server, phone.serial, Deadline(START_S))
    with Bridge(Link(adb.server, phone.serial), retry_delay=0.05) as opened:
        yield opened


@pytest.fixture
def lab(bridge: Bridge) -> Bridge:
    """The bridge, with the laboratory in front: a page that keeps what is done to it."""
    bridge.start_app(LAB)
    return bridge


@pytest.fixture
def small(phone: PhoneThread) -> PhoneThread:
    """With fewer pixels, until it is reset: much of what a task costs here would be pictures of 1080×2400."""
    phone.phone.system.viewport.forced = (540, 1200)
    return phone


@pytest.fixture
def connected(small: PhoneThread, adb: OwnAdb, monkeypatch: pytest.MonkeyPatch) -> PhoneThread:
    """The phone, for tasks that a gateway begins by its configuration, without the pauses that people's phones need."""
    quick = {"step_delay": 0.0, "patience": 1.0}
    monkeypatch.setattr(beginning, "options_of", lambda settings, made=options_of: made(settings).with_(**quick))
    devices.connect(adb.server, small.serial, Deadline(START_S))
    return small


@pytest.fixture
async def tasks(small: PhoneThread, adb: OwnAdb, tmp_path: Path) -> AsyncIterator[Tasks]:
    """Tasks on that phone, in a home of their own."""
    devices.connect(adb.server, small.serial, Deadline(START_S))
    there = Tasks(tmp_path, small, adb)
    async with there.gateway:
        yield there
    there.gateway.close()
