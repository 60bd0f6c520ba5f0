"""The turns that clients wait for, each worked on in a task of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import anyio

from gateway import Turn
from gateway.stream import OnEvent, TurnEvent

LEAVE_S = 2.0  # for a turn to be left so that it can be resumed
BEAT_S = 10.0

Act = Callable[[OnEvent], Awaitable[Turn]]
Tell = Callable[[TurnEvent | None], Awaitable[None]]


class Left(Exception):
    """The turn was left because the server ends; it can be resumed."""


class Works:
    """What is under way. A turn is cancelled once, and then given the time to write down that it was: the SDK's own
    cancellation comes again at every await, also at those of the ending."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Turn]] = set()

    async def carry_out(self, act: Act, tell: Tell) -> Turn:
        """The turn that `act` comes to; `tell` gets its events, and None after each `BEAT_S` without one.

        Cancelling leaves the turn resumable. Raises Left, and what `act` raises.
        """
        news: asyncio.Queue[TurnEvent | None] = asyncio.Queue()

        async def work() -> Turn:
            return await act(news.put_nowait)

        task = asyncio.create_task(work())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: news.put_nowait(None))
        try:
            while not task.done() or not news.empty():
                event = None
                with anyio.move_on_after(BEAT_S):
                    event = await news.get()
                if event is not None or not task.done():
                    await tell(event)
            if task.cancelled():
                raise Left
            return task.result()
        finally:
            await _left([task])

    async def leave(self) -> None:
        """Interrupt all that is under way."""
        await _left(list(self._tasks))


async def _left(tasks: list[asyncio.Task[Turn]]) -> None:
    working = [task for task in tasks if not task.done()]
    for task in working:
        task.cancel()
    if working:
        with anyio.CancelScope(shield=True):
            await asyncio.wait(working, timeout=LEAVE_S)
    for task in tasks:
        if task.done() and not task.cancelled():
            task.exception()  # asyncio would complain of an error that nobody stayed to hear
