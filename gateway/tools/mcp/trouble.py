"""What is known about a server's trouble: its log file, and the sentence that an error says it with."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from gateway.tools.mcp.schema import told

MAX_LOG = 1 << 20  # bytes of one life of a server
TAIL = 2000  # bytes from its end that are kept where there were more; no secret is longer
KEPT = 4 * TAIL  # so that what is shown of the end begins behind a secret
MAX_LINE = 1 << 16  # bytes: what of a line comes after them, while no secret's end is seen, is left out


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
        self._passing = False  # to the end of a line that is too long
        self._tail = b""

    @property
    def full(self) -> bool:
        return self._written >= MAX_LOG

    @property
    def last(self) -> str:
        """The last line that says something."""
        lines = (self._end() + "\n" + self._clean(self._rest)).split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def feed(self, data: bytes) -> None:
        """Bytes as they come."""
        if self.full:
            if self._passing:
                _, newline, data = data.partition(b"\n")
                self._passing = not newline
            data, self._rest = self._rest + data, b""
            self._left_out += len(data)
            self._keep(data)
            return
        *lines, rest = (self._rest + data).split(b"\n")
        for line in lines:
            if not self._passing:
                self._keep(b"\n" + line)
                self._write(line)
            self._passing = False
        self._rest = b"" if self._passing else self._shortened(rest)

    def _shortened(self, rest: bytes) -> bytes:
        """What is held back of a line that goes on: a secret must not be written in two parts, neither of which is
        one."""
        if len(rest) <= TAIL:
            return rest
        cut = next((at for at in range(len(rest) - TAIL, 0, -TAIL) if self._is_apart(rest, at)), 0)
        if cut == 0 and len(rest) > MAX_LINE:
            cut, self._passing = len(rest), True
        if cut:
            self._keep(b"\n" + rest[:cut])
            self._write(rest[:cut])
        return rest[cut:]

    def _is_apart(self, data: bytes, at: int) -> bool:
        """Whether no secret goes across."""
        return self._clean(data[:at]) + self._clean(data[at:]) == self._clean(data)

    def _clean(self, data: bytes) -> str:
        return self._redact(data.decode("utf-8", "replace"))

    def _keep(self, data: bytes) -> None:
        self._tail = (self._tail + data)[-KEPT:]

    def _end(self) -> str:
        """The tail without secrets, and without what may be the rest of one."""
        if len(self._tail) <= TAIL:
            return self._clean(self._tail)
        whole = len(self._tail) < KEPT  # nothing is missing before it
        starts = range(len(self._tail) - TAIL, -1 if whole else TAIL - 1, -100)
        start = next((at for at in starts if self._is_apart(self._tail, at)), None)
        return "" if start is None else self._clean(self._tail[start:])

    def close(self) -> None:
        if self._rest:
            self._write(self._rest)
        if self._left_out:
            self._write(f"[… {max(0, self._left_out - TAIL):,} bytes left out …]".encode())
            self._write_text(self._end().strip("\n"))
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, line: bytes) -> None:
        self._write_text(self._clean(line))

    def _write_text(self, text: str) -> None:
        try:
            if self._file is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                if self.path.exists() and self.path.stat().st_size > MAX_LOG // 4:
                    self.path.replace(self.path.with_name(f"{self.path.name}.1"))
                self._file = self.path.open("ab", buffering=0)
            self._written += self._file.write(f"{text}\n".encode()) or 0
        except OSError:  # a disk that is full must not end the conversation
            self._written = MAX_LOG


ENDED = "ended"


class Trouble:
    """Why a connection ended, or does not answer, as far as its transport knows."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.status: int | None = None  # of the last HTTP answer that was an error
        self.garbage = ""  # the last line that was no message
        self.reason = ""
        self.exit_code: int | None = None  # of a program that ended by itself
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
        if self.reason == ENDED and self.exit_code is not None:
            how = f"with exit code {self.exit_code}" if self.exit_code >= 0 else f"by signal {-self.exit_code}"
            parts = [f"{ENDED} {how}"]
        if self.garbage:
            parts.append(f"wrote what is no MCP message: {told(self.garbage, 120)!r}")
        if self.log.last:
            parts.append(f"its last words: {told(self.log.last, 200)}")
        return "; ".join(filter(None, parts))
