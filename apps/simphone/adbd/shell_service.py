"""`shell:` and `exec:`: a command line, its streams and its exit code over one stream of the connection."""

from __future__ import annotations

import asyncio
import re
import struct
from typing import ClassVar

from simphone.adbd.stream import Stream
from simphone.commands import CommandIO
from simphone.shell.runner import ShellRunner
from simphone.shell.terminal import Terminal

STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN, WINDOW_SIZE = range(6)
FRAME = struct.Struct("<BI")  # what it is, how many bytes follow
_SIZE = re.compile(rb"(\d{1,4})x(\d{1,4}),")


class PlainStreams:
    """Version 1: standard output and error mixed, as they come."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    async def read(self, n: int = -1) -> bytes:
        if n >= 0:
            return await self._stream.read(n)
        data = bytearray()
        while part := await self._stream.read():
            data += part
        return bytes(data)

    async def out(self, data: bytes) -> None:
        await self._stream.write(data)

    err = out


class FramedStreams:
    """Version 2: each piece in a frame that says what it belongs to."""

    def __init__(self, stream: Stream, terminal: Terminal | None) -> None:
        self._stream = stream
        self._terminal = terminal
        self._left = 0  # bytes of standard input that the present frame has yet
        self._at_end = False

    async def read(self, n: int = -1) -> bytes:
        if n >= 0:
            return await self._some(n)
        data = bytearray()
        while part := await self._some(1 << 20):
            data += part
        return bytes(data)

    async def _some(self, n: int) -> bytes:
        try:
            while not self._left and not self._at_end:
                kind, length = FRAME.unpack(await self._stream.exactly(FRAME.size))
                if kind == STDIN:
                    self._left = length
                else:
                    self._told(kind, await self._stream.exactly(min(length, self._stream.max_data)))
        except EOFError:
            self._at_end = True
        if self._at_end:
            return b""
        data = await self._stream.read(min(n, self._left))
        self._left -= len(data)
        return data

    def _told(self, kind: int, data: bytes) -> None:
        if kind == CLOSE_STDIN:
            self._at_end = True
        elif kind == WINDOW_SIZE and self._terminal and (size := _SIZE.match(data)):
            self._terminal.resize(int(size[1]), int(size[2]))

    async def out(self, data: bytes) -> None:
        await self._framed(STDOUT, data)

    async def err(self, data: bytes) -> None:
        await self._framed(STDERR, data)

    async def exit(self, code: int) -> None:
        await self._framed(EXIT, bytes([code & 0xFF]))

    async def _framed(self, kind: int, data: bytes) -> None:
        room = max(1, self._stream.max_data - FRAME.size)
        for start in range(0, len(data), room):
            part = data[start : start + room]
            await self._stream.write(FRAME.pack(kind, len(part)) + part)


class PlainShell:
    """`shell:LINE`. A computer that closes the stream ends the command."""

    after_close_s: ClassVar[float] = 0

    def __init__(self, runner: ShellRunner, line: str, terminal: Terminal | None = None) -> None:
        self._runner = runner
        self._line = line
        self._terminal = terminal

    async def serve(self, stream: Stream) -> None:
        stream.disturb(self._line)
        await self._run(stream, PlainStreams(stream))

    async def _run(self, stream: Stream, io: CommandIO) -> int:
        running = asyncio.ensure_future(self._runner.run(self._line, io, self._terminal))
        closed = asyncio.ensure_future(stream.gone())
        try:
            await asyncio.wait({running, closed}, return_when=asyncio.FIRST_COMPLETED)
            if not running.done():
                await asyncio.wait({running}, timeout=self.after_close_s)
        finally:
            closed.cancel()
            if running.cancel():
                await asyncio.wait({running})
        if running.cancelled():
            raise ConnectionAbortedError
        return running.result()


class Exec(PlainShell):
    """`exec:LINE`. When the computer closes the stream, that is the end of the command's input, and it has a moment to
    do something with it: `adb exec-in` has no other way to say so."""

    after_close_s = 5


class FramedShell(PlainShell):
    """`shell,v2:LINE`."""

    async def serve(self, stream: Stream) -> None:
        stream.disturb(self._line)
        io = FramedStreams(stream, self._terminal)
        await io.exit(await self._run(stream, io))
