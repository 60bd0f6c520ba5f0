"""The face of what model files are fetched from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from gateway.llm.local.catalog import LocalModel


class SourceFailed(Exception):
    """A source cannot deliver (unreachable, cut off, another file); what was fetched stays for the next try."""


class Source(Protocol):
    """Somewhere to fetch a model from. It is not trusted: `pull` checks what it delivers."""

    @property
    def name(self) -> str: ...

    def fetch(self, model: LocalModel, partial: Path, on_bytes: Callable[[int], None]) -> Path:
        """The whole file, somewhere in the folder `partial`, which may have what an earlier try left there.

        `on_bytes` is told how many bytes there are by now, those of earlier tries included. Raises SourceFailed.
        """
