"""A line from a computer reaches nothing of the host but the phone's folder."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from adb_lab import Lab, device
from adb_wire import Computer

pytestmark = pytest.mark.skipif(not shutil.which("bwrap"), reason="no bubblewrap")


@pytest.fixture
async def lab(tmp_path: Path) -> AsyncIterator[Lab]:
    (tmp_path / "secret").write_text("of the host")
    async with device(tmp_path / "phone") as lab:
        yield lab


@pytest.fixture
async def computer(lab: Lab) -> AsyncIterator[Computer]:
    async with Computer(lab.port) as computer:
        yield computer


async def test_files_of_the_host_cannot_be_read(computer: Computer, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    for path in (
        str(secret),
        f"/sdcard/../../../{secret}",
        f"/proc/1/root{secret}",
        f"/proc/1/cwd{secret}",
        f"/proc/self/root{secret}",
        f"/data/local/tmp/link{secret}",
        "/etc/shadow",
        "/etc/hosts",
    ):
        code, out, _ = await computer.run(f"ln -sf / /data/local/tmp/link; cat {path}")
        assert (code, out) == (1, b""), path


async def test_homes_and_the_host_s_temporary_folder_are_not_there(computer: Computer) -> None:
    for path in ("/home", "/root", "/tmp", "/var", "/mnt", "/run", "/sys", "/boot", "/opt", str(Path.home())):
        code, out, _ = await computer.run(f"ls -d {path}; true | ls {path}")
        assert (bool(code), out) == (True, b""), path


async def test_nothing_outside_of_shared_storage_can_be_written(computer: Computer, tmp_path: Path) -> None:
    places = ["/", "/usr/", "/usr/bin/", "/system/", "/system/bin/", "/etc/", "/data/", "/data/local/", "/storage/"]
    places += ["/storage/emulated/", "/dev/socket/", f"{tmp_path}/", "/sdcard/../../../"]
    for place in places:
        code, out, _ = await computer.run(f"echo no > {place}written && echo yes")
        assert (bool(code), out) == (True, b""), place
    code, out, _ = await computer.run("rm -f /system/bin/sh /usr/bin/env; chmod 777 /data; ls /data && echo yes")
    assert (bool(code), out) == (True, b"")
    assert sorted(os.listdir(tmp_path)) == ["phone", "secret"]


async def test_there_is_no_network(computer: Computer) -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.put_nowait(None)
        writer.close()

    reached = asyncio.Queue[None]()
    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    program = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
    async with server:
        await asyncio.to_thread(subprocess.run, ["/usr/bin/python3", "-c", program], check=True)
        await reached.get()
        code, _, errors = await computer.run(f'/usr/bin/python3 -c "{program}"')
    assert code == 1
    assert b"Connection refused" in errors or b"unreachable" in errors
    assert reached.empty()
    _, devices, _ = await computer.run("cat /proc/net/dev | tail -n +3")
    assert [each.split(b":")[0].strip() for each in devices.splitlines()] == [b"lo"]


async def test_sockets_of_the_host_without_a_file_are_out_of_reach(computer: Computer) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(b"\0simphone-test-%d" % os.getpid())
        listening.listen()
        program = f"import socket; socket.socket(socket.AF_UNIX).connect(b'\\0simphone-test-{os.getpid()}')"
        code, _, errors = await computer.run(f'/usr/bin/python3 -c "{program}"'.replace("\\", "\\\\"))
    assert code == 1
    assert b"refused" in errors


async def test_processes_and_environment_of_the_host_are_not_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMPHONE_TEST_SECRET", "of the host")
    async with device(tmp_path / "phone") as lab, Computer(lab.port) as computer:
        _, out, _ = await computer.run("env; cat /proc/*/environ; ps -e -o args")
        assert b"of the host" not in out
        assert b"pytest" not in out
        assert str(tmp_path).encode() not in out
        _, count, _ = await computer.run("ps -e -o pid= | wc -l")
        assert int(count) < 10


async def test_a_line_gets_no_descriptor_but_its_streams(computer: Computer) -> None:
    assert await computer.run("echo /proc/self/fd/*; :") == (
        0,
        b"/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3\n",
        b"",
    )


async def test_a_line_has_no_rights_of_an_administrator(computer: Computer) -> None:
    _, out, _ = await computer.run("grep -i cap /proc/self/status")
    capabilities = dict(each.split(":") for each in out.decode().split("\n") if each)
    assert {name: int(value, 16) for name, value in capabilities.items()}["CapEff"] == 0
    for line in ("mount -t tmpfs x /sdcard", "/usr/bin/mount -o remount,rw /usr", "chown 0 /sdcard", "hostname x"):
        assert (await computer.run(line))[0] != 0, line


async def test_what_a_line_leaves_running_ends_with_the_phone(tmp_path: Path) -> None:
    mark = f"sleep 9{os.getpid()}"
    async with device(tmp_path) as lab, Computer(lab.port) as computer:
        await computer.run(f"{mark} >/dev/null 2>&1 </dev/null & setsid {mark} >/dev/null 2>&1 </dev/null &")
        while _running(mark) < 2:
            await computer.run("echo wait | cat")
    while _running(mark):
        pass


def _running(mark: str) -> int:
    count = 0
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            count += each.read_bytes().replace(b"\0", b" ").strip() == mark.encode()
        except OSError:
            continue
    return count


async def test_a_phone_that_was_killed_leaves_nothing_beside_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (temporary := tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    phone = tmp_path / ("a-folder-whose-name-is-longer-than-a-socket-may-have-" * 3)
    left = phone / ".container/system/bin/left"
    left.parent.mkdir(parents=True)
    left.touch()
    async with device(phone) as lab, Computer(lab.port) as computer:
        assert await computer.run("ls /system/bin/left /.container; input tap 1 2 | cat") == (
            0,
            b"",
            b"ls: cannot access '/system/bin/left': No such file or directory\n"
            b"ls: cannot access '/.container': No such file or directory\n",
        )
        assert lab.commands.calls == [["input", "tap", "1", "2"]]
        assert not os.listdir(temporary)
    assert not (phone / ".container").exists()
