"""The computer's end of ADB for tests: written from the protocol's description, with none of the phone's code."""

from __future__ import annotations

import asyncio
import struct
from collections import defaultdict
from collections.abc import Callable
from types import TracebackType
from typing import Self

STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN, WINDOW_SIZE = range(6)


def frame(kind: int, data: bytes) -> bytes:
    """Of the shell protocol's version 2."""
    return struct.pack("<BI", kind, len(data)) + data


def frames(data: bytes) -> list[tuple[int, bytes]]:
    found = []
    while data:
        kind, length = struct.unpack("<BI", data[:5])
        found.append((kind, data[5 : 5 + length]))
        data = data[5 + length :]
    return found


class Computer:
    """One connection. `checked` speaks the older version, with checksums."""

    def __init__(self, port: int, *, checked: bool = False, max_data: int = 1 << 20) -> None:
        self.port = port
        self.version = 0x01000000 if checked else 0x01000001
        self.max_data = max_data
        self.banner = b""
        self._last = 0
        self._inboxes: defaultdict[int, asyncio.Queue[tuple[bytes, int, bytes]]] = defaultdict(asyncio.Queue)

    async def __aenter__(self) -> Self:
        await self.dial()
        self.send(b"CNXN", self.version, self.max_data, b"host::features=shell_v2\0")
        command, version, agreed, self.banner = await self.receive()
        assert command == b"CNXN", command
        assert version == self.version
        self.max_data = min(agreed, self.max_data)
        self.listen()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listening.cancel()
        self.writer.transport.abort()

    async def dial(self) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 21)

    def listen(self) -> None:
        self._listening = asyncio.ensure_future(self._listen())

    def send(self, command: bytes, arg0: int, arg1: int, data: bytes = b"") -> None:
        checksum = sum(data) if self.version == 0x01000000 else 0
        magic = int.from_bytes(command, "little") ^ 0xFFFFFFFF
        self.writer.write(struct.pack("<4s5I", command, arg0, arg1, len(data), checksum, magic) + data)

    async def receive(self) -> tuple[bytes, int, int, bytes]:
        command, arg0, arg1, length, checksum, magic = struct.unpack("<4s5I", await self.reader.readexactly(24))
        assert magic == int.from_bytes(command, "little") ^ 0xFFFFFFFF
        data = await self.reader.readexactly(length)
        assert checksum == (sum(data) if self.version == 0x01000000 else 0)
        return command, arg0, arg1, data

    async def _listen(self) -> None:
        try:
            while True:
                command, arg0, arg1, data = await self.receive()
                self._inboxes[arg1].put_nowait((command, arg0, data))
        except (asyncio.IncompleteReadError, OSError):
            for each in self._inboxes.values():
                each.put_nowait((b"", 0, b""))

    async def open(self, service: str) -> Conversation:
        """Raises ConnectionRefusedError where the device does not know the service."""
        local = self._last = self._last + 1
        self.send(b"OPEN", local, 0, service.encode() + b"\0")
        command, remote, _ = await self._inboxes[local].get()
        if command != b"OKAY":
            raise ConnectionRefusedError(service)
        return Conversation(self, local, remote, self._inboxes[local])

    async def run(self, line: str, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
        """Exit code, standard output and standard error, as the shell protocol's version 2 has them."""
        conversation = await self.open(f"shell,v2,raw:{line}")
        conversation.post(frame(STDIN, stdin) + frame(CLOSE_STDIN, b""))
        found = frames(await conversation.rest())
        kind, code = found.pop()
        assert kind == EXIT
        return code[0], *(b"".join(data for each, data in found if each == kind) for kind in (STDOUT, STDERR))

    async def ask(self, service: str, *inputs: bytes) -> bytes:
        """Everything that a service answers until it closes."""
        conversation = await self.open(service)
        for each in inputs:
            await conversation.write(each)
        return await conversation.rest()


class Conversation:
    """One stream, from the computer's end."""

    def __init__(
        self, computer: Computer, local: int, remote: int, inbox: asyncio.Queue[tuple[bytes, int, bytes]]
    ) -> None:
        self.computer = computer
        self.local = local
        self.remote = remote
        self._inbox = inbox
        self._came: list[bytes] = []
        self._taken = 0
        self._listening = asyncio.Lock()
        self.closed = False

    def post(self, data: bytes) -> None:
        self.computer.send(b"WRTE", self.local, self.remote, data)

    async def write(self, data: bytes) -> None:
        """Waits until the phone took it."""
        for start in range(0, len(data), self.computer.max_data):
            self.post(data[start : start + self.computer.max_data])
            await self.taken()

    async def taken(self) -> None:
        """Raises ConnectionAbortedError if the stream is closed instead."""
        await self._until(lambda: self._taken > 0)
        if not self._taken:
            raise ConnectionAbortedError
        self._taken -= 1

    async def read(self) -> bytes:
        """The next packet of data; b"" at the end of the stream. Raises ConnectionResetError if the link is cut."""
        await self._until(lambda: bool(self._came))
        return self._came.pop(0) if self._came else b""

    async def rest(self) -> bytes:
        data = b""
        while part := await self.read():
            data += part
        return data

    async def exactly(self, n: int) -> bytes:
        data = b""
        while len(data) < n:
            part = await self.read()
            assert part, "closed"
            data += part
        if len(data) > n:
            self._came.insert(0, data[n:])
        return data[:n]

    async def _until(self, reached: Callable[[], bool]) -> None:
        """Until this or the end; several may wait at once."""
        while not reached() and not self.closed:
            async with self._listening:
                if not reached() and not self.closed:
                    self._heard(*await self._inbox.get())

    def _heard(self, command: bytes, _: int, data: bytes) -> None:
        if command == b"WRTE":
            self._came.append(data)
            self.computer.send(b"OKAY", self.local, self.remote)
        elif command == b"OKAY":
            self._taken += 1
        elif command == b"CLSE":
            self.closed = True
            self.computer.send(b"CLSE", self.local, self.remote)
        else:
            self._inbox.put_nowait((command, 0, data))  # for whoever asks next
            raise ConnectionResetError

    def close(self) -> None:
        self.computer.send(b"CLSE", self.local, self.remote)
