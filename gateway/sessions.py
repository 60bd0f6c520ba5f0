"""Sessions: turns that follow each other and know of each other. One turn of a session at a time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from gateway.engine.lease import Lease
from gateway.engine.runs import Runs
from gateway.errors import RunBusy, StoreError, UsageError
from gateway.stream import OnEvent, SessionBusy

POLL_S = 0.2


def check_session(name: str) -> None:
    """A session's name is a folder's name too. Raises UsageError."""
    if not name or name.startswith(".") or len(name) > 100 or not all(c.isalnum() or c in "-_." for c in name):
        raise UsageError(f"{name!r} is not a session's name", hint="use letters, digits, dashes, dots and underscores")


@contextlib.asynccontextmanager
async def one_at_a_time(runs: Runs, session: str, on_event: OnEvent | None) -> AsyncIterator[None]:
    """The session, as soon as nobody else works on a turn of it, in this process or another."""
    owner, told = f"{runs.owner}:{id(asyncio.current_task())}", False
    while True:
        try:
            lease = await runs.store.acquire(f"session:{session}", owner, runs.clock.now())
            break
        except RunBusy as busy:
            if not told and on_event is not None:
                on_event(SessionBusy(session, str(busy)))
            told = True
            await asyncio.sleep(POLL_S)
    keeper = asyncio.create_task(_keep(runs, lease))
    try:
        yield
    finally:
        keeper.cancel()
        with contextlib.suppress(StoreError):  # then it ends with its term; what the turn came to is not lost
            await runs.store.release(lease)


async def _keep(runs: Runs, lease: Lease) -> None:
    while True:
        await asyncio.sleep(runs.store.term_s / 3)
        with contextlib.suppress(StoreError):  # the database may be locked for a moment: the next time counts
            await runs.store.renew(lease, runs.clock.now())
