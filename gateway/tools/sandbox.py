"""A program run for the workspace, within bounds: time, memory, file size, output, and no secrets in its environment.

It is a fence against accidents (endless loops, floods, left-over processes), not against hostile code: it runs as the
user who started the gateway.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import ToolError

_PASSED_ON = ("PATH", "HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SYSTEMROOT")
MEMORY_BYTES = 4 << 30  # of address space, for each process
FILE_BYTES = 512 << 20  # of any one file it writes
_DRAIN_S = 1.0  # how long to read on after the end: what is left in the pipe is there at once


@dataclass(frozen=True)
class Finished:
    """`output` is standard output and error together, its middle left out if it was long. `code` is None if the
    deadline ended the program."""

    code: int | None
    output: str


class _Bounded:
    """The first and the last bytes of a stream."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0

    def add(self, data: bytes) -> None:
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * self._half:
            self._left_out += len(self._tail) - self._half
            del self._tail[: -self._half]

    def text(self) -> str:
        tail, left_out = self._tail, self._left_out
        if len(tail) > self._half:
            left_out += len(tail) - self._half
            tail = tail[-self._half :]
        middle = f"\n… {left_out:,} bytes left out …\n" if left_out else ""
        return self._head.decode("utf-8", "replace") + middle + tail.decode("utf-8", "replace")


def clean_environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """What a program needs to run, and nothing else of the gateway's own environment, which may hold keys."""
    return {**{name: os.environ[name] for name in _PASSED_ON if name in os.environ}, **(more or {})}


async def run_program(
    command: Sequence[str],
    *,
    cwd: Path,
    deadline_s: float,
    env: Mapping[str, str] | None = None,
    output_bytes: int = 200_000,
) -> Finished:
    """Run to the end or to the deadline, seconds; then nothing of the process group is left running.

    `env` comes on top of the clean environment. Raises ToolError if the program cannot be started.
    """
    reading, writing = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=cwd,
            env=clean_environment(env),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=writing,
            stderr=writing,
            start_new_session=True,
        )
    except OSError as error:
        os.close(reading)
        raise ToolError(f"{command[0]} cannot be started: {error.strerror or error}") from error
    finally:
        os.close(writing)
    _limit(process.pid)
    output = _Bounded(output_bytes)
    pump = asyncio.ensure_future(_pump(reading, output))
    code: int | None = None
    try:
        with suppress(TimeoutError):
            code = await asyncio.wait_for(process.wait(), deadline_s)
    finally:
        # also when it ended by itself: what it left in the background would hold the pipe, and the machine
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        await asyncio.wait([pump], timeout=_DRAIN_S)
        pump.cancel()
    return Finished(code, output.text())


async def _pump(descriptor: int, output: _Bounded) -> None:
    """Everything that is written into the pipe; the pipe is closed at the end."""
    reader = asyncio.StreamReader()
    with os.fdopen(descriptor, "rb", buffering=0) as pipe:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        try:
            while data := await reader.read(1 << 16):
                output.add(data)
        finally:
            transport.close()


def _limit(pid: int) -> None:
    """Memory and file size, where the system can limit another process (Linux)."""
    if sys.platform == "linux":
        import resource

        with suppress(ProcessLookupError, PermissionError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
            resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
