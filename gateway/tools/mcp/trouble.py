"""What is known about a server's trouble: its log file, and the sentence that an error says it with."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from gateway.tools.mcp.schema import told

MAX_LOG = 1 << 20  # bytes of one life of a server
TAIL = 2000  # bytes from its end that are kept where there were more


class Log:
    """What a server writes to its standard error, without secrets: `<server>.log`, and the life before it as `.log.1`
    where that was long. Made with the first line."""

    def __init__(self, path: Path, redact: Callable[[str], str]) -> None:
        self.path = path
        self._redact = redact
        self._file: BinaryIO | None = None
        self._written = 0
        self._left_out = 0
        self._rest = b""  # of a line that is not complete
        self._tail = b""

    @property
    def full(self) -> bool:
        return self._written >= MAX_LOG

    @property
    def last(self) -> str:
        """The last line that says something."""
        lines = (self._tail + b"\n" + self._rest).decode("utf-8", "replace").split("\n")
        return self._redact(next((line.strip() for line in reversed(lines) if line.strip()), ""))

    def feed(self, data: bytes) -> None:
        """Bytes as they come."""
        if self.full:
            self._left_out += len(data)
            self._tail = (self._tail + data)[-TAIL:]
            return
        *lines, rest = (self._rest + data).split(b"\n")
        if len(rest) > TAIL:
            lines, rest = [*lines, rest], b""
        self._rest = rest
        for line in lines:
            self._tail = (self._tail + b"\n" + line)[-TAIL:]
            self._write(line)

    def close(self) -> None:
        if self._rest:
            self._write(self._rest)
        if self._left_out:
            self._write(f"[… {max(0, self._left_out - TAIL):,} bytes left out …]".encode())
            for line in self._tail.strip(b"\n").split(b"\n"):
                self._write(line)
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, line: bytes) -> None:
        try:
            if self._file is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                if self.path.exists() and self.path.stat().st_size > MAX_LOG // 4:
                    self.path.replace(self.path.with_name(f"{self.path.name}.1"))
                self._file = self.path.open("ab", buffering=0)
            text = self._redact(line.decode("utf-8", "replace")) + "\n"
            self._written += self._file.write(text.encode()) or 0
        except OSError:  # a disk that is full must not end the conversation
            self._written = MAX_LOG


class Trouble:
    """Why a connection ended, or does not answer, as far as its transport knows."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.status: int | None = None  # of the last HTTP answer that was an error
        self.garbage = ""  # the last line that was no message
        self.reason = ""
        self.closing = False  # we end it, for no fault of its own
        self.cut = False  # we ended it, for what it sent
        self._pid: int | None = None

    def watch(self, pid: int) -> None:
        """The process of a server that is a program."""
        self._pid = pid

    @property
    def gone(self) -> bool:
        """Whether that process has ended, even where nobody has been told yet."""
        if self._pid is None or not hasattr(os, "waitid"):
            return False
        try:
            return os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    def note(self, reason: str) -> None:
        """The first reason counts: what follows comes of it."""
        self.reason = self.reason or reason

    def cut_off(self, reason: str) -> None:
        """It sends too much: not to be heard any longer, nor asked for the same again."""
        self.cut = True
        self.note(reason)

    def __str__(self) -> str:
        """The end of a sentence that begins with the server; empty where nothing is known."""
        parts = [self.reason]
        if self.garbage:
            parts.append(f"wrote what is no MCP message: {told(self.garbage, 120)!r}")
        if self.log.last:
            parts.append(f"its last words: {told(self.log.last, 200)}")
        return "; ".join(filter(None, parts))
