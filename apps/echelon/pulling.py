"""Pulling a local model, with a bar on a terminal and a line now and then elsewhere."""

from __future__ import annotations

from pathlib import Path

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from echelon.terminal import messages, say
from gateway.llm.local import pull as pulling
from gateway.llm.local.pull import PullProgress

STEP = 10  # percent between two lines


def pull(name: str, home: Path) -> Path:
    """The model's file. Raises ModelUnavailable; interrupted, it keeps what was downloaded."""
    console = messages()
    try:
        if not console.is_terminal:
            return pulling.pull(name, home, _Lines(name))
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=console) as bar:
            task = bar.add_task(name, total=None)

            def show(news: PullProgress) -> None:
                origin = f" from {news.source}" if news.source else ""
                bar.update(task, description=f"{name}: {news.stage}{origin}", completed=news.done, total=news.total)

            return pulling.pull(name, home, show)
    except KeyboardInterrupt:
        say(f"what was downloaded is kept; go on with: echelon models pull {name}")
        raise


class _Lines:
    """One line for each stage, and for each tenth of a download."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._said: tuple[str, int] | None = None

    def __call__(self, news: PullProgress) -> None:
        tenth = news.done * 100 // news.total // STEP * STEP if news.stage == "downloading" else 100
        if (news.stage, tenth) == self._said:
            return
        self._said = (news.stage, tenth)
        if news.stage == "downloading":
            say(f"{self._name}: {tenth} % of {news.total / 1e6:,.0f} MB from {news.source}")
        else:
            say(f"{self._name}: {news.stage}")
