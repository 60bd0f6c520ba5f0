"""The phone's end of a pseudo-terminal that a line in the container runs on."""

from __future__ import annotations

import asyncio
import fcntl
import os
import struct
import termios
from collections.abc import Callable
from contextlib import suppress


class Pty:
    """Owns the descriptor. One task reads, another writes."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._no_more = asyncio.Event()
        os.set_blocking(descriptor, False)

    async def read(self) -> bytes:
        """What is there, waiting for it; b"" when nothing holds the other end, or nothing is there after `finish`."""
        while True:
            finished = self._no_more.is_set()
            try:
                return os.read(self._descriptor, 1 << 16)
            except BlockingIOError:
                if finished:
                    return b""
                await self._until(self._loop.add_reader, self._loop.remove_reader)
            except OSError:
                return b""

    def finish(self) -> None:
        """No more will come than is there already."""
        self._no_more.set()

    async def write(self, data: bytes) -> None:
        while data:
            try:
                data = data[os.write(self._descriptor, data) :]
            except BlockingIOError:
                await self._until(self._loop.add_writer, self._loop.remove_writer)

    def resize(self, rows: int, columns: int) -> None:
        with suppress(OSError):
            fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def close(self) -> None:
        os.close(self._descriptor)

    async def _until(self, add: Callable[..., None], remove: Callable[[int], object]) -> None:
        """Until something is ready, or `finish`."""
        ready = asyncio.Event()
        add(self._descriptor, ready.set)
        waits = [asyncio.ensure_future(each.wait()) for each in (ready, self._no_more)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            remove(self._descriptor)
            for each in waits:
                each.cancel()
