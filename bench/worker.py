"""A contestant is a process that does tasks on demand and says what CPU time they took. Standard library only."""

from __future__ import annotations

import asyncio
import gc
import resource
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import IO, Self


def cpu_s() -> float:
    """CPU seconds of this process so far, all threads, user and system."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def serve(task: Callable[[], Awaitable[None]]) -> None:
    """The contestant's side: for each number on standard input, do so many tasks and print their CPU seconds."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        gc.collect()
        before = cpu_s()
        for _ in range(int(line)):
            await task()
        print(cpu_s() - before, flush=True)


class Worker:
    """The measuring side: `python -m module *arguments`."""

    def __init__(self, python: str, module: str, *arguments: str) -> None:
        command = [python, "-m", module, *arguments]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stream(self._process.stdin).close()
        self._process.wait()

    def cpu_ms(self, tasks: int) -> float:
        """CPU milliseconds per task."""
        to, back = self._stream(self._process.stdin), self._stream(self._process.stdout)
        to.write(f"{tasks}\n")
        to.flush()
        said = back.readline()
        if not said:
            raise RuntimeError(f"{self._process.args!r} ended: see above")
        return float(said) / tasks * 1000

    @staticmethod
    def _stream(stream: IO[str] | None) -> IO[str]:
        assert stream is not None
        return stream
