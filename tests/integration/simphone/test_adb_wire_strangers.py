"""Computers that do not keep to the protocol."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Self

import pytest
from adb_lab import PICTURE, Lab, device
from adb_wire import Computer
from hypothesis import given, settings
from hypothesis import strategies as st

from simphone.adbd import connection


@pytest.fixture
async def lab(tmp_path: Path) -> AsyncIterator[Lab]:
    async with device(tmp_path) as lab:
        yield lab


class Logged(logging.Handler):
    """What is logged as an error meanwhile, below this name or by asyncio."""

    def __init__(self, name: str) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []
        self._loggers = [logging.getLogger(name), logging.getLogger("asyncio")]

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())

    def __enter__(self) -> Self:
        for each in self._loggers:
            each.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._loggers:
            each.removeHandler(self)


@pytest.mark.parametrize("nonsense", [b"GET / HTTP/1.1\r\n\r\n" + bytes(100), b"", b"CNXN", bytes(3000)])
async def test_a_stranger_does_no_harm(lab: Lab, nonsense: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", lab.port)
    writer.write(nonsense)
    writer.write_eof()
    with suppress(ConnectionResetError):
        assert await reader.read() == b""
    writer.close()
    async with Computer(lab.port) as computer:
        assert await computer.ask("shell:echo on") == b"on\n"


async def test_nothing_opens_before_the_greeting(lab: Lab) -> None:
    computer = Computer(lab.port)
    await computer.dial()
    computer.send(b"OPEN", 1, 0, b"shell:input tap 1 2\0")
    computer.send(b"CNXN", computer.version, 4096, b"host::")
    assert (await computer.receive())[0] == b"CNXN"
    computer.writer.close()
    assert lab.commands.calls == []


async def test_packets_for_streams_that_there_are_not_are_passed_over(lab: Lab) -> None:
    async with Computer(lab.port) as computer:
        held = await computer.open("exec:screencap -p")
        for command in (b"OKAY", b"WRTE", b"CLSE"):
            computer.send(command, 77, 99, b"x")
            computer.send(command, 99, held.remote, b"x")
        computer.send(b"WHAT", 1, 2)
        assert await held.rest() == PICTURE


async def test_streams_without_number_are_refused_and_others_served(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MAX_STREAMS", 3)
    async with Computer(lab.port) as computer, Computer(lab.port) as other:
        held = [await computer.open("shell:logcat") for _ in range(3)]
        with pytest.raises(ConnectionRefusedError):
            await computer.open("shell:echo on")
        assert await other.ask("shell:echo on") == b"on\n"
        held[0].close()
        await held[0].rest()
        await lab.commands.ended.wait()
        assert await computer.ask("shell:echo on") == b"on\n"


packets = st.tuples(
    st.sampled_from([b"CNXN", b"AUTH", b"OPEN", b"OKAY", b"WRTE", b"CLSE", b"STLS", b"WHAT"]),
    st.integers(0, 3) | st.just(0x01000001),
    st.integers(0, 3),
    st.sampled_from([b"shell:logcat\0", b"shell,v2:am count\0", b"sync:\0", b"exec:screencap\0", b"\xff:\0"])
    | st.sampled_from([b"SEND\4\0\0\0/a,1", b"STAT\1\0\0\0/", b"\0\3\0\0\0abc", b"\4\0\0\0\0"])
    | st.binary(max_size=20),
)


@settings(max_examples=60)
@given(st.lists(packets, max_size=25))
def test_no_packets_in_any_order_do_harm(
    tmp_path_factory: pytest.TempPathFactory, sent: list[tuple[bytes, int, int, bytes]]
) -> None:
    async def talk() -> None:
        async with device(tmp_path_factory.getbasetemp() / "packets") as lab, Computer(lab.port) as computer:
            for each in sent:
                computer.send(*each)
            await computer.writer.drain()
            async with Computer(lab.port) as other:
                assert await other.ask("shell:echo on") == b"on\n"

    with Logged("simphone") as logged:
        asyncio.run(talk())
    assert logged.messages == []
