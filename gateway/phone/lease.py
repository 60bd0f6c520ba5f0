"""One process for each device: two that act on one phone would undo each other's work."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from gateway.engine.holding import Holding, holding
from gateway.engine.store import Store
from gateway.errors import DeviceBusy, RunBusy


def lease_name(serial: str) -> str:
    return f"device:{serial}"


@asynccontextmanager
async def device_lease(store: Store, serial: str) -> AsyncIterator[Holding]:
    """The device for this process alone. Raises DeviceBusy where another one has it."""
    async with AsyncExitStack() as stack:
        try:
            held = await stack.enter_async_context(holding(store, lease_name(serial)))
        except RunBusy as error:
            raise DeviceBusy(str(error).replace(lease_name(serial), serial, 1), hint=error.hint) from error
        yield held
