"""Looking on at a session that any process works on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from typing import TYPE_CHECKING

from echelon.cli import INTERRUPTED
from echelon.loop_ending import as_data, exit_code, what_now
from echelon.loop_view import notes
from echelon.loop_work import AGAIN_S, LoopProgress, reports, shown_on
from echelon.terminal import put_json, say
from gateway import Gateway

if TYPE_CHECKING:
    from gateway import Settings
    from gateway.loop.report import ProgressReport

RESTING = ("paused", "waiting_for_user")  # somebody may go on with it at any moment


def watch(settings: Settings, run_id: str, *, as_json: bool) -> int:
    """Show it until it ends; the exit code says how. On a terminal also while it rests. Ctrl-C ends the looking on, and
    not the session."""
    try:
        with closing(Gateway(settings)) as gateway:
            found = gateway.loops.session(run_id).run_id
            last = asyncio.run(_lines(gateway, found) if as_json else _screen(gateway, found))
    except KeyboardInterrupt:
        say("no longer looking on; the session is not concerned")
        return INTERRUPTED
    return exit_code(last)


async def _screen(gateway: Gateway, run_id: str) -> ProgressReport:
    progress = LoopProgress(shown_on(stream_is_stderr=False), stay=True)
    with progress:
        async for report in _news(gateway, run_id, progress.trouble, stay=progress.animated):
            progress.show(report)
    if not progress.animated:  # the screen has it
        for line in (*(f"! {note}" for note in notes(report)), *what_now(report)):
            say(line)
    return report


async def _lines(gateway: Gateway, run_id: str) -> ProgressReport:
    """Each report as JSON, on a line."""
    async for report in _news(gateway, run_id, say, stay=False):
        put_json(as_data(report))
    return report


async def _news(
    gateway: Gateway, run_id: str, trouble: Callable[[str], None], *, stay: bool
) -> AsyncIterator[ProgressReport]:
    """Reports, each another one than that before, at least one; until the session ends, or rests where none is to
    `stay`."""
    last = None
    while True:
        async for report in reports(gateway, run_id, trouble):
            if report != last:
                last = report
                yield report
        if last is None or not stay or last.status not in RESTING:
            return
        await asyncio.sleep(AGAIN_S)
