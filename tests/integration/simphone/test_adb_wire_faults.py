"""The faults of the link, each at its moment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from adb_lab import PICTURE, Lab, device
from adb_wire import Computer, Conversation

from simphone.faults import Fault


@pytest.fixture
async def lab(tmp_path: Path) -> AsyncIterator[Lab]:
    async with device(tmp_path) as lab:
        yield lab


async def until_cut(conversation: Conversation) -> bytes:
    data = b""
    with pytest.raises(ConnectionResetError):
        while part := await conversation.read():
            data += part
    return data


async def test_the_link_drops_after_so_many_bytes(lab: Lab) -> None:
    lab.faults.add(Fault("link_drop", at="screencap*", bytes=300_000))
    async with Computer(lab.port) as computer:
        assert await computer.ask("shell:input tap 1 2") == b""
        assert await until_cut(await computer.open("exec:screencap -p")) == PICTURE[:300_000]
    async with Computer(lab.port) as computer:
        assert await computer.ask("exec:screencap -p") == PICTURE
    assert lab.faults.acted == ["link_drop screencap -p"]


@pytest.mark.parametrize("count", [0, 10_000_000])
async def test_the_link_drops_at_the_first_byte_or_else_at_the_end(lab: Lab, count: int) -> None:
    lab.faults.add(Fault("link_drop", bytes=count))
    async with Computer(lab.port) as computer:
        assert await until_cut(await computer.open("shell,v2:screencap -p")) == b"" if not count else PICTURE


async def test_the_link_drops_in_the_middle_of_what_is_sent(lab: Lab) -> None:
    lab.faults.add(Fault("link_drop", at="cmd package install*", bytes=100_000))
    async with Computer(lab.port) as computer:
        conversation = await computer.open("exec:cmd package install -S 1000000")
        with pytest.raises(ConnectionResetError):
            await conversation.write(bytes(1_000_000))
            await conversation.rest()
    assert lab.commands.installed == []


async def test_every_stream_of_a_dropped_link_ends(lab: Lab) -> None:
    lab.faults.add(Fault("link_drop", at="screencap*"))
    async with Computer(lab.port) as computer:
        other = await computer.open("shell:logcat")
        await other.read()
        await until_cut(await computer.open("exec:screencap -p"))
        await until_cut(other)
    await lab.commands.ended.wait()


async def test_an_answer_is_lost_though_the_command_ran(lab: Lab) -> None:
    lab.faults.add(Fault("answer_lost", at="input tap *"))
    async with Computer(lab.port) as computer:
        assert await until_cut(await computer.open("shell,v2:input tap 1 2")) == b""
    assert lab.commands.calls == [["input", "tap", "1", "2"]]


async def test_no_answer_ever_comes_though_the_command_ran(lab: Lab) -> None:
    lab.faults.add(Fault("no_answer", at="screencap*"))
    async with Computer(lab.port) as computer:
        silent = await computer.open("shell,v2:screencap -p")
        waiting = asyncio.ensure_future(silent.read())
        for number in range(5):
            assert await computer.ask(f"shell:echo {number}") == b"%d\n" % number
        assert lab.commands.calls == [["screencap", "-p"]]
        assert not waiting.done()
        silent.close()
        assert await waiting == b""
        assert await computer.ask("exec:screencap -p") == PICTURE


async def test_a_phone_that_is_down_refuses_connections(lab: Lab) -> None:
    lab.faults.add(Fault("link_down", at="input *", seconds=3600))
    async with Computer(lab.port) as computer:
        await until_cut(await computer.open("shell:input tap 1 2"))
    assert lab.commands.calls == []
    for _ in range(3):
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", lab.port)


async def test_a_phone_that_was_down_comes_back_at_the_same_port(lab: Lab) -> None:
    lab.faults.add(Fault("link_down", at="connect", seconds=0.1))
    with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
        await Computer(lab.port).__aenter__()
    while True:
        try:
            async with Computer(lab.port) as computer:
                assert await computer.ask("shell:echo on") == b"on\n"
            break
        except ConnectionRefusedError:
            await asyncio.sleep(0.01)
    assert lab.faults.acted == ["link_down connect"]


async def test_the_port_is_no_other_program_s_while_the_phone_is_down(lab: Lab) -> None:
    port = lab.port
    lab.daemon.take_down(3600)
    with pytest.raises(OSError):
        await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", port, reuse_address=False)


async def test_a_phone_may_never_answer_a_greeting(lab: Lab) -> None:
    lab.faults.add(Fault("no_answer", at="connect"))
    computer = Computer(lab.port)
    await computer.dial()
    computer.send(b"CNXN", computer.version, 4096, b"host::")
    answer = asyncio.ensure_future(computer.receive())
    async with Computer(lab.port) as other:
        assert await other.ask("shell:echo on") == b"on\n"
    assert not answer.done()
    answer.cancel()
    computer.writer.transport.abort()


async def test_links_can_be_dropped_by_hand(lab: Lab) -> None:
    async with Computer(lab.port) as computer:
        conversation = await computer.open("shell:logcat")
        await conversation.read()
        lab.daemon.drop_links()
        await until_cut(conversation)
    async with Computer(lab.port) as computer:
        assert await computer.ask("shell:echo on") == b"on\n"
