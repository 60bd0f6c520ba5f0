"""Progress on standard error: lines that stay, and on a terminal, below them, what goes on now."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from echelon.terminal import harmless, messages, one_line

REFRESH_PER_S = 4


class LiveProgress:
    """A context manager that shows `doing` meanwhile. A person's time between leaving it and entering it again does not
    count. `clock` is in seconds; `head` is the width of what lines begin with, `longest` the characters of a text."""

    def __init__(
        self, console: Console | None, clock: Callable[[], float] = time.monotonic, *, head: int, longest: int
    ) -> None:
        self.console = console or messages()
        self.animated = self.console.is_terminal and not self.console.is_dumb_terminal
        self.longest = longest
        self._head = head
        self._clock = clock
        self._live: Live | None = None
        self._spinner = Spinner("dots")
        self._began = clock()
        self._left: float | None = None

    def doing(self, spinner: Text) -> Sequence[Text]:
        """The lines that say what goes on now, with the spinner in one of them."""
        raise NotImplementedError

    @property
    def elapsed(self) -> float:
        """Seconds."""
        return self._clock() - self._began

    def say(self, head: str, text: str, *, style: str = "") -> None:
        """A line that stays."""
        longest = max(self.longest, self.console.width - 20 if self.animated else 3 * self.longest)
        line = Text(f"{self.elapsed:6.1f} s  ", style="dim", no_wrap=True)
        line.append(f"{head:<{self._head}} ", style="bold" if self.animated else "")
        line.append(one_line(harmless(text), longest), style=style or "none")
        line.rstrip()
        self.console.print(line)

    def __enter__(self) -> Self:
        if self._left is not None:
            self._began += self._clock() - self._left
        if self.animated:
            self._live = Live(self, console=self.console, refresh_per_second=REFRESH_PER_S, transient=True)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._left = self._clock()
        if self._live is not None:
            self._live.stop()
            self._live = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        spinner = self._spinner.render(console.get_time())
        for each in self.doing(spinner if isinstance(spinner, Text) else Text()):
            each.truncate(options.max_width, overflow="ellipsis")
            yield each
