"""Working on a session from the terminal: begun or gone on with, its progress shown, its questions asked in place."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.live import Live

from echelon import driving
from echelon.live import REFRESH_PER_S
from echelon.loop_ending import told
from echelon.loop_view import LoopView, activity_line
from gateway.errors import StoreError

if TYPE_CHECKING:
    from gateway import Gateway, Settings
    from gateway.loop.report import ProgressReport
    from gateway.loop.session import Session

    Begun = Callable[[Session], None]
    Act = Callable[[Gateway, Begun], Awaitable[Session]]

AGAIN_S = 1.0  # until a store that could not be read is looked at again


def shown_on(stream_is_stderr: bool) -> Console:
    """Where a session is shown: lines are cut by the view, not by the console."""
    return Console(stderr=stream_is_stderr, highlight=False, markup=False, emoji=False)


class LoopProgress:
    """A context manager that shows reports: on a terminal as a screen that is redrawn, elsewhere a line for each new
    activity, of that from `since` on (seconds since the epoch). Where it is to `stay`, the last screen does."""

    def __init__(self, console: Console, *, since: float = 0.0, stay: bool = False) -> None:
        self.run_id: str | None = None
        self.console = console
        self.animated = console.is_terminal and not console.is_dumb_terminal
        self._view = LoopView()
        self._live: Live | None = None
        self._stay = stay
        self._since = since
        self._said: set[tuple[float, str]] = set()

    def show(self, report: ProgressReport) -> None:
        """How it is now."""
        self._view.report, self._view.trouble = report, ""
        if self.animated:
            self._redraw()
            return
        for each in report.activity:
            if each.at >= self._since and (each.at, each.text) not in self._said:
                self._said.add((each.at, each.text))
                self._line(activity_line(each).plain.strip())

    def trouble(self, text: str) -> None:
        """Why what is shown may be old."""
        if self._view.trouble != text:
            self._view.trouble = text
            if self.animated:
                self._redraw()
            else:
                self._line(text)

    def __enter__(self) -> Self:
        if self.animated:
            self._live = Live(
                self._view, console=self.console, refresh_per_second=REFRESH_PER_S, transient=not self._stay
            )
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _redraw(self) -> None:
        if self._live is not None:
            self._live.refresh()

    def _line(self, text: str) -> None:
        print(text, file=self.console.file, flush=True)


async def reports(gateway: Gateway, run_id: str, trouble: Callable[[str], None]) -> AsyncIterator[ProgressReport]:
    """As `Loops.watch`; a store that cannot be read is told of, and looked at again."""
    while True:
        try:
            async for report in gateway.loops.watch(run_id):
                yield report
            return
        except StoreError as error:
            trouble(f"{error}; trying again")
            await asyncio.sleep(AGAIN_S)


class LoopWork:
    """A session that this process works on."""

    holding = False

    def __init__(self, act: Act, *, as_json: bool) -> None:
        self.progress = LoopProgress(shown_on(stream_is_stderr=True), since=time.time())
        self._act = act
        self._as_json = as_json

    def carry_out(self, settings: Settings, *, no_input: bool, assume_yes: bool = False) -> int:
        """The exit code."""
        return driving.work_on(settings, self, no_input=no_input, assume_yes=assume_yes)

    async def begin(self, gateway: Gateway) -> Session:
        return await self._shown(gateway, self._act)

    async def resume(self, gateway: Gateway, run_id: str) -> Session:
        return await self._shown(gateway, lambda gateway, begun: gateway.loops.resume(run_id, on_begin=begun))

    def interrupted(self, gateway: Gateway, asked: Session | None) -> str:
        if asked is not None:
            return driving.interrupted(asked.run_id, asked)
        if self.progress.run_id is None:
            return driving.interrupted(None, None)
        return f"interrupted; go on with: echelon loop resume {self.progress.run_id}"

    def report(self, gateway: Gateway, ended: Session) -> int:
        return told(gateway.loops.report(ended.run_id), as_json=self._as_json)

    async def _shown(self, gateway: Gateway, act: Act) -> Session:
        """What `act` comes to; its progress is shown meanwhile."""
        followers: list[asyncio.Task[None]] = []

        def begun(session: Session) -> None:
            self.progress.run_id = session.run_id
            if not self.progress.animated:
                print(f"session {session.run_id}; look on with: echelon loop watch {session.run_id}", file=sys.stderr)
            followers.append(asyncio.create_task(self._follow(gateway, session.run_id)))

        try:
            return await act(gateway, begun)
        finally:
            for each in followers:
                each.cancel()
            await asyncio.gather(*followers, return_exceptions=True)
            if self.progress.run_id is not None:
                with suppress(StoreError):
                    self.progress.show(gateway.loops.report(self.progress.run_id))

    async def _follow(self, gateway: Gateway, run_id: str) -> None:
        async for report in reports(gateway, run_id, self.progress.trouble):
            self.progress.show(report)
