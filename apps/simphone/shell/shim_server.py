"""The phone's end for simulated commands that are called inside the container; shim.py says how."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

from simphone.commands import CommandIO

MAX_FRAME = 1 << 20  # bytes; more is not from a shim
_OUT = 1 << 16

Run = Callable[[Sequence[str], CommandIO], Awaitable[int]]


class ShimServer:
    """`run` answers each call, and is cancelled when the shim is gone."""

    def __init__(self, path: Path, run: Run) -> None:
        self._path = path
        self._run = run
        self._server: asyncio.Server | None = None
        self._calls: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        self._path.unlink(missing_ok=True)
        folder = os.open(self._path.parent, os.O_PATH | os.O_DIRECTORY)
        try:  # by its descriptor: the name of a socket has at most 107 bytes
            short = f"/proc/self/fd/{folder}/{self._path.name}"
            self._server = await asyncio.start_unix_server(self._connected, short)
        finally:
            os.close(folder)

    async def stop(self) -> None:
        if self._server:
            self._server.close()
        for each in self._calls:
            each.cancel()
        if self._calls:
            await asyncio.wait(self._calls)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            kind, data = await _frame(reader)
            if kind == b"A":
                await self._call(data.decode("utf-8", "surrogateescape").split("\0"), _ShimStreams(reader, writer))
        writer.close()

    async def _call(self, argv: list[str], io: _ShimStreams) -> None:
        call = asyncio.ensure_future(self._run(argv, io))
        listening = asyncio.ensure_future(io.listen())
        try:
            await asyncio.wait({call, listening}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            listening.cancel()
            if call.cancel():
                await asyncio.wait({call})
        if not call.cancelled():
            await io.send(b"X", bytes([call.result() & 0xFF]))


class _ShimStreams:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._input: asyncio.Queue[bytes] = asyncio.Queue()

    async def listen(self) -> None:
        """Until the shim is gone."""
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                kind, data = await _frame(self._reader)
                if kind == b"I":
                    self._input.put_nowait(data)

    async def read(self, n: int = -1) -> bytes:
        if n >= 0:
            return await self._some(n)
        data = bytearray()
        while part := await self._some(MAX_FRAME // 2):
            data += part
        return bytes(data)

    async def _some(self, n: int) -> bytes:
        await self.send(b"R", min(n, MAX_FRAME // 2).to_bytes(4, "little"))
        return await self._input.get()

    async def out(self, data: bytes) -> None:
        await self._pieces(b"O", data)

    async def err(self, data: bytes) -> None:
        await self._pieces(b"E", data)

    async def _pieces(self, kind: bytes, data: bytes) -> None:
        for start in range(0, len(data), _OUT):
            await self.send(kind, data[start : start + _OUT])

    async def send(self, kind: bytes, data: bytes) -> None:
        self._writer.write(kind + len(data).to_bytes(4, "little") + data)
        await self._writer.drain()


async def _frame(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readexactly(5)
    length = int.from_bytes(head[1:], "little")
    if length > MAX_FRAME:
        raise ConnectionAbortedError
    return head[:1], await reader.readexactly(length)
