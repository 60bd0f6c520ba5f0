"""Runs: started, resumed, answered, cancelled, replayed. Here graphs, store, leases and machines meet."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import BaseModel

from gateway.engine import budget, events, lease
from gateway.engine.artifacts import ArtifactStore
from gateway.engine.events import Event
from gateway.engine.graph_type import GraphType, GraphTypes, Pinned, Projection
from gateway.engine.journal import INLINE, WaitRequested
from gateway.engine.lease import Lease
from gateway.engine.log import StoredLog
from gateway.engine.machine import CANCELLED, Machine, OnAttempt, initial
from gateway.engine.observing import Below
from gateway.engine.ports import Clock, Observer, Ports, Random, Scope, Silent, SystemClock, SystemRandom
from gateway.engine.records import plain
from gateway.engine.replay import Replayed, replay
from gateway.engine.state import RunState, Status, Waiting, to_json
from gateway.engine.store import Progress, RunRow, Store
from gateway.errors import Erased, RunBusy, RunNotFound, StoreError, UsageError

__all__ = ["GraphType", "Pinned", "Projection", "Replayed", "Runs"]  # what those who define runs need

CANCEL_CHECK_S = 0.5


class Runs:
    """All runs of one home directory."""

    def __init__(
        self,
        store: Store,
        artifacts: ArtifactStore,
        *,
        clock: Clock | None = None,
        random: Random | None = None,
        redact: Callable[[str], str] = lambda text: text,
        on_attempt: OnAttempt | None = None,
    ) -> None:
        self.store = store
        self.artifacts = artifacts
        self.types = GraphTypes()
        self.clock: Clock = clock or SystemClock()
        self.random: Random = random or SystemRandom()
        self.redact = redact
        self._on_attempt = on_attempt
        self.owner = f"{lease.this_process()}:{id(self)}"
        self._unreleased: list[Lease] = []
        self._lent: dict[str, Counter[str]] = {}  # by run: what its children that are under way may use
        self._observers: dict[str, Observer] = {}  # by run: who sees its children, too

    def register(self, graph_type: GraphType) -> None:
        self.register_later(graph_type.name, lambda: graph_type)

    def register_later(self, name: str, make: Callable[[], GraphType]) -> None:
        """A kind of run that is made when the first run of it is met."""
        self.types.add(name, make)

    def _type(self, row: RunRow) -> GraphType:
        if row.graph not in self.types:
            raise UsageError(
                f"run {row.id} is a {row.graph}, which this program does not know",
                hint=f"it knows: {', '.join(self.types)}",
            )
        return self.types[row.graph]

    async def create(
        self,
        graph: str,
        context: BaseModel,
        data: BaseModel,
        *,
        title: str,
        limits: Mapping[str, float | None],
        pins: Mapping[str, bytes],
        session: str | None = None,
        parent: str | None = None,
        run_id: str | None = None,
    ) -> tuple[RunRow, Lease]:
        """Write a new run, owned by this process; `drive` works on it."""
        kind = self.types[graph]
        now = self.clock.now()
        pinned = {name: self.artifacts.put(content) for name, content in pins.items()}
        built = kind.build(context, Pinned(self.artifacts, pinned))
        state = initial(built, data)
        dumped = state.dump(to_json(plain(state.data.model_dump(mode="json"), self.redact)))
        whole: Any = json.loads(dumped)
        if len(dumped) > INLINE:
            whole = {"artifact": self.artifacts.put(dumped.encode()), "bytes": len(dumped)}
        row = RunRow(
            id=run_id or self.random.identifier(now),
            graph=graph,
            title=self.redact(title),
            session=session,
            ordinal=None,
            parent=parent,
            seed=self.random.seed(),
            context=plain(context.model_dump(mode="json"), self.redact),
            limits=budget.limits_of(limits),
            pins=pinned,
            status=Status.RUNNING.value,
            stop_reason=None,
            question=None,
            created=now,
            updated=now,
            cancel=False,
        )
        started = Event(
            1, events.RUN_STARTED, {"graph": graph, "state": whole, "limits": row.limits, "pins": pinned}, now
        )
        return await self.store.create(row, [started], dumped, self.owner)

    async def drive(
        self, row: RunRow, owned: Lease, observer: Observer | None = None, *, cancelled: bool = False
    ) -> RunState:
        """Work on a run that this process owns, until it ends or asks; `observer` is told what goes on.

        Cancelling the task leaves it resumable, and says so in the store.
        """
        if observer is not None:
            self._observers[row.id] = observer
        try:
            ended = await self._drive(row, owned, observer, cancelled)
        finally:
            self._observers.pop(row.id, None)
            let_go = self._type(row).let_go
            if let_go is not None:
                await let_go(row.id)
            await self._release(owned)
        if ended.status is Status.WAITING and self.store.cancel_requested(row.id):  # it came too late to interrupt
            return await self.resume(row.id, observer)
        return ended

    async def _drive(self, row: RunRow, owned: Lease, observer: Observer | None, cancelled: bool) -> RunState:
        self.store.verify(owned)  # who was frozen since must not even read on
        kind = self._type(row)
        context = kind.context.model_validate(row.context)
        pinned = Pinned(self.artifacts, row.pins)
        _, saved = self.store.snapshot(row.id)
        state = RunState.load(saved, kind.state)
        watch = None if observer is None else partial(observer.wrote, row.id)
        log = StoredLog(self.store, row.id, owned, self.store.last_seq(row.id), self.clock.now, watch)
        ports = Ports(
            kind.operations(row, context, pinned),
            self.clock,
            self.random,
            observer or Silent(),
            observer is not None,
            self.redact,
        )
        shown: set[str] = set()

        def persisted(state: RunState, node: str) -> None:
            self._project(log, row, context, state, shown)
            if observer is not None:
                observer.moved(row.id, node, state)

        machine = Machine(
            kind.build(context, pinned),
            ports,
            context,
            state,
            log=log,
            artifacts=self.artifacts,
            limits=row.limits,
            seed=row.seed,
            on_persist=lambda state, _, node: persisted(state, node),
            on_attempt=self._on_attempt,
        )
        if cancelled:
            machine.cancel()
        keeper = asyncio.create_task(self._keep(log, machine, row.id))
        try:
            self._project(log, row, context, state, shown)
            return await machine.run()
        except asyncio.CancelledError:
            stopped = Progress(Status.STOPPED.value, CANCELLED)
            with contextlib.suppress(StoreError):  # not written: then it looks like a crash, and resumes as one
                await log.append(events.RUN_INTERRUPTED, {}, progress=stopped)
                stopped_state = replace(machine.state, status=Status.STOPPED, stop_reason=CANCELLED)
                self._project(log, row, context, stopped_state, shown)
            raise
        finally:
            keeper.cancel()

    def status(self, row: RunRow) -> str:
        """The run's status for people: "interrupted" where it says that it is running, and nobody works on it."""
        working = row.status != Status.RUNNING.value or self.store.held(f"run:{row.id}", self.clock.now())
        return row.status if working else "interrupted"

    async def _acquire(self, run_id: str) -> Lease:
        while self._unreleased:
            await self.store.release(self._unreleased[-1])
            self._unreleased.pop()
        return await self.store.acquire(f"run:{run_id}", self.owner, self.clock.now())

    async def _release(self, owned: Lease) -> None:
        try:
            await self.store.release(owned)
        except StoreError:  # the disk may be full: it is made up for before the next lease is taken
            self._unreleased.append(owned)

    async def _keep(self, log: StoredLog, machine: Machine, run_id: str) -> None:
        """Renew the lease and look whether somebody wants the run cancelled."""
        renew_at = self.store.term_s / 3
        waited = 0.0
        while True:
            await asyncio.sleep(min(CANCEL_CHECK_S, renew_at))
            waited += min(CANCEL_CHECK_S, renew_at)
            with contextlib.suppress(StoreError):  # the run's next write tells
                if self.store.cancel_requested(run_id):
                    machine.cancel()
                if waited >= renew_at:
                    waited = 0.0
                    await log.renew()

    def _project(self, log: StoredLog, row: RunRow, context: BaseModel, state: RunState, written: set[str]) -> None:
        log.check_owner()  # who was frozen and lost the run must not put old files over newer ones
        self.project(row, context, state, written)

    def project(self, row: RunRow, context: BaseModel, state: RunState, written: set[str] | None = None) -> None:
        """Write the files that show the run; what they say is already in the log. `written` remembers between calls
        what need not be looked at again."""
        kind = self._type(row)
        if kind.project is not None:
            kind.project(row, context, state, self.artifacts).write(
                self.artifacts, set() if written is None else written
            )

    async def resume(
        self,
        run_id: str,
        observer: Observer | None = None,
        *,
        cancelled: bool = False,
        limits: Mapping[str, float] | None = None,
    ) -> RunState:
        """Go on with a run that was interrupted, has its answer, has reached a limit that `limits` raises (by counter,
        for the whole run), or failed for a reason that may be gone.

        A complete run, or one that still waits, is given back as it is. A wish to cancel that nobody has fulfilled yet
        is fulfilled. Raises RunBusy while it is worked on, UsageError for a limit that is not in force, or that would
        be raised for a run which does not go on.
        """
        row = self.store.run(run_id)
        self._type(row)
        raised = budget.raised(row.limits, limits or {})
        more = {"limits": raised} if raised != row.limits else {}
        owned = await self._acquire(row.id)
        try:
            state = self.state(row)
            cancelled = cancelled or self.store.cancel_requested(row.id)
            waits = state.status is Status.WAITING and not cancelled
            if state.status is Status.COMPLETE or (waits and not await self._answered(row, state, owned)):
                if limits:
                    raise UsageError(f"run {row.id} is {state.status.value}: limits are raised of runs that go on")
                self.project(
                    row, self._type(row).context.model_validate(row.context), state
                )  # a crash may have come first
                await self._release(owned)
                return state
            resumed = Event(
                self.store.last_seq(row.id) + 1,
                events.RUN_RESUMED,
                {"after": state.status.value, **more},
                self.clock.now(),
            )
            progress = Progress(Status.RUNNING.value, limits=more.get("limits"))
            await self.store.append(row.id, owned, [resumed], state.reopened().dump(), progress)
        except BaseException:
            await self._release(owned)
            raise
        return await self.drive(self.store.run(row.id), owned, observer, cancelled=cancelled)

    async def _answered(self, row: RunRow, state: RunState, owned: Lease) -> bool:
        """Whether the question has its answer; a deadline that has passed gives the one for that case."""
        waiting = state.waiting
        assert waiting is not None
        if not self._open(waiting):
            return True
        if waiting.deadline is None or waiting.on_timeout is None or self.clock.now() < waiting.deadline:
            return False
        await self._answer(waiting, waiting.on_timeout, owned if waiting.run_id == row.id else None, late=True)
        return True

    def _open(self, waiting: Waiting) -> bool:
        """Whether the run that asked still waits for an answer to this question."""
        asker = self.store.run(waiting.run_id)
        state = self.state(asker)
        if state.status is not Status.WAITING or state.waiting is None or state.waiting.id != waiting.id:
            return False
        since = self.store.snapshot(asker.id)[0]  # the same question may have been asked, and answered, before
        return not any(event.kind == events.RUN_ANSWERED for event in self.store.events(asker.id, after=since))

    async def answer(self, run_id: str, text: str) -> None:
        """Answer a run's question. Raises UsageError: it asked none, was answered already, or offers other options."""
        row = self.store.run(run_id)
        state = self.state(row)
        if state.status is not Status.WAITING or state.waiting is None:
            raise UsageError(f"run {row.id} is not waiting for an answer: it is {row.status}")
        waiting = state.waiting
        if waiting.options:
            text = waiting.chosen(text)
        await self._answer(waiting, text, None)

    async def _answer(self, waiting: Waiting, text: str, owned: Lease | None, *, late: bool = False) -> None:
        """Under the lease of the run that asked: of two answers the first one counts, and the other is told so."""
        run_id = waiting.run_id
        mine = owned or await self._acquire(run_id)
        try:
            if not self._open(waiting):
                raise UsageError(
                    f"the question of run {run_id} has been answered already", hint=f"echelon runs resume {run_id}"
                )
            seq = self.store.last_seq(run_id)
            data = {"id": waiting.id, "answer": plain(text, self.redact), "timeout": late}
            await self.store.append(run_id, mine, [Event(seq + 1, events.RUN_ANSWERED, data, self.clock.now())])
        finally:
            if owned is None:
                await self._release(mine)

    async def child(
        self,
        scope: Scope,
        graph: str,
        context: BaseModel,
        data: BaseModel,
        *,
        title: str,
        limits: Mapping[str, float | None],
        pins: Mapping[str, bytes],
        session: str | None = None,
    ) -> RunState:
        """For a CHILD operation: the run that is reserved for this call, begun or resumed, to its end.

        Its limits are the smaller of its own and of what its parent, and the other children under way, leave.
        The operation charges `budget.shared(state.counters)`. Raises WaitRequested where the child asks a person.
        """
        above = self._observers.get(scope.run_id)
        observer = None if above is None else Below(scope.child_id, above)
        try:
            row = self.store.run(scope.child_id)
        except RunNotFound:
            lent = self._lent.setdefault(scope.run_id, Counter())
            rest = budget.reserve(budget.limits_of(limits), budget.left(scope.limits, lent))
            mine = Counter({name: limit for name, limit in rest.items() if name not in budget.OWN})
            lent.update(mine)
            try:
                row, owned = await self.create(
                    graph,
                    context,
                    data,
                    title=title,
                    limits=rest,
                    pins=pins,
                    session=session,
                    parent=scope.run_id,
                    run_id=scope.child_id,
                )
                ended = await self.drive(row, owned, observer)
            finally:
                lent.subtract(mine)
        else:
            ended = self.state(row)
            if ended.status is not Status.STOPPED:  # which has used up what it may, or was cancelled
                ended = await self.resume(row.id, observer)
        if ended.status is Status.WAITING and ended.waiting is not None:
            raise WaitRequested(ended.waiting)
        return ended

    def state(self, row: RunRow) -> RunState:
        """Where a run was when it was last written."""
        return RunState.load(self.store.snapshot(row.id)[1], self._type(row).state)

    def hint(self, run_id: str) -> str:
        """What whoever failed a run said could be done: its state has only the message."""
        decided = (event.data for event in reversed(self.store.events(run_id)) if event.kind == events.NODE_DECIDED)
        return str(next(decided, {}).get("hint", ""))

    async def signal(self, run_id: str, name: str, data: Mapping[str, Any]) -> int:
        """Tell a run something, also one that another process works on; its number. The run hears it when it asks."""
        row = self.store.run(run_id)
        return await self.store.signal(row.id, name, plain(dict(data), self.redact), self.clock.now())

    async def cancel(self, run_id: str) -> bool:
        """End a run for good. True: done. False: its owner has been asked to, and does so within a second."""
        row = self.store.run(run_id)
        if row.status not in (Status.RUNNING, Status.WAITING, Status.STOPPED):
            raise UsageError(f"run {row.id} has ended: it is {row.status}")
        try:
            await self.resume(row.id, cancelled=True)
        except RunBusy:
            await self.store.request_cancel(row.id)
            return False
        return True

    async def replay(self, run_id: str) -> Replayed:
        """Run it again from its log alone, its children too. Raises ReplayMismatch at the first event that differs, and
        Erased for a run that takes another way without what was erased from it."""
        row = self.store.run(run_id)
        if self.store.read("SELECT 1 FROM erased WHERE run_id = ? AND NOT replayable", (row.id,)):
            raise Erased(
                f"run {row.id} cannot be replayed: something it depended on was erased, as a person wanted",
                hint=f"what is left of it: echelon runs events {row.id}",
            )
        replayed = await replay(self._type(row), row, self.store.events(row.id), self.artifacts, self.redact)
        children = [await self.replay(child.id) for child in reversed(self.store.runs(parent=row.id, limit=-1))]
        return replace(replayed, children=children)
