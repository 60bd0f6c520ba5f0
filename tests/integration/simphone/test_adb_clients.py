"""Clients that nobody here wrote: two that speak through an adb server, one that speaks to the phone itself."""

from __future__ import annotations

import asyncio
import io
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from adb_lab import PICTURE, Lab, device
from adb_server import PROGRAMS, AdbServer, adb_server
from adb_shell.adb_device import AdbDeviceTcp
from adb_shell.auth.keygen import keygen
from adb_shell.auth.sign_cryptography import CryptographySigner
from adb_shell.exceptions import TcpTimeoutException
from adbutils import AdbClient, AdbDevice, AdbError
from ppadb.client import Client
from ppadb.device import Device

from simphone.adbd.auth import ANY_KEY, Authentication, only
from simphone.faults import Fault

confined = pytest.mark.skipif(not shutil.which("bwrap") or not shutil.which("mksh"), reason="no bubblewrap or mksh")


@pytest.fixture
async def lab(tmp_path: Path) -> AsyncIterator[Lab]:
    async with device(tmp_path / "phone") as lab:
        yield lab


@pytest.fixture(scope="module", params=[pytest.param(path, id=name) for name, path in PROGRAMS.items()])
def adb(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AdbServer]:
    if not request.param:
        pytest.skip("adb is not installed")
    with adb_server(request.param, tmp_path_factory.mktemp("adb")) as server:
        yield server


@pytest.fixture
async def connected(adb: AdbServer, lab: Lab) -> AsyncIterator[AdbServer]:
    await adb.connect(lab.serial)
    yield adb
    await adb.run("disconnect", lab.serial)


async def test_adbutils(lab: Lab, connected: AdbServer, tmp_path: Path) -> None:
    def use(device: AdbDevice) -> None:
        device.click(1, 2)
        assert device.shell("echo on") == "on"
        assert device.shell("screencap -p", encoding=None) == PICTURE
        for v2 in (False, True):
            answer = device.shell2("settings", v2=v2)
            assert answer.returncode == 7
            assert answer.output == "to standard output\nto standard error\n"
        assert device.shell2("settings", v2=True).stderr == "to standard error\n"
        source = tmp_path / "source.bin"
        source.write_bytes(PICTURE)
        assert device.sync.push(source, "/sdcard/new/a.bin") == len(PICTURE)
        assert device.sync.push(io.BytesIO(b"text"), "/data/local/tmp/b.txt") == 4
        assert device.sync.read_bytes("/sdcard/new/a.bin") == PICTURE
        assert device.sync.stat("/data/local/tmp/b.txt").size == 4
        assert not device.sync.exists("/sdcard/none")
        assert [each.path for each in device.sync.list("/sdcard/new")] == ["a.bin"]
        assert device.sync.pull("/sdcard/new", tmp_path / "back") == len(PICTURE)
        assert (tmp_path / "back" / "a.bin").read_bytes() == PICTURE
        lab.faults.add(Fault("storage_full", at="sync:send *"))
        with pytest.raises(AdbError, match="FAIL"):
            device.sync.push(b"text", "/sdcard/c.txt")
        with device.open_transport() as connection, pytest.raises(AdbError, match="closed"):
            connection.send_command("tcpip:5555")
            connection.check_okay()

    await asyncio.to_thread(use, AdbClient("127.0.0.1", connected.port).device(lab.serial))
    assert lab.commands.calls[0] == ["input", "tap", "1", "2"]


async def test_pure_python_adb(lab: Lab, connected: AdbServer, tmp_path: Path) -> None:
    def use(device: Device) -> None:
        assert device.shell("input tap 3 4; echo $?") == "0\n"
        assert bytes(device.screencap()) == PICTURE
        source = tmp_path / "source.bin"
        source.write_bytes(PICTURE)
        device.push(str(source), "/sdcard/new/a.bin")
        device.pull("/sdcard/new/a.bin", str(tmp_path / "back.bin"))
        assert (tmp_path / "back.bin").read_bytes() == PICTURE

    await asyncio.to_thread(lambda: use(Client("127.0.0.1", connected.port).device(lab.serial)))
    assert lab.commands.calls[0] == ["input", "tap", "3", "4"]


async def test_adb_shell(lab: Lab, tmp_path: Path) -> None:
    def use() -> None:
        device = AdbDeviceTcp("127.0.0.1", lab.port, default_transport_timeout_s=10)
        assert device.connect()
        assert device.shell("input tap 5 6; echo $?") == "0\n"
        assert device.exec_out("screencap -p", decode=False) == PICTURE
        assert b"".join(device.streaming_shell("screencap -p", decode=False)) == PICTURE
        assert "cannot run as root" in device._service(b"root", b"")
        device.push(io.BytesIO(PICTURE), "/sdcard/new/a.bin", mtime=1_700_000_000)
        assert device.stat("/sdcard/new/a.bin")[1:] == (len(PICTURE), 1_700_000_000)
        assert [each.filename for each in device.list("/sdcard/new")] == [b"a.bin"]
        back = io.BytesIO()
        device.pull("/sdcard/new/a.bin", back)
        assert back.getvalue() == PICTURE
        device.close()

    await asyncio.to_thread(use)
    assert lab.commands.calls[0] == ["input", "tap", "5", "6"]


@confined
async def test_adb_shell_with_whole_lines(lab: Lab) -> None:
    def use() -> None:
        device = AdbDeviceTcp("127.0.0.1", lab.port, default_transport_timeout_s=10)
        device.connect()
        assert device.shell("screencap -p | wc -c; foo") == (
            f"{len(PICTURE)}\n/system/bin/sh: foo: inaccessible or not found\n"
        )
        device.close()

    await asyncio.to_thread(use)


async def test_adb_shell_is_allowed_by_its_key(tmp_path: Path) -> None:
    keygen(str(tmp_path / "key"))
    keygen(str(tmp_path / "other"))

    def use(port: int, key: str, patience_s: float) -> str:
        device = AdbDeviceTcp("127.0.0.1", port, default_transport_timeout_s=10)
        device.connect(rsa_keys=[CryptographySigner(str(tmp_path / key))], auth_timeout_s=patience_s)
        try:
            return str(device.shell("echo on"))
        finally:
            device.close()

    async def attempt(authentication: Authentication, key: str, patience_s: float = 10) -> str:
        async with device(tmp_path / "phone", authentication) as lab:
            return await asyncio.to_thread(use, lab.port, key, patience_s)

    known = only((tmp_path / "key.pub").read_text())
    assert await attempt(known, "key") == "on\n"
    assert await attempt(ANY_KEY, "other") == "on\n"
    with pytest.raises(TcpTimeoutException):
        await attempt(known, "other", 0.3)
