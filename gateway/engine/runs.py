"""Runs: started, resumed, answered, cancelled, replayed. The one place where graphs, store, leases and machines meet."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from gateway.engine import budget, events, lease
from gateway.engine.artifacts import ArtifactStore
from gateway.engine.events import Event
from gateway.engine.files import write_atomically
from gateway.engine.graph import Graph
from gateway.engine.journal import INLINE
from gateway.engine.lease import Lease
from gateway.engine.log import StoredLog
from gateway.engine.machine import Machine, OnAttempt, initial
from gateway.engine.ports import Clock, Notify, Operation, Ports, Random, Silent, SystemClock, SystemRandom
from gateway.engine.replay import LogEnded, ReplayLog
from gateway.engine.state import RunState, Status
from gateway.engine.store import Progress, RunRow, Store
from gateway.errors import ReplayMismatch, RunBusy, StoreError, UsageError

CANCEL_CHECK_S = 0.5


class Pinned:
    """What shaped a run, as it was when the run began: prompts, patterns, recipes, by name."""

    def __init__(self, artifacts: ArtifactStore, shas: Mapping[str, str]) -> None:
        self._artifacts = artifacts
        self._shas = shas

    def names(self) -> list[str]:
        return sorted(self._shas)

    def __contains__(self, name: object) -> bool:
        return name in self._shas

    def text(self, name: str) -> str:
        if name not in self._shas:
            raise StoreError(f"the run did not pin {name}")
        return self._artifacts.get(self._shas[name]).decode()


@dataclass(frozen=True)
class Projection:
    """Files that show a run: `texts` are rewritten when they change, `artifacts` (by sha256) are written once."""

    texts: Mapping[Path, str] = field(default_factory=dict)
    artifacts: Mapping[Path, str] = field(default_factory=dict)


Json = dict[str, Any]


@dataclass(frozen=True)
class GraphType:
    """A kind of run: how its graph, operations and projection are made from its context and pins."""

    name: str
    context: type[BaseModel]
    state: type[BaseModel]
    build: Callable[[Any, Pinned], Graph]
    operations: Callable[[RunRow, Any, Pinned], Mapping[str, Operation]]
    project: Callable[[RunRow, Any, RunState, ArtifactStore], Projection] | None = None


@dataclass(frozen=True)
class Replayed:
    """`decisions` were compared and are identical; `files` were rendered again and are those whose text differs."""

    run_id: str
    decisions: int
    finished: bool
    differing: list[Path]
    children: list[Replayed]


class Runs:
    """All runs of one home directory."""

    def __init__(
        self,
        store: Store,
        artifacts: ArtifactStore,
        *,
        clock: Clock | None = None,
        random: Random | None = None,
        notify: Notify | None = None,
        redact: Callable[[str], str] = lambda text: text,
        watch: Callable[[str, Event], None] | None = None,
        on_attempt: OnAttempt | None = None,
    ) -> None:
        self.store = store
        self.artifacts = artifacts
        self.types: dict[str, GraphType] = {}
        self.clock: Clock = clock or SystemClock()
        self.random: Random = random or SystemRandom()
        self.notify: Notify = notify or Silent()
        self.redact = redact
        self._watch = watch
        self._on_attempt = on_attempt
        self._owner = f"{lease.this_process()}:{id(self)}"

    def register(self, graph_type: GraphType) -> None:
        self.types[graph_type.name] = graph_type

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
        dumped = self.redact(state.dump())
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
            context=json.loads(self.redact(context.model_dump_json())),
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
        return await self.store.create(row, [started], dumped, self._owner)

    async def drive(self, row: RunRow, owned: Lease, *, cancelled: bool = False) -> RunState:
        """Work on a run that this process owns, until it ends or asks. Cancelling the task leaves it resumable, and says so in the store."""
        kind = self.types[row.graph]
        context = kind.context.model_validate(row.context)
        pinned = Pinned(self.artifacts, row.pins)
        _, saved = self.store.snapshot(row.id)
        state = RunState.load(saved, kind.state)
        watch = None if self._watch is None else (lambda event: self._watch(row.id, event))  # type: ignore[misc]
        log = StoredLog(self.store, row.id, owned, self.store.last_seq(row.id), self.clock.now, watch)
        ports = Ports(kind.operations(row, context, pinned), self.clock, self.random, self.notify, self.redact)
        machine = Machine(
            kind.build(context, pinned),
            ports,
            context,
            state,
            log=log,
            artifacts=self.artifacts,
            limits=row.limits,
            seed=row.seed,
            on_persist=lambda state, _, __: self.project(row, context, state),
            on_attempt=self._on_attempt,
        )
        if cancelled:
            machine.cancel()
        keeper = asyncio.create_task(self._keep(log, machine, row.id))
        try:
            self.project(row, context, state)
            return await machine.run()
        except asyncio.CancelledError:
            stopped = Progress(Status.STOPPED.value, "user_cancelled")
            with contextlib.suppress(StoreError):  # not written: then it looks like a crash, and resumes as one
                await log.append(events.RUN_INTERRUPTED, {}, progress=stopped)
                self.project(row, context, replace(machine.state, status=Status.STOPPED, stop_reason="user_cancelled"))
            raise
        finally:
            keeper.cancel()
            with contextlib.suppress(StoreError):
                await self.store.release(owned)

    async def _keep(self, log: StoredLog, machine: Machine, run_id: str) -> None:
        """Renew the lease and look whether somebody wants the run cancelled."""
        renew_at = self.store.term_s / 3
        waited = 0.0
        while True:
            await asyncio.sleep(min(CANCEL_CHECK_S, renew_at))
            waited += min(CANCEL_CHECK_S, renew_at)
            if self.store.cancel_requested(run_id):
                machine.cancel()
            if waited >= renew_at:
                waited = 0.0
                with contextlib.suppress(StoreError):  # the next write tells
                    await log.renew()

    def project(self, row: RunRow, context: BaseModel, state: RunState) -> None:
        """Write the files that show the run; what they say is already in the log."""
        kind = self.types[row.graph]
        if kind.project is None:
            return
        shown = kind.project(row, context, state, self.artifacts)
        try:
            for path, sha256 in shown.artifacts.items():
                if not path.exists():
                    write_atomically(path, self.artifacts.get(sha256))
            for path, text in shown.texts.items():
                write_atomically(path, text.encode())
        except OSError as error:
            raise StoreError(
                f"cannot write {error.filename}: {error.strerror}", hint="free some disk space, then resume the run"
            ) from error

    async def resume(self, run_id: str, *, cancelled: bool = False) -> RunState:
        """Go on with a run that was interrupted, has its answer, or failed for a reason that may be gone. Raises RunBusy while it is worked on."""
        row = self.store.run(run_id)
        owned = await self.store.acquire(f"run:{row.id}", self._owner, self.clock.now())
        kind = self.types[row.graph]
        try:
            _, saved = self.store.snapshot(row.id)
            state = RunState.load(saved, kind.state)
            unanswered = (
                state.status is Status.WAITING and not cancelled and not await self._answered(row, state, owned)
            )
            if state.status is Status.COMPLETE or unanswered:
                await self.store.release(owned)
                return state
            resumed = Event(
                self.store.last_seq(row.id) + 1, events.RUN_RESUMED, {"after": state.status.value}, self.clock.now()
            )
            again = reopened(state)
            await self.store.append(row.id, owned, [resumed], again.dump(), Progress(Status.RUNNING.value))
        except BaseException:
            with contextlib.suppress(StoreError):
                await self.store.release(owned)
            raise
        return await self.drive(self.store.run(row.id), owned, cancelled=cancelled)

    async def _answered(self, row: RunRow, state: RunState, owned: Lease) -> bool:
        """Whether the question has its answer; a deadline that has passed gives the one for that case."""
        waiting = state.waiting
        assert waiting is not None
        if any(e.kind == events.RUN_ANSWERED and e.data["id"] == waiting.id for e in self.store.events(waiting.run_id)):
            return True
        if waiting.deadline is None or waiting.on_timeout is None or self.clock.now() < waiting.deadline:
            return False
        await self._answer(
            waiting.run_id, waiting.id, waiting.on_timeout, owned if waiting.run_id == row.id else None, timeout=True
        )
        return True

    async def answer(self, run_id: str, text: str) -> None:
        """Answer a run's question. Raises UsageError where it asked none, was answered already, or offers other options."""
        row = self.store.run(run_id)
        state = RunState.load(self.store.snapshot(row.id)[1], self.types[row.graph].state)
        if state.status is not Status.WAITING or state.waiting is None:
            raise UsageError(f"run {row.id} is not waiting for an answer: it is {row.status}")
        waiting = state.waiting
        if waiting.options:
            chosen = [option for option in waiting.options if option.startswith(text.strip().lower()) and text.strip()]
            if len(chosen) != 1:
                raise UsageError(f"{text!r} is not one of the answers: {', '.join(waiting.options)}")
            text = chosen[0]
        if any(e.kind == events.RUN_ANSWERED and e.data["id"] == waiting.id for e in self.store.events(waiting.run_id)):
            raise UsageError(
                f"the question of run {row.id} has been answered already", hint=f"echelon runs resume {row.id}"
            )
        await self._answer(waiting.run_id, waiting.id, text, None)

    async def _answer(
        self, run_id: str, wait_id: str, text: str, owned: Lease | None, *, timeout: bool = False
    ) -> None:
        mine = owned or await self.store.acquire(f"run:{run_id}", self._owner, self.clock.now())
        try:
            seq = self.store.last_seq(run_id)
            data = {"id": wait_id, "answer": self.redact(text), "timeout": timeout}
            await self.store.append(run_id, mine, [Event(seq + 1, events.RUN_ANSWERED, data, self.clock.now())])
        finally:
            if owned is None:
                await self.store.release(mine)

    async def cancel(self, run_id: str) -> bool:
        """End a run for good. True: done. False: its owner has been asked to, and does so within a second."""
        row = self.store.run(run_id)
        if row.status not in (Status.RUNNING.value, Status.WAITING.value, Status.STOPPED.value):
            raise UsageError(f"run {row.id} has ended: it is {row.status}")
        try:
            await self.resume(row.id, cancelled=True)
        except RunBusy:
            await self.store.request_cancel(row.id)
            return False
        return True

    async def replay(self, run_id: str) -> Replayed:
        """Run it again from its log alone, its children too. Raises ReplayMismatch at the first event that differs."""
        row = self.store.run(run_id)
        kind = self.types[row.graph]
        context = kind.context.model_validate(row.context)
        recorded = self.store.events(row.id)
        whole = recorded[0].data["state"]
        dumped = (
            self.artifacts.get(whole["artifact"]).decode() if set(whole) == {"artifact", "bytes"} else json.dumps(whole)
        )
        log = ReplayLog(row.id, recorded)
        pinned = Pinned(self.artifacts, row.pins)
        machine = Machine(
            kind.build(context, pinned),
            Ports(kind.operations(row, context, pinned), self.clock, self.random, Silent(), self.redact),
            context,
            RunState.load(dumped, kind.state),
            log=log,
            artifacts=self.artifacts,
            limits=row.limits,
            seed=row.seed,
        )
        with contextlib.suppress(LogEnded):
            while not log.finished:
                ended = await machine.run()
                if log.finished:
                    break
                if ended.status is Status.COMPLETE:
                    raise ReplayMismatch("the replay is complete, and the log goes on", seq=log.seq + 1)
                machine.state = reopened(ended)
        final = machine.state
        if row.status == Status.STOPPED.value and final.status is Status.RUNNING:
            final = replace(final, status=Status.STOPPED, stop_reason=row.stop_reason)
        differing = []
        if kind.project is not None and row.status != Status.RUNNING.value:
            shown = kind.project(row, context, final, self.artifacts)
            differing = [path for path, text in shown.texts.items() if not path.exists() or path.read_text() != text]
        children = [await self.replay(child.id) for child in reversed(self.store.runs(parent=row.id, limit=10_000))]
        return Replayed(
            row.id, len([e for e in recorded if e.kind == events.NODE_DECIDED]), log.finished, differing, children
        )


def reopened(state: RunState) -> RunState:
    """A state that goes on: the same visit, so that what it did is not done again; after a failure, one more attempt."""
    if state.status in (Status.FAILED, Status.STOPPED):
        return replace(state, status=Status.RUNNING, stop_reason=None, error=None, attempt=state.attempt + 1)
    return replace(state, status=Status.RUNNING, waiting=None)
