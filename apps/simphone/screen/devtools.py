"""The Chrome DevTools Protocol over a pair of pipes: JSON messages that end with NUL, calls and their answers, events.

Source: https://chromedevtools.github.io/devtools-protocol/
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

OnEvent = Callable[[str, dict[str, Any], str], None]  # method, parameters, session


class BrowserGone(ConnectionError):
    """The browser ended, or does not answer any more."""


class CallFailed(RuntimeError):
    """The browser's refusal of one call."""


class DevTools(asyncio.Protocol):
    """One connection. `call` raises `CallFailed`, or `BrowserGone` after which nothing more will come."""

    def __init__(self, on_event: OnEvent, on_gone: Callable[[], None]) -> None:
        self._on_event = on_event
        self._on_gone = on_gone
        self._calls: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._number = 0
        self._parts: list[bytes] = []
        self._reading: asyncio.BaseTransport | None = None
        self._writing: asyncio.WriteTransport | None = None
        self.gone = False

    async def connect(self, reads: int, writes: int) -> None:
        """Takes over the two descriptors."""
        loop = asyncio.get_running_loop()
        self._reading, _ = await loop.connect_read_pipe(lambda: self, os.fdopen(reads, "rb", 0))
        self._writing, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(writes, "wb", 0))

    async def call(self, method: str, params: dict[str, Any] | None = None, *, session: str = "") -> dict[str, Any]:
        return await self.send(method, params, session=session)

    def send(
        self, method: str, params: dict[str, Any] | None = None, *, session: str = ""
    ) -> asyncio.Future[dict[str, Any]]:
        """As `call`, sent at once: its answer may be awaited later, after others."""
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        if self.gone or self._writing is None:
            answer.set_exception(BrowserGone("the browser has ended"))
            return answer
        self._number += 1
        number = self._number
        self._calls[number] = answer
        answer.add_done_callback(lambda _: self._calls.pop(number, None))
        message: dict[str, Any] = {"id": number, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        self._writing.write(json.dumps(message).encode() + b"\0")
        return answer

    def close(self) -> None:
        for each in (self._reading, self._writing):
            if each is not None:
                each.close()
        self._end()

    def data_received(self, data: bytes) -> None:
        while True:
            head, end, data = data.partition(b"\0")
            self._parts.append(head)
            if not end:
                return
            message = json.loads(b"".join(self._parts))
            self._parts.clear()
            self._received(message)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()

    def _received(self, message: dict[str, Any]) -> None:
        if "id" not in message:
            self._on_event(message["method"], message.get("params", {}), message.get("sessionId", ""))
            return
        answer = self._calls.pop(message["id"], None)
        if answer is None or answer.done():
            return
        if "error" in message:
            answer.set_exception(CallFailed(f"{message['error'].get('message')} ({message['error'].get('data', '')})"))
        else:
            answer.set_result(message.get("result", {}))

    def _end(self) -> None:
        if self.gone:
            return
        self.gone = True
        for answer in list(self._calls.values()):
            with suppress(asyncio.InvalidStateError):
                answer.set_exception(BrowserGone("the browser has ended"))
                answer.exception()  # it may be one that nobody awaits
        self._calls.clear()
        self._on_gone()
