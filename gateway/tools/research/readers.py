"""The processes that read pages: off the event loop, bounded in time and memory, and without anything to steal."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import Process
from contextlib import suppress
from dataclasses import asdict
from types import TracebackType
from typing import Self

from pydantic import TypeAdapter

from gateway.errors import ToolError
from gateway.tools.process import create_process
from gateway.tools.research.extract import Extracted, Request
from gateway.tools.research.fetcher import Fetched
from gateway.tools.sandbox import clean_environment

DEADLINE_S = 20.0  # for one page; a long one takes about a second
_MODULE = "gateway.tools.research.extract"
_MAX_ANSWER = 64 << 20
_EXTRACTED = TypeAdapter(Extracted)


def extracted(said: bytes) -> Extracted:
    """What a reader said of a page; ValueError where it is something else."""
    return _EXTRACTED.validate_json(said)


class Readers:
    """At most `count` processes, started when they are needed. Used as `async with`."""

    def __init__(self, count: int = 2, *, deadline_s: float = DEADLINE_S) -> None:
        self._deadline_s = deadline_s
        self._free = asyncio.Semaphore(count)
        self._idle: list[Process] = []
        self._all: list[Process] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each in self._all:
            with suppress(ProcessLookupError):
                each.kill()
        for each in self._all:
            await each.wait()

    async def read(self, page: Fetched) -> bytes:
        """An Extracted as JSON. ToolError where the page has no text, or cannot be read within the bounds."""
        async with self._free:
            process = self._idle.pop() if self._idle else await self._start()
            try:
                async with asyncio.timeout(self._deadline_s):
                    said = await _ask(process, page)
            except TimeoutError:
                process.kill()
                raise ToolError(f"it could not be read within {self._deadline_s:g} s") from None
            except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                with suppress(ProcessLookupError):
                    process.kill()
                raise ToolError("it is too big or too tangled to be read") from None
            self._idle.append(process)
        if said.startswith(b'{"problem"'):
            raise ToolError(json.loads(said)["problem"])
        return said

    async def _start(self) -> Process:
        process = await create_process(
            *(sys.executable, "-m", _MODULE),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=clean_environment({"PYTHONPATH": os.pathsep.join(each for each in sys.path if os.path.isabs(each))}),
            start_new_session=True,  # an interrupt is for the gateway, which ends them
            limit=_MAX_ANSWER,
        )
        self._all.append(process)
        return process


async def _ask(process: Process, page: Fetched) -> bytes:
    assert process.stdin is not None and process.stdout is not None
    asked = Request(page.kind, page.charset, len(page.body))
    process.stdin.write(json.dumps(asdict(asked)).encode() + b"\n" + page.body)
    await process.stdin.drain()
    return (await process.stdout.readuntil(b"\n")).rstrip()
