"""One stream of a connection, with flow control both ways, and the faults of the link."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Protocol

from simphone.adbd.packets import CLSE, OKAY, WRTE, Packet
from simphone.faults import Faults

MAX_WAITING = 4 << 20  # bytes that came without being asked for; a computer that keeps to the protocol sends one packet


class Link(Protocol):
    """What a stream needs of the connection that carries it."""

    faults: Faults
    max_data: int

    async def send(self, packet: Packet) -> None: ...

    def reply(self, packet: Packet) -> None: ...

    def drop(self) -> None: ...

    def take_down(self, seconds: float) -> None: ...


class StreamClosed(ConnectionError):
    """The computer has closed the stream, or the connection is gone."""


class Stream:
    """The end at the service. One task reads and one or more write."""

    def __init__(self, local: int, remote: int, link: Link, forget: Callable[[], object]) -> None:
        self.local = local
        self.remote = remote
        self._link = link
        self._forget = forget
        self._waiting: deque[bytes] = deque()
        self._rest = b""
        self._arrived = asyncio.Event()
        self._ended = asyncio.Event()
        self._may_write = asyncio.Semaphore(1)
        self._mute = False
        self._cut_at_end = False
        self._cut_after: int | None = None  # bytes

    # What the service does

    @property
    def max_data(self) -> int:
        """Bytes that one packet carries on this connection."""
        return self._link.max_data

    async def read(self, n: int = MAX_WAITING) -> bytes:
        """Up to `n` bytes, as they came; b"" at the end."""
        if not self._rest:
            self._rest = await self._next()
        data, self._rest = self._rest[:n], self._rest[n:]
        return data

    async def exactly(self, n: int) -> bytes:
        """`n` bytes. Raises EOFError if the stream ends before."""
        data = bytearray()
        while len(data) < n:
            part = await self.read(n - len(data))
            if not part:
                raise EOFError
            data += part
        return bytes(data)

    async def _next(self) -> bytes:
        while not self._waiting:
            if self._ended.is_set():
                return b""
            self._arrived.clear()
            await self._arrived.wait()
        data = self._waiting.popleft()
        if not self._ended.is_set():
            self._link.reply(Packet(OKAY, self.local, self.remote))
        await self._count(len(data))
        return data

    async def write(self, data: bytes) -> None:
        """Send it all; waits until the computer took each packet before it. Raises StreamClosed."""
        if self._mute:
            return
        for start in range(0, len(data), self.max_data):
            part = data[start : start + self.max_data]
            if self._cut_after is not None:
                part = part[: self._cut_after]
            if part:
                await self._may_write.acquire()
                self._check()
                await self._link.send(Packet(WRTE, self.local, self.remote, part))
            await self._count(len(part))

    async def close(self) -> None:
        """The end of the answer, and of the stream."""
        await self.answered()
        if self._mute:
            await self._ended.wait()
        if not self._ended.is_set():
            self.end()
            await self._link.send(Packet(CLSE, self.local, self.remote))

    async def gone(self) -> None:
        """Waits until the computer closes the stream."""
        await self._ended.wait()

    # Faults

    def disturb(self, happening: str) -> None:
        """Let the link's faults act on this. Raises StreamClosed if nothing is to happen any more."""
        take = self._link.faults.take
        if fault := take("link_down", happening):
            self._link.take_down(fault.seconds)
            raise StreamClosed
        if fault := take("link_drop", happening):
            self._cut_after = fault.bytes
        if take("no_answer", happening):
            self._mute = True
        if take("answer_lost", happening):
            self._mute = self._cut_at_end = True

    async def answered(self) -> None:
        """The end of one answer: a cut that is due comes now at the latest. Raises StreamClosed if it came."""
        if self._cut_at_end or self._cut_after is not None:
            await self._cut()

    async def _count(self, size: int) -> None:
        if self._cut_after is not None:
            self._cut_after -= size
            if self._cut_after <= 0:
                await self._cut()

    async def _cut(self) -> None:
        if not self._ended.is_set():
            await self._may_write.acquire()  # so that what was sent has arrived
            self._link.drop()
        raise StreamClosed

    # What the connection does

    def received(self, data: bytes) -> None:
        if sum(map(len, self._waiting)) + len(data) > MAX_WAITING:
            self._link.drop()
            return
        self._waiting.append(data)
        self._arrived.set()

    def acknowledged(self) -> None:
        if self._may_write.locked():
            self._may_write.release()

    def end(self) -> None:
        """Nothing can be written any more; what has arrived can be read."""
        self._ended.set()
        self._arrived.set()
        self._may_write.release()
        self._forget()

    def _check(self) -> None:
        if self._ended.is_set():
            self._may_write.release()
            raise StreamClosed
