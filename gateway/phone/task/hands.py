"""The phone that a run has in hand: opened and leased when it is first needed, let go when nobody works on the run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, TypeVar

from gateway.engine.holding import Holding
from gateway.engine.store import Store
from gateway.phone.lease import device_lease
from gateway.phone.task.state import TaskOptions

if TYPE_CHECKING:
    from gateway.phone.bridge import Bridge

T = TypeVar("T")


class Hand:
    """One phone, for one run. Its bridge is used in threads; before an act the lease is looked at."""

    def __init__(self, store: Store, options: TaskOptions) -> None:
        self._store = store
        self._options = options
        self._opening = asyncio.Lock()
        self._held = AsyncExitStack()
        self._bridge: Bridge | None = None
        self._lease: Holding | None = None

    async def use(self, work: Callable[[Bridge], T], serial: str | None = None) -> T:
        """What `work` gives, in a thread. `serial` is that of the phone that the task began with."""
        bridge = await self._open(serial)
        return await asyncio.to_thread(work, bridge)

    async def act(self, work: Callable[[Bridge], T], serial: str | None) -> T:
        """The same for what changes something. Raises LeaseLost where another process has the phone now."""
        bridge = await self._open(serial)
        assert self._lease is not None
        self._lease.verify()
        return await asyncio.to_thread(work, bridge)

    async def close(self) -> None:
        """Free the phone."""
        async with self._opening:
            self._bridge = self._lease = None
            await self._held.aclose()

    async def _open(self, serial: str | None) -> Bridge:
        async with self._opening:
            if self._bridge is not None:
                return self._bridge
            bridge = await asyncio.to_thread(self._connected, serial)
            try:
                self._lease = await self._held.enter_async_context(device_lease(self._store, bridge.serial))
            except BaseException:
                await asyncio.to_thread(bridge.close)
                raise
            self._held.push_async_callback(asyncio.to_thread, bridge.close)
            self._bridge = bridge
            return bridge

    def _connected(self, serial: str | None) -> Bridge:
        from gateway.phone.bridge import Bridge

        asked = self._options
        where = (serial or asked.serial, asked.mode, asked.adb_server)
        return Bridge.open(*where, max_retries=asked.retries, retry_delay=asked.retry_delay)


class Hands:
    """Those of all runs that this process works on."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._of: dict[str, Hand] = {}

    def of(self, run_id: str, options: TaskOptions) -> Hand:
        """The run's own; made when it is first asked for."""
        if run_id not in self._of:
            self._of[run_id] = Hand(self._store, options)
        return self._of[run_id]

    async def let_go(self, run_id: str) -> None:
        """Free the run's phone, if it has one: nobody works on the run any more."""
        hand: Any = self._of.pop(run_id, None)
        if hand is not None:
            await hand.close()
