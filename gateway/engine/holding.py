"""A lease that this process keeps for as long as it works with something: a device, an agent."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from weakref import WeakKeyDictionary

from gateway.engine.lease import Lease, this_process
from gateway.engine.store import Store
from gateway.errors import StoreError

_UNRELEASED: WeakKeyDictionary[Store, list[Lease]] = WeakKeyDictionary()  # while a disk was full: made up for later


class Holding:
    """While it is held, nobody else gets it."""

    def __init__(self, store: Store, lease: Lease) -> None:
        self._store = store
        self._lease = lease

    def verify(self) -> None:
        """Before an act: raises LeaseLost where another process has it now."""
        self._store.verify(self._lease)

    async def keep(self) -> None:
        """Renew it, until this is cancelled."""
        while True:
            await asyncio.sleep(self._store.term_s / 3)
            with suppress(StoreError):  # `verify` tells
                await self._store.renew(self._lease, time.time())

    async def release(self) -> None:
        try:
            await self._store.release(self._lease)
        except StoreError:  # else it would end with its term only, since this process is alive
            _UNRELEASED.setdefault(self._store, []).append(self._lease)


@asynccontextmanager
async def holding(store: Store, name: str) -> AsyncIterator[Holding]:
    """The lease of that name, renewed in the background. Raises RunBusy where somebody has it; that of a process that
    has ended is free at once, that of one that hangs after its term."""
    while left := _UNRELEASED.get(store):
        await store.release(left[-1])
        left.pop()
    held = Holding(store, await store.acquire(name, f"{this_process()}:{name}", time.time()))
    keeper = asyncio.create_task(held.keep())
    try:
        yield held
    finally:
        keeper.cancel()
        with suppress(asyncio.CancelledError):
            await keeper
        await held.release()
