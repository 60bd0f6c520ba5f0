"""Files over the wire, in the requests of both versions."""

from __future__ import annotations

import asyncio
import os
import struct
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from adb_lab import Lab, device
from adb_wire import Computer, Conversation
from hypothesis import given, settings
from hypothesis import strategies as st

from simphone.faults import Fault

CONTENT = bytes(range(256)) * 3000


@pytest.fixture
async def lab(tmp_path: Path) -> AsyncIterator[Lab]:
    async with device(tmp_path) as lab:
        yield lab


def request(what: bytes, path: str) -> bytes:
    return what + struct.pack("<I", len(path.encode())) + path.encode()


def pieces(data: bytes, size: int, time: int = 1_700_000_000) -> bytes:
    cut = [data[start : start + size] for start in range(0, len(data), size)]
    return b"".join(b"DATA" + struct.pack("<I", len(each)) + each for each in cut) + b"DONE" + struct.pack("<I", time)


async def send(sync: Conversation, path: str, data: bytes, *, mode: int = 0o100644, size: int = 65536) -> str:
    """ "" or what went wrong."""
    await sync.write(request(b"SEND", f"{path},{mode}") + pieces(data, size))
    what, length = struct.unpack("<4sI", await sync.exactly(8))
    return "" if what == b"OKAY" else (await sync.exactly(length)).decode()


async def receive(sync: Conversation, path: str) -> bytes:
    await sync.write(request(b"RECV", path))
    data = b""
    while True:
        what, length = struct.unpack("<4sI", await sync.exactly(8))
        if what == b"DONE":
            return data
        part = await sync.exactly(length)
        if what == b"FAIL":
            raise FileNotFoundError(part.decode())
        assert length <= 65536
        data += part


async def test_a_file_goes_there_and_back(lab: Lab) -> None:
    async with Computer(lab.port) as computer:
        sync = await computer.open("sync:")
        assert await send(sync, "/sdcard/new/folder/a, b.bin", CONTENT) == ""
        assert await receive(sync, "/storage/emulated/0/new/folder/a, b.bin") == CONTENT
        await sync.write(request(b"QUIT", ""))
        assert await sync.read() == b""
    host = lab.files.root / "storage/emulated/0/new/folder/a, b.bin"
    assert host.read_bytes() == CONTENT
    assert host.stat().st_mtime == 1_700_000_000


@settings(max_examples=25)
@given(data=st.binary(max_size=200), size=st.integers(1, 40), max_data=st.sampled_from([7, 64, 4096]))
def test_pieces_and_packets_of_any_size_are_the_same_file(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, size: int, max_data: int
) -> None:
    async def there_and_back() -> None:
        folder = tmp_path_factory.getbasetemp() / "pieces"
        async with device(folder) as lab, Computer(lab.port, max_data=max_data) as computer:
            sync = await computer.open("sync:")
            assert await send(sync, "/sdcard/a", data, size=size) == ""
            assert await receive(sync, "/sdcard/a") == data

    asyncio.run(there_and_back())


async def test_stat_in_both_versions(lab: Lab) -> None:
    async with Computer(lab.port) as computer:
        sync = await computer.open("sync:")
        await send(sync, "/data/local/tmp/a", b"abc", mode=0o100751)
        await send(sync, "/data/local/tmp/link", b"a", mode=0o120777)
        await sync.write(request(b"STAT", "/data/local/tmp/a"))
        assert await sync.exactly(16) == b"STAT" + struct.pack("<III", 0o100751, 3, 1_700_000_000)
        await sync.write(request(b"STAT", "/data/local/tmp/none"))
        assert await sync.exactly(16) == b"STAT" + bytes(12)
        for what, path, error, mode, size in (
            (b"STA2", "/data/local/tmp/a", 0, 0o100751, 3),
            (b"STA2", "/data/local/tmp/link", 0, 0o100751, 3),
            (b"LST2", "/data/local/tmp/link", 0, 0o120777, 1),
            (b"STA2", "/data/local/tmp/none", 2, 0, 0),
            (b"STA2", "/data/data", 13, 0, 0),
        ):
            await sync.write(request(what, path))
            answer = struct.unpack("<4sIQQIIIIQqqq", await sync.exactly(72))
            assert (answer[0], answer[1], answer[4], answer[8]) == (what, error, mode, size)


