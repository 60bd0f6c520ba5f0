"""What a command line that runs on a terminal knows of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Terminal:
    name: str  # as in TERM
    rows: int = 24
    columns: int = 80
    on_resize: Callable[[], None] | None = None

    def resize(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        if self.on_resize:
            self.on_resize()
