"""A turn under way, and those who follow it: two who ask the same at once get the same turn."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

from echelon.server.problem import Problem
from echelon.server.reply import Reply
from gateway.stream import OnEvent, TurnEvent

Act = Callable[[OnEvent], Awaitable[Reply]]


class Work:
    """Runs `act` until it ends, or until nobody follows it any more: then its run is left to be resumed."""

    def __init__(self, act: Act) -> None:
        self.abandoned = False
        self._told: list[TurnEvent] = []
        self._news = asyncio.Event()
        self._followers = 0
        self.task: asyncio.Task[Reply] = asyncio.create_task(self._act(act))
        self.task.add_done_callback(self._ended)

    @contextlib.contextmanager
    def followed(self) -> Iterator[None]:
        """While inside, somebody wants the reply."""
        self._followers += 1
        try:
            yield
        finally:
            self._followers -= 1
            if not self._followers:
                self.interrupt()

    def interrupt(self) -> None:
        if not self.task.done():
            self.abandoned = True
            self.task.cancel()

    async def events(self, beat_s: float) -> AsyncIterator[TurnEvent | None]:
        """Every event from the first on, until the work has ended; None after each `beat_s` seconds without one."""
        at = 0
        while True:
            while at < len(self._told):
                yield self._told[at]
                at += 1
            if self.task.done():
                return
            news = self._news
            try:
                async with asyncio.timeout(beat_s):
                    await news.wait()
            except TimeoutError:
                if at == len(self._told):  # what is told in the very moment that the beat comes is no silence
                    yield None

    async def reply(self) -> Reply:
        """What it came to, or the error it ended with; a Problem (503) where it was interrupted from elsewhere."""
        await asyncio.wait([self.task])
        if self.task.cancelled():
            raise Problem(
                503, "the server is ending; send the same request again later, and the turn goes on", code="interrupted"
            )
        return self.task.result()

    async def _act(self, act: Act) -> Reply:
        return await act(self._tell)

    def _ended(self, task: asyncio.Task[Reply]) -> None:
        if not task.cancelled():
            task.exception()  # asyncio would complain of an error that nobody stayed to hear
        self._news.set()

    def _tell(self, event: TurnEvent) -> None:
        self._told.append(event)
        news, self._news = self._news, asyncio.Event()
        news.set()