async def test_list_in_both_versions(lab: Lab) -> None:
    names = ["a", "é 你好", "folder"]
    async with Computer(lab.port) as computer:
        sync = await computer.open("sync:")
        for name in names[:2]:
            await send(sync, f"/data/local/tmp/{name}", b"abc")
        await send(sync, "/data/local/tmp/folder/b", b"")
        for what, entry, length in ((b"LIST", b"DENT", 16), (b"LIS2", b"DNT2", 72)):
            found = []
            await sync.write(request(what, "/data/local/tmp"))
            while (head := await sync.exactly(length + 4))[:4] != b"DONE":
                assert head[:4] == entry
                found.append((await sync.exactly(struct.unpack("<I", head[-4:])[0])).decode())
            assert head[4:] == bytes(length)
            assert sorted(found) == sorted(names)


async def test_what_is_not_allowed_or_not_there_is_said(lab: Lab) -> None:
    async with Computer(lab.port) as computer:
        for path, says in (
            ("/sdcard/none", "No such file"),
            ("/sdcard", "Is a directory"),
            ("/etc/passwd", "Permission denied"),
            ("/sdcard/../../../../etc/passwd", "Permission denied"),
        ):
            sync = await computer.open("sync:")
            with pytest.raises(FileNotFoundError, match=says):
                await receive(sync, path)
        for path, says in (("/system/a", "Permission denied"), ("/sdcard/Music", "Is a directory")):
            sync = await computer.open("sync:")
            assert says in await send(sync, path, CONTENT)
            assert await send(sync, "/sdcard/after", b"it goes on") == ""


async def test_links_on_shared_storage_are_refused(lab: Lab) -> None:
    async with Computer(lab.port) as computer:
        assert "not permitted" in await send(await computer.open("sync:"), "/sdcard/a", b"b", mode=0o120777)


async def test_a_file_that_breaks_off_is_not_kept(lab: Lab) -> None:
    async with Computer(lab.port) as computer:
        sync = await computer.open("sync:")
        await sync.write(request(b"SEND", "/sdcard/a,33188") + pieces(CONTENT, 65536)[:200_000])
        host = lab.files.host("/sdcard/a")
        assert host.exists()
        sync.close()
        assert await sync.read() == b""
    await lab.daemon.stop()
    assert not host.exists()


@pytest.mark.parametrize("nonsense", [b"WHAT\0\0\0\0", request(b"STAT", "x" * 2000), b"SEND\4\0\0\0/a,1EVIL\0\0\0\0"])
async def test_nonsense_ends_the_stream_and_only_that(lab: Lab, nonsense: bytes) -> None:
    async with Computer(lab.port) as computer:
        assert (await computer.ask("sync:", nonsense))[:4] == b"FAIL"
        assert await computer.ask("shell:echo on") == b"on\n"


async def test_storage_may_be_full(lab: Lab) -> None:
    lab.faults.add(Fault("storage_full", at="sync:send /sdcard/*"))
    async with Computer(lab.port) as computer:
        sync = await computer.open("sync:")
        assert await send(sync, "/data/local/tmp/a", CONTENT) == ""
        assert "No space left on device" in await send(sync, "/sdcard/a", CONTENT)
        assert await send(sync, "/sdcard/a", CONTENT) == ""
    assert lab.faults.acted == ["storage_full sync:send /sdcard/a"]


@pytest.mark.parametrize("moment", ["recv", "send"])
async def test_the_link_drops_in_the_middle_of_a_transfer(lab: Lab, moment: str) -> None:
    path = lab.files.host("/sdcard/a")
    path.write_bytes(CONTENT if moment == "recv" else b"")
    lab.faults.add(Fault("link_drop", at=f"sync:{moment} /sdcard/a", bytes=100_000))
    async with Computer(lab.port) as computer:
        sync = await computer.open("sync:")
        with pytest.raises(ConnectionResetError):
            await (send(sync, "/sdcard/a", CONTENT) if moment == "send" else receive(sync, "/sdcard/a"))
    await lab.daemon.stop()
    assert path.exists() is (moment == "recv")


async def test_the_answer_to_a_transfer_is_lost_though_it_was_done(lab: Lab) -> None:
    lab.faults.add(Fault("answer_lost", at="sync:send *"))
    async with Computer(lab.port) as computer:
        with pytest.raises(ConnectionResetError):
            await send(await computer.open("sync:"), "/sdcard/a", CONTENT)
    assert lab.files.host("/sdcard/a").read_bytes() == CONTENT


async def test_a_pipe_in_the_shell_s_folder_holds_nothing_up(lab: Lab) -> None:
    os.mkfifo(lab.files.host("/data/local/tmp/pipe"))
    async with Computer(lab.port) as computer:
        assert await receive(await computer.open("sync:"), "/data/local/tmp/pipe") == b""
        assert "No such device" in await send(await computer.open("sync:"), "/data/local/tmp/pipe", b"a")
