"""Shell protocol version 2, whatever pieces it arrives in."""

from __future__ import annotations

import asyncio
import struct
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from simphone.adbd.packets import CLSE, OKAY, WRTE, Packet
from simphone.adbd.shell_service import FramedStreams
from simphone.adbd.stream import Stream
from simphone.faults import Faults
from simphone.shell.terminal import Terminal


class Tape:
    """A link that keeps what is sent, and takes each packet of data at once."""

    def __init__(self, max_data: int = 4096) -> None:
        self.faults = Faults()
        self.max_data = max_data
        self.sent: list[Packet] = []
        self.dropped = False
        self.stream = Stream(1, 2, self, lambda: None)

    async def send(self, packet: Packet) -> None:
        self.reply(packet)

    def reply(self, packet: Packet) -> None:
        self.sent.append(packet)
        if packet.command == WRTE:
            self.stream.acknowledged()

    def drop(self) -> None:
        self.dropped = True

    def take_down(self, seconds: float) -> None:
        self.dropped = True

    @property
    def data(self) -> bytes:
        return b"".join(each.data for each in self.sent if each.command == WRTE)


def frame(kind: int, data: bytes) -> bytes:
    return struct.pack("<BI", kind, len(data)) + data


def frames(data: bytes) -> list[tuple[int, bytes]]:
    found = []
    while data:
        kind, length = struct.unpack("<BI", data[:5])
        found.append((kind, data[5 : 5 + length]))
        data = data[5 + length :]
    return found


def cut(data: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({min(each, len(data)) for each in places} | {0, len(data)})
    return [data[start:end] for start, end in pairwise(ends)]


@given(
    pieces=st.lists(st.binary(max_size=50), max_size=6),
    places=st.lists(st.integers(0, 400), max_size=12),
    n=st.integers(1, 30),
)
def test_standard_input_is_what_was_sent_in_any_pieces(pieces: list[bytes], places: list[int], n: int) -> None:
    async def reading() -> None:
        tape = Tape()
        sent = b"".join(frame(0, each) + frame(5, b"50x132,0x0") for each in pieces) + frame(3, b"") + frame(4, b"")
        arrived = cut(sent, places)
        for each in arrived:
            tape.stream.received(each)
        io = FramedStreams(tape.stream, terminal := Terminal("xterm"))
        read = []
        while data := await io.read(n):
            read.append(data)
        assert all(len(each) <= n for each in read)
        assert b"".join(read) == b"".join(pieces)
        assert await io.read(-1) == b""
        assert (terminal.rows, terminal.columns) == ((50, 132) if pieces else (24, 80))
        assert tape.sent == [Packet(OKAY, 1, 2)] * len(arrived)

    asyncio.run(reading())


def test_standard_input_ends_where_the_computer_closes_the_stream() -> None:
    async def reading() -> bytes:
        tape = Tape()
        tape.stream.received(frame(0, b"abc") + frame(0, b"de") + b"\0\x05\0")
        tape.stream.end()
        return await FramedStreams(tape.stream, None).read()

    assert asyncio.run(reading()) == b"abcde"


@given(
    outputs=st.lists(st.tuples(st.booleans(), st.binary(max_size=100)), max_size=8),
    code=st.integers(0, 255),
    max_data=st.sampled_from([6, 7, 20, 4096]),
)
def test_outputs_and_exit_code_arrive_apart_and_whole(
    outputs: list[tuple[bool, bytes]], code: int, max_data: int
) -> None:
    async def writing() -> Tape:
        tape = Tape(max_data)
        io = FramedStreams(tape.stream, None)
        for is_error, data in outputs:
            await (io.err if is_error else io.out)(data)
        await io.exit(code)
        await tape.stream.close()
        return tape

    tape = asyncio.run(writing())
    got = frames(tape.data)
    assert got.pop() == (3, bytes([code]))
    for kind in (1, 2):
        assert b"".join(data for each, data in got if each == kind) == b"".join(
            data for is_error, data in outputs if is_error == (kind == 2)
        )
    assert all(len(each.data) <= max_data for each in tape.sent)
    assert tape.sent[-1] == Packet(CLSE, 1, 2)


def test_nothing_is_sent_before_the_computer_took_the_packet_before() -> None:
    async def writing() -> None:
        tape = Tape(max_data=10)
        tape.stream.acknowledged = lambda: None  # type: ignore[method-assign]
        wrote = asyncio.ensure_future(tape.stream.write(bytes(25)))
        for expected in (1, 2, 3):
            for _ in range(5):
                await asyncio.sleep(0)
            assert len(tape.sent) == expected
            Stream.acknowledged(tape.stream)
        await wrote

    asyncio.run(writing())


def test_a_computer_that_floods_a_stream_is_cut_off() -> None:
    async def flooding() -> bool:
        tape = Tape()
        for _ in range(20):
            tape.stream.received(bytes(256 * 1024))
        return tape.dropped

    assert asyncio.run(flooding())


def test_a_writer_that_waits_learns_that_the_stream_is_closed() -> None:
    async def writing() -> list[BaseException | None]:
        tape = Tape(max_data=10)
        tape.stream.acknowledged = lambda: None  # type: ignore[method-assign]
        writers = [asyncio.ensure_future(tape.stream.write(bytes(20))) for _ in range(3)]
        await asyncio.sleep(0)
        tape.stream.end()
        return list(await asyncio.gather(*writers, return_exceptions=True))

    assert all(isinstance(each, ConnectionError) for each in asyncio.run(writing()))
