"""What goes on beside an iteration or an evaluation: operators are listened to, time passes, checkpoints are due."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Literal, TypeVar

from gateway.engine.ports import Json, Scope
from gateway.engine.runs import Runs
from gateway.engine.state import RunState
from gateway.errors import EchelonError
from gateway.loop.signals import CUTTING

LISTEN_S = 0.25

T = TypeVar("T")


class Clockwork:
    """Makes checkpoints by time: `save(number, at)` one, `every` seconds after the last, which was made at `since`."""

    def __init__(self, save: Callable[[int, float], Awaitable[Json]], every: float, number: int, since: float) -> None:
        self._save = save
        self._every = every
        self._number = number
        self._since = since
        self.made: list[Json] = []
        self.troubles: list[str] = []

    async def tick(self, now: float) -> None:
        """Where one is due, make it. One that cannot be made is named; the next is due as if it had been made."""
        if 0 <= now - self._since < self._every:  # below 0 where the clock was set back
            return
        self._since = now
        try:
            self.made.append(await self._save(self._number, now))
        except (EchelonError, OSError, ValueError) as error:
            self.troubles.append(f"checkpoint {self._number} could not be made: {error}")
        else:
            self._number += 1


class Meanwhile:
    """Beside one call of a session. `heard` is the last signal that it has taken in, `limit_s` how long an iteration
    may go on. `why` says why it was ended from here."""

    def __init__(
        self, runs: Runs, scope: Scope, heard: int, limit_s: float | None = None, clockwork: Clockwork | None = None
    ) -> None:
        self._runs = runs
        self._scope = scope
        self._heard = heard
        self._limit_s = limit_s
        self.clockwork = clockwork
        self.why: Literal["stopped", "limited"] | None = None

    def is_cut(self) -> bool:
        """Whether an operator wants it to end now."""
        return any(each.name in CUTTING for each in self._runs.store.signals(self._scope.run_id, self._heard))

    async def until(self, work: Coroutine[Any, Any, RunState]) -> RunState:
        """The child's end; it is ended from here where an operator or the session's time wants that."""
        task, clock = asyncio.ensure_future(work), self._scope.clock
        began = clock.monotonic()
        try:
            while not (await asyncio.wait({task}, timeout=LISTEN_S))[0]:
                if self.why is None and self.is_cut():
                    self.why = "stopped"
                elif self.why is None and self._limit_s is not None and clock.monotonic() - began >= self._limit_s:
                    self.why = "limited"
                if self.why is not None:
                    await self._runs.store.request_cancel(self._scope.child_id)  # again, until it is there to hear it
                elif self.clockwork is not None:
                    await self.clockwork.tick(clock.now())
            return await task
        finally:
            await _ended(task)

    async def unless_cut(self, work: Coroutine[Any, Any, T]) -> T | None:
        """What the work gives; None where an operator has cut it off."""
        task = asyncio.ensure_future(work)
        try:
            while not (await asyncio.wait({task}, timeout=LISTEN_S))[0]:
                if self.is_cut():
                    return None
            return await task
        finally:
            await _ended(task)


async def _ended(task: asyncio.Future[Any]) -> None:
    """Cancel what still goes on, and wait for that."""
    if not task.done():
        task.cancel()
        await asyncio.wait({task})  # who cancels this meanwhile is heard
        if not task.cancelled():
            task.exception()  # nobody is told
