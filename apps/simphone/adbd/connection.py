"""One computer's connection: the greeting, whether it is allowed, and the streams that it opens."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from simphone.adbd.auth import PUBLIC_KEY, REFUSED, SIGNATURE, TOKEN, Authentication, Doorkeeper
from simphone.adbd.packets import (
    AUTH,
    CHECKED_VERSION,
    CLSE,
    CNXN,
    MAX_DATA,
    OKAY,
    OPEN,
    VERSION,
    WRTE,
    Packet,
    read_packet,
)
from simphone.adbd.stream import Stream
from simphone.faults import Faults

MAX_STREAMS = 200  # at once: each may need a process and several descriptors
Service = Callable[[Stream], Awaitable[None]]
_log = logging.getLogger(__name__)


class Connection:
    """Serves until the computer goes away, or until `drop`."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        banner: Callable[[], bytes],
        doorkeeper: Doorkeeper,
        service: Callable[[str], Service | None],
        take_down: Callable[[float], None],
        faults: Faults,
    ) -> None:
        self.faults = faults
        self.max_data = MAX_DATA
        self.take_down = take_down
        self._reader = reader
        self._writer = writer
        self._banner = banner
        self._doorkeeper = doorkeeper
        self._service = service
        self._checked = False
        self._allowed = False
        self._authentication = self._asked_now()
        self._slow = faults.take("auth_slow", "connect")
        self._silent = faults.take("no_answer", "connect") is not None
        self._token = b""
        self._streams: dict[int, Stream] = {}
        self._last = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def _asked_now(self) -> Authentication:
        return REFUSED if self.faults.take("auth_refused", "connect") else self._doorkeeper.authentication

    async def run(self) -> None:
        """Ends without an error however the connection ends; nothing of it is left running then."""
        try:
            while True:
                self._take(await read_packet(self._reader, checked=self._checked))
        except (asyncio.IncompleteReadError, OSError) as error:
            _log.debug("connection ended: %r", error)
        finally:
            self._end_streams()
            self.drop()
            for each in list(self._tasks):
                each.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks)

    def drop(self) -> None:
        """Cut, now."""
        self._writer.transport.abort()

    # What streams send

    async def send(self, packet: Packet) -> None:
        """Waits while the computer does not read."""
        self.reply(packet)
        await self._writer.drain()

    def reply(self, packet: Packet) -> None:
        self._writer.write(packet.encode(checked=self._checked))

    # What the computer sends

    def _take(self, packet: Packet) -> None:
        if self._silent:
            return
        if packet.command == CNXN:
            self._greeted(packet)
        elif packet.command == AUTH and not self._allowed:
            self._asked(packet)
        elif not self._allowed:
            return
        elif packet.command == OPEN:
            self._open(packet)
        elif stream := self._streams.get(packet.arg1):
            if packet.command == OKAY and stream.remote == packet.arg0:
                stream.acknowledged()
            elif packet.command == WRTE and stream.remote == packet.arg0:
                stream.received(packet.data)
            elif packet.command == CLSE and packet.arg0 in (0, stream.remote):
                stream.end()
                self.reply(Packet(CLSE, stream.local, stream.remote))

    def _greeted(self, packet: Packet) -> None:
        self._end_streams()
        self._checked = packet.arg0 <= CHECKED_VERSION
        self.max_data = max(1, min(packet.arg1, MAX_DATA))
        if self._slow or self._authentication.asks:
            self._allowed = False
            self._ask()
        else:
            self._welcome()

    def _ask(self) -> None:
        self._token = self._doorkeeper.token()
        self.reply(Packet(AUTH, TOKEN, 0, self._token))

    def _asked(self, packet: Packet) -> None:
        refused = self._authentication is REFUSED
        if packet.arg0 == SIGNATURE:
            if not refused and self._token and self._doorkeeper.knows(self._token, packet.data):
                self._start(self._allow_later())
            else:
                self._ask()
        elif packet.arg0 == PUBLIC_KEY and not refused:
            allows = self._authentication.allows_new or not self._authentication.asks
            if allows and self._doorkeeper.remember(packet.data):
                self._start(self._allow_later())

    async def _allow_later(self) -> None:
        if self._slow:
            await asyncio.sleep(self._slow.seconds)
        self._welcome()

    def _welcome(self) -> None:
        self._allowed = True
        self.reply(Packet(CNXN, CHECKED_VERSION if self._checked else VERSION, MAX_DATA, self._banner()))

    def _open(self, packet: Packet) -> None:
        name = packet.data.rstrip(b"\0").decode("utf-8", "surrogateescape")
        service = self._service(name)
        if service is None or not packet.arg0 or len(self._tasks) >= MAX_STREAMS:  # a task goes on after its stream
            self.reply(Packet(CLSE, 0, packet.arg0))
            return
        local = self._last = self._last % 0xFFFFFFFF + 1
        stream = self._streams[local] = Stream(local, packet.arg0, self, forget=lambda: self._streams.pop(local, None))
        self.reply(Packet(OKAY, local, packet.arg0))
        self._start(self._serve(service, stream))

    async def _serve(self, service: Service, stream: Stream) -> None:
        try:
            await service(stream)
        except (ConnectionError, EOFError) as error:
            _log.debug("stream ended: %r", error)
        except Exception:
            _log.exception("a service failed")
        with suppress(ConnectionError):
            await stream.close()

    def _start(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _end_streams(self) -> None:
        for each in list(self._streams.values()):
            each.end()
