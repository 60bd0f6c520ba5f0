"""Listens, and is one device to each computer that connects."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable, Mapping

from simphone.adbd.auth import NONE, Authentication, Doorkeeper
from simphone.adbd.connection import Connection
from simphone.adbd.services import Services
from simphone.faults import Faults
from simphone.files import DeviceFiles
from simphone.shell.runner import ShellRunner

FEATURES = ("cmd", "fixed_push_mkdir", "ls_v2", "shell_v2", "stat_v2")
_READ_AHEAD = 1 << 20  # bytes of a connection that wait in memory


class Daemon:
    """`adbd` over TCP. `banner` gives ro.product.name, .model and .device when a computer connects."""

    port: int

    def __init__(
        self,
        runner: ShellRunner,
        files: DeviceFiles,
        faults: Faults,
        banner: Callable[[], Mapping[str, str]],
        *,
        authentication: Authentication = NONE,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self.port = port
        self._host = host
        self._faults = faults
        self._banner = banner
        self._services = Services(runner, files)
        self._doorkeeper = Doorkeeper(authentication)
        self._connections: dict[Connection, asyncio.Task[None]] = {}
        self._reserved: socket.socket | None = None
        self._server: asyncio.Server | None = None
        self._coming_back: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Listen on `port`, which is chosen now if it is 0. Raises OSError if it is taken."""
        self._reserved = _bound(self._host, self.port)
        self.port = self._reserved.getsockname()[1]
        await self._listen()

    async def stop(self) -> None:
        """Every connection is cut, and what its commands run is ended."""
        if self._coming_back:
            self._coming_back.cancel()
        self._close()
        if self._connections:
            await asyncio.wait(self._connections.values())
        if self._reserved:
            self._reserved.close()

    def drop_links(self) -> None:
        """Every connection is cut now."""
        for each in self._connections:
            each.drop()

    def take_down(self, seconds: float) -> None:
        """Every connection is cut now, and for so long new ones are refused."""
        self._close()
        if self._coming_back:
            self._coming_back.cancel()
        self._coming_back = asyncio.ensure_future(self._listen(after=seconds))

    def _close(self) -> None:
        if self._server:
            self._server.close()
            self._server = None
        self.drop_links()

    async def _listen(self, after: float = 0) -> None:
        await asyncio.sleep(after)
        listening = _bound(self._host, self.port)
        self._server = await asyncio.start_server(self._connected, sock=listening, limit=_READ_AHEAD)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if fault := self._faults.take("link_down", "connect"):
            writer.transport.abort()
            self.take_down(fault.seconds)
            return
        connection = Connection(
            reader,
            writer,
            banner=self._greeting,
            doorkeeper=self._doorkeeper,
            service=self._services.open,
            take_down=self.take_down,
            faults=self._faults,
        )
        task = asyncio.ensure_future(connection.run())
        self._connections[connection] = task
        task.add_done_callback(lambda _: self._connections.pop(connection))

    def _greeting(self) -> bytes:
        values = {name: re.sub("[:;=]", "_", value) for name, value in self._banner().items()}
        values["features"] = ",".join(FEATURES)
        return ("device::" + ";".join(f"{name}={value}" for name, value in values.items())).encode()


def _bound(host: str, port: int) -> socket.socket:
    """Two sockets may have the port while at most one listens: so it stays the phone's own when the link is down."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, proto=socket.IPPROTO_TCP)  # said, for asyncio to send small packets at once
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except OSError:
        bound.close()
        raise
    return bound
