"""Stopping a process for certain: the signal alone is still on its way when `kill` returns, and until it has reached
the process, each of its threads may go on."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


def freeze(pid: int, within_s: float = 20) -> None:
    """Stop the process, and return once all its threads stand still."""
    os.kill(pid, signal.SIGSTOP)
    deadline = time.monotonic() + within_s
    while any(_state(thread) not in "TZX" for thread in Path(f"/proc/{pid}/task").iterdir()):
        assert time.monotonic() < deadline, f"process {pid} goes on"
        time.sleep(0.01)


def _state(thread: Path) -> str:
    try:
        return (thread / "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"  # it ended meanwhile
