"""What one thread prints, kept apart from what the program prints."""

from __future__ import annotations

import io
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

KEPT = 8_000  # characters, of the end
ERROR = re.compile(r"error.*?: *\S", re.IGNORECASE)

_lock = threading.Lock()
_printed: dict[int, Printed] = {}  # by thread


class Printed(io.TextIOBase):
    """Both streams of a thread, in order."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text = (self.text + text)[-KEPT:]
        return len(text)

    def writable(self) -> bool:
        return True

    @property
    def complaint(self) -> str:
        """The last line that says which error there was, else the last line."""
        lines = [line.strip() for line in self.text.splitlines() if line.strip()]
        return next((line for line in reversed(lines) if ERROR.search(line)), lines[-1] if lines else "")


class _ByThread:
    """Stands for a stream: what a thread writes whose output is kept goes there, everything else where it went."""

    def __init__(self, own: TextIO | None) -> None:
        self.own = own

    def __getattr__(self, name: str) -> Any:
        return getattr(_printed.get(threading.get_ident(), self.own), name)


@contextmanager
def printed() -> Iterator[Printed]:
    """What this thread prints meanwhile, to standard output and error; threads that it starts, and programs, are not
    part of it."""
    here = threading.get_ident()
    kept = Printed()
    with _lock:
        outer = _printed.get(here)
        _printed[here] = kept
        for name in ("stdout", "stderr"):
            if not isinstance(getattr(sys, name), _ByThread):
                setattr(sys, name, _ByThread(getattr(sys, name)))
    try:
        yield kept
    finally:
        with _lock:
            if outer is None:
                del _printed[here]
            else:
                _printed[here] = outer
            for name in ("stdout", "stderr") if not _printed else ():
                if isinstance(stream := getattr(sys, name), _ByThread):
                    setattr(sys, name, stream.own)
