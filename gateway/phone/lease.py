"""One process for each device: two that act on one phone would undo each other's work."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from gateway.engine.lease import Lease, this_process
from gateway.engine.store import Store
from gateway.errors import DeviceBusy, RunBusy, StoreError


class DeviceLease:
    """While it is held, no other process gets the device."""

    def __init__(self, store: Store, lease: Lease) -> None:
        self._store = store
        self._lease = lease

    def verify(self) -> None:
        """Before an act: raises LeaseLost where another process has the device now."""
        self._store.verify(self._lease)

    async def keep(self) -> None:
        """Renew it, until this is cancelled."""
        while True:
            await asyncio.sleep(self._store.term_s / 3)
            with suppress(StoreError):  # `verify` tells
                await self._store.renew(self._lease, time.time())

    async def release(self) -> None:
        await self._store.release(self._lease)


def lease_name(serial: str) -> str:
    return f"device:{serial}"


@asynccontextmanager
async def device_lease(store: Store, serial: str) -> AsyncIterator[DeviceLease]:
    """The device for this process alone, renewed in the background. Raises DeviceBusy where another one has it; the
    lease of a process that has ended is free at once, that of one that hangs after its term."""
    owner = f"{this_process()}:{serial}"
    try:
        lease = DeviceLease(store, await store.acquire(lease_name(serial), owner, time.time()))
    except RunBusy as error:
        raise DeviceBusy(str(error).replace(lease_name(serial), serial, 1), hint=error.hint) from error
    keeper = asyncio.create_task(lease.keep())
    try:
        yield lease
    finally:
        keeper.cancel()
        with suppress(asyncio.CancelledError):
            await keeper
        with suppress(StoreError):  # it ends with its term
            await lease.release()
