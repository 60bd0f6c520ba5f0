"""A program run for the workspace, within bounds: time, memory, file size, output, and no secrets in its environment.

It is a fence against accidents (endless loops, floods, left-over processes), not against hostile code: it runs as the
user who started the gateway, reads what that user may read, and is given the user's HOME, since programs keep their
settings and caches there. Limits are for each process and each file: many of them together can be more.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import ToolError
from gateway.tools import supervisor
from gateway.tools.process import create_process
from gateway.tools.supervisor import ENDING_S

_PASSED_ON = ("PATH", "HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SYSTEMROOT")
MEMORY_BYTES = 4 << 30  # of address space, for each process
FILE_BYTES = 512 << 20  # of any one file it writes
_SUPERVISOR = supervisor.__file__
_TOLD = re.compile(rb"^(started|exit|signal|error) (\d{1,10})$", re.MULTILINE)
_DRAIN_S = 1.0  # how long to read on after the end: what is left in the pipe is there at once


@dataclass(frozen=True)
class Finished:
    """`output` is standard output and error together, unless `errors` has the latter apart; the middle of each is left
    out if it was long. `code` is None if the deadline ended the program, and negative for the signal that did."""

    code: int | None
    output: str
    errors: str = ""


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
    """What a program needs to run, and nothing else of the gateway's own environment, which may hold keys. Programs are
    not looked for relative to where they run: the workspace does not decide what `ls` is."""
    passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    places = [each for each in passed.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(each)]
    return {**passed, "PATH": os.pathsep.join(places), **(more or {})}


async def run_program(
    command: Sequence[str],
    *,
    cwd: Path,
    deadline_s: float,
    env: Mapping[str, str] | None = None,
    output_bytes: int = 200_000,
    stdin: bytes = b"",
    errors_apart: bool = False,
    memory_bytes: int | None = MEMORY_BYTES,
) -> Finished:
    """Run to the end or to the deadline, seconds; then nothing that it started is left running.

    `env` comes on top of the clean environment. `memory_bytes` is of address space, for each process; None for programs
    that reserve far more than they use, as those for Node do. Raises ToolError if the program cannot be started.
    """
    pipes = [os.pipe() for _ in range(1 + errors_apart)]
    outputs = [_Bounded(output_bytes) for _ in pipes]
    ours, theirs = socket.socketpair()
    with ours:
        try:
            process = await create_process(
                *(
                    sys.executable,
                    "-I",
                    "-S",
                    _SUPERVISOR,
                    str(theirs.fileno()),
                    str(memory_bytes or 0),
                    str(FILE_BYTES),
                ),
                *command,
                cwd=cwd,
                env=clean_environment(env),
                stdin=asyncio.subprocess.PIPE if stdin else asyncio.subprocess.DEVNULL,
                stdout=pipes[0][1],
                stderr=pipes[-1][1],
                start_new_session=True,
                pass_fds=(theirs.fileno(),),
            )
        except BaseException as error:
            for reading, _ in pipes:
                os.close(reading)
            if isinstance(error, OSError):
                raise ToolError(f"{command[0]} cannot be started: {error.strerror or error}") from error
            raise
        finally:
            theirs.close()
            for _, writing in pipes:
                os.close(writing)
        pumps = [asyncio.ensure_future(_pump(pipe[0], output)) for pipe, output in zip(pipes, outputs, strict=True)]
        in_time = False
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(process.communicate(stdin or None), deadline_s)
                in_time = True
            told = _told(ours)
        finally:
            await _end(process, ours)
            await asyncio.wait(pumps, timeout=_DRAIN_S)
            for each in pumps:
                each.cancel()
    if "error" in told:
        raise ToolError(f"{command[0]} cannot be started: {os.strerror(told['error'])}")
    code = told.get("exit", -told["signal"] if "signal" in told else process.returncode)
    return Finished(code if in_time else None, outputs[0].text(), outputs[1].text() if errors_apart else "")


async def _end(process: asyncio.subprocess.Process, control: socket.socket) -> None:
    """Have the supervisor end what still runs; where the program has ended its supervisor, end the program."""
    started = _told(control).get("started")
    control.close()
    if process.stdin is not None:
        process.stdin.close()
        if process.stdin.transport.get_write_buffer_size():  # nobody reads it, and `wait` would wait for that, too
            process.stdin.transport.abort()
    try:
        await asyncio.wait_for(process.wait(), ENDING_S + 1)
    except TimeoutError:
        process.kill()
        await process.wait()
    if process.returncode and started and started > 1:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(started, signal.SIGKILL)


def _told(control: socket.socket) -> dict[str, int]:
    """What the supervisor has said so far: `started`, then `exit`, `signal` or `error`, each with its number."""
    try:
        said = control.recv(4096, socket.MSG_DONTWAIT | socket.MSG_PEEK)
    except (BlockingIOError, ConnectionError):
        return {}
    found: dict[str, int] = {}
    for key, number in _TOLD.findall(said):
        found.setdefault(key.decode(), int(number))  # it says each thing once: what comes after is not from it
    return found


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
