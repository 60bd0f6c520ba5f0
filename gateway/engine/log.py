"""A run's log as the machine sees it: append, and what is already there. In memory, or in the store under a lease."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from gateway.engine.events import Event
from gateway.engine.lease import Lease
from gateway.engine.store import Progress, Store
from gateway.errors import LeaseLost

Watcher = Callable[[Event], None]


class Log(Protocol):
    """What a machine writes to; `recorded` are the events of the interrupted visit."""

    run_id: str

    @property
    def seq(self) -> int:
        """The number of the last event."""

    async def append(
        self,
        kind: str,
        data: dict[str, Any],
        *,
        state: str | None = None,
        progress: Progress | None = None,
        durable: bool = False,
    ) -> Event: ...

    def recorded(self, visit_seq: int) -> Sequence[Event]: ...

    def decided(self) -> dict[str, Any] | None:
        """In a replay, the record of the decision that comes next."""

    def answered(self, key: str) -> None:
        """A call was answered from the log."""

    def check_owner(self) -> None:
        """Raise LeaseLost if this process may no longer act for the run."""


class MemoryLog:
    """For machines without a store; everything is kept in `events`."""

    def __init__(self, run_id: str = "memory", events: Sequence[Event] = ()) -> None:
        self.run_id = run_id
        self.events = list(events)

    @property
    def seq(self) -> int:
        return self.events[-1].seq if self.events else 0

    async def append(
        self,
        kind: str,
        data: dict[str, Any],
        *,
        state: str | None = None,
        progress: Progress | None = None,
        durable: bool = False,
    ) -> Event:
        event = Event(self.seq + 1, kind, data)
        self.events.append(event)
        return event

    def recorded(self, visit_seq: int) -> Sequence[Event]:
        return [event for event in self.events if event.seq > visit_seq]

    def decided(self) -> dict[str, Any] | None:
        return None

    def answered(self, key: str) -> None:
        pass

    def check_owner(self) -> None:
        pass


class StoredLog:
    """Appends go to the store one after the other, each checked against the lease's epoch."""

    def __init__(
        self, store: Store, run_id: str, lease: Lease, seq: int, now: Callable[[], float], watch: Watcher | None = None
    ) -> None:
        self.run_id = run_id
        self.lease = lease
        self._store = store
        self._seq = seq
        self._now = now
        self._watch = watch
        self._order = asyncio.Lock()
        self._sure_until = time.monotonic() + store.term_s
        self._lost: LeaseLost | None = None

    @property
    def seq(self) -> int:
        return self._seq

    async def append(
        self,
        kind: str,
        data: dict[str, Any],
        *,
        state: str | None = None,
        progress: Progress | None = None,
        durable: bool = False,
    ) -> Event:
        event = Event(self._seq + 1, kind, data, self._now())
        at_once = not durable and not self._order.locked()
        if at_once and self._store.append_now(self.run_id, self.lease, event, state, progress):
            self._written(event)
            return event
        async with self._order:
            event = Event(self._seq + 1, kind, data, self._now())
            write = self._store.append(self.run_id, self.lease, [event], state, progress, durable=durable)
            await self._to_its_end(event, asyncio.ensure_future(write))
        return event

    async def _to_its_end(self, event: Event, write: asyncio.Future[None]) -> None:
        """Wait for a commit in the thread, also when cancelled: the numbers must stay in step with the store."""
        cancelled: asyncio.CancelledError | None = None
        while not write.done():
            try:
                await asyncio.shield(write)
            except asyncio.CancelledError as error:
                cancelled = error
            except Exception:
                break
        if write.exception() is None:
            self._written(event)
        if cancelled is not None:
            raise cancelled
        write.result()

    def _written(self, event: Event) -> None:
        self._seq = event.seq
        if self._watch is not None:
            self._watch(event)

    def recorded(self, visit_seq: int) -> Sequence[Event]:
        return self._store.events(self.run_id, after=visit_seq) if visit_seq < self._seq else ()

    def decided(self) -> dict[str, Any] | None:
        return None

    def answered(self, key: str) -> None:
        pass

    async def renew(self) -> None:
        try:
            await self._store.renew(self.lease, self._now())
        except LeaseLost as error:
            self._lost = error
            raise
        self._sure_until = time.monotonic() + self._store.term_s

    def check_owner(self) -> None:
        """Asks the store only where the lease may have run out: after a freeze."""
        if self._lost is not None:
            raise self._lost
        if time.monotonic() > self._sure_until:
            self._store.verify(self.lease)
