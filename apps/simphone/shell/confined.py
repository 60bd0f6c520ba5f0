"""Command lines that run in the container, each with its streams carried to and from the computer."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from simphone.commands import CommandIO
from simphone.shell.container import ENVIRONMENT, Container
from simphone.shell.pty import Pty
from simphone.shell.terminal import Terminal

MAX_LINE = 100_000  # bytes; Linux takes 128 KB in one argument
_PIECE = 1 << 16
_LEVEL = re.compile(rb"^[EW]: (?=/system/bin/sh: )", re.MULTILINE)  # mksh has it in newer releases than Android's
_Request = dict[str, Any]


@dataclass
class _Running:
    """What the agent has said about a line so far."""

    started: asyncio.Future[None] = field(default_factory=asyncio.Future)
    ended: asyncio.Future[int] = field(default_factory=asyncio.Future)  # exit code
    pty: Pty | None = None


class ConfinedShell:
    """`alive` says whether the container still is; it does not come back."""

    alive: bool

    def __init__(self, container: Container) -> None:
        self._control = container.control
        self._running: dict[int, _Running] = {}
        self._last = 0
        self.alive = True
        asyncio.get_running_loop().add_reader(self._control, self._heard)

    def close(self) -> None:
        """Before the container stops. Lines that run end as if they were killed."""
        if self.alive:
            self.alive = False
            asyncio.get_running_loop().remove_reader(self._control)
        for each in self._running.values():
            for future in (each.started, each.ended):
                if not future.done():
                    future.set_exception(ConnectionAbortedError("the container is gone"))
                    future.exception()  # it need not be asked for

    async def run(self, line: str, io: CommandIO, terminal: Terminal | None, *, full: bool) -> int:
        """The exit code of `sh -c LINE`, or of a shell that reads its lines from `io` if this one is empty.

        It can write no files if `full`. What it started is ended if this is cancelled. Raises ConnectionError if the
        computer or the container is gone.
        """
        encoded = line.encode("utf-8", "surrogateescape")
        if len(encoded) > MAX_LINE or b"\0" in encoded:
            await io.err(b"/system/bin/sh: Argument list too long\n")
            return 126
        self._last += 1
        number, running = self._last, _Running()
        self._running[number] = running
        request = _request(number, line, terminal) | {"full": full}
        try:
            if terminal:
                return await self._on_terminal(request, running, io, terminal)
            return await self._on_sockets(request, running, io)
        finally:
            del self._running[number]
            if running.pty:
                running.pty.close()
            if running.ended.cancelled() or not running.ended.done():
                with suppress(OSError):
                    self._ask({"end": number})

    async def _on_sockets(self, request: _Request, running: _Running, io: CommandIO) -> int:
        pairs = [socket.socketpair() for _ in range(3)]  # as adbd has them; pipes would do as well
        ends = [await asyncio.open_connection(sock=ours, limit=_PIECE) for ours, _ in pairs]
        try:
            self._ask(request, [theirs.fileno() for _, theirs in pairs])
        finally:
            for _, theirs in pairs:
                theirs.close()

        async def err(data: bytes) -> None:
            await io.err(_LEVEL.sub(b"", data))

        feeding = asyncio.ensure_future(_feed(io, ends[0][1]))
        copying = [asyncio.ensure_future(_copy(ends[1][0], io.out)), asyncio.ensure_future(_copy(ends[2][0], err))]
        try:
            await asyncio.gather(running.started, *copying)
            return await running.ended
        finally:
            for each in (feeding, *copying):
                each.cancel()
            await asyncio.wait({feeding, *copying})
            for _, writer in ends:
                writer.transport.abort()

    async def _on_terminal(self, request: _Request, running: _Running, io: CommandIO, terminal: Terminal) -> int:
        self._ask(request)
        await running.started
        pty = running.pty
        if pty is None:
            return await running.ended
        terminal.on_resize = lambda: pty.resize(terminal.rows, terminal.columns)
        showing = asyncio.ensure_future(_show(pty, io))
        typing = asyncio.ensure_future(_type(io, pty))
        try:
            ending: set[asyncio.Future[Any]] = {showing, running.ended}
            await asyncio.wait(ending, return_when=asyncio.FIRST_COMPLETED)
            pty.finish()
            await showing
            return await running.ended
        finally:
            for each in (showing, typing):
                each.cancel()
            await asyncio.wait({showing, typing})

    def _ask(self, request: _Request, descriptors: list[int] | None = None) -> None:
        if not self.alive:
            raise ConnectionAbortedError("the container is gone")
        socket.send_fds(self._control, [json.dumps(request).encode()], descriptors or [])

    def _heard(self) -> None:
        try:
            data, descriptors, _, _ = socket.recv_fds(self._control, 4096, 1)
        except BlockingIOError:
            return
        except OSError:
            data, descriptors = b"", []
        for each in descriptors:
            os.set_inheritable(each, False)
        try:
            self._take(json.loads(data), descriptors)
        except (ValueError, TypeError, KeyError, AttributeError):  # also b"", when the agent is gone
            self.close()
        for each in descriptors:
            os.close(each)

    def _take(self, message: dict[str, Any], descriptors: list[int]) -> None:
        running = self._running.get(message["started" if "started" in message else "ended"])
        if running is None:
            return
        if "started" in message and not running.started.done():
            running.pty = Pty(descriptors.pop()) if descriptors else None
            running.started.set_result(None)
        elif "ended" in message and not running.ended.done():
            running.ended.set_result(int(message["code"]))


def _request(number: int, line: str, terminal: Terminal | None) -> _Request:
    argv = ["/system/bin/sh", "-c", line] if line else ["/system/bin/sh", "-i" if terminal else "-s"]
    environment = ENVIRONMENT | ({"TERM": terminal.name} if terminal else {})
    size = [terminal.rows, terminal.columns] if terminal else None
    return {"run": number, "argv": argv, "env": environment, "terminal": size}


async def _copy(reader: asyncio.StreamReader, write: Callable[[bytes], Any]) -> None:
    while data := await reader.read(_PIECE):
        await write(data)


async def _feed(io: CommandIO, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await io.read(_PIECE):
            writer.write(data)
            await writer.drain()
        writer.write_eof()


async def _show(pty: Pty, io: CommandIO) -> None:
    while data := await pty.read():
        await io.out(_LEVEL.sub(b"", data))


async def _type(io: CommandIO, pty: Pty) -> None:
    with suppress(OSError):
        while data := await io.read(_PIECE):
            await pty.write(data)
