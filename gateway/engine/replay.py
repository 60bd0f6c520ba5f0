"""Replay: the graph runs with every call answered from the log, and must write the same events again."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gateway.engine import events
from gateway.engine.artifacts import ArtifactStore
from gateway.engine.events import Event
from gateway.engine.graph_type import GraphType, Pinned
from gateway.engine.journal import WaitRequested
from gateway.engine.machine import Machine
from gateway.engine.ports import Ports
from gateway.engine.state import RunState, Status, Waiting
from gateway.engine.store import Progress, RunRow
from gateway.errors import ReplayMismatch

SIBLING_S = (
    1.0  # a call that was cut off when its sibling failed is cut off again within this time, or it is a difference
)


@dataclass(frozen=True)
class Replayed:
    """`decisions` were compared and are identical; `files` were rendered again and are those whose text differs."""

    run_id: str
    decisions: int
    finished: bool
    differing: list[Path]
    children: list[Replayed]


class Relabelled(ReplayMismatch):
    """A log that is being rewritten has found a call again under its new arguments: the attempt is made once more."""


class LogEnded(Exception):
    """The log has no further decision: the run was interrupted here, or is still going on."""


class ReplayLog:
    """Answers from a recorded log, and compares what the machine writes.

    Each decision ends a pass. A pass sees what it saw live: what was written before that decision.
    """

    def __init__(self, run_id: str, recorded: Sequence[Event]) -> None:
        self.run_id = run_id
        self._events = list(recorded)
        self._decisions = [event for event in recorded if event.kind == events.NODE_DECIDED]
        self._limits = [(event.seq, event.data["limits"]) for event in recorded if "limits" in event.data]
        self._done = 0
        self._answered: set[str] = set()

    @property
    def seq(self) -> int:
        return self._next().seq - 1

    @property
    def finished(self) -> bool:
        return self._done == len(self._decisions)

    @property
    def decisions(self) -> int:
        return len(self._decisions)

    def limits(self) -> dict[str, float]:
        """Those in force at the next decision: they may have been raised when the run was resumed."""
        return next(limits for seq, limits in reversed(self._limits) if self.finished or seq < self._next().seq)

    def _next(self) -> Event:
        if self.finished:
            raise LogEnded
        return self._decisions[self._done]

    def decided(self) -> dict[str, Any]:
        return self._next().data

    def recorded(self, visit_seq: int) -> Sequence[Event]:
        return self._events[visit_seq : self._next().seq - 1]  # numbered without gaps, from 1

    def answered(self, key: str) -> None:
        self._answered.add(key)

    def check_owner(self) -> None:
        pass

    async def append(
        self,
        kind: str,
        data: dict[str, Any],
        *,
        state: str | None = None,
        progress: Progress | None = None,
        durable: bool = False,
    ) -> Event:
        logged = self._next()
        if kind == events.NODE_DECIDED:
            self._compare(logged, data)
            self._done += 1
            self._answered.clear()
            return logged
        begun = any(event.data.get("digest") == data["digest"] for event in self._pass(data["key"]))
        if begun and logged.data["decision"] == "wait":  # the call that could not go on without an answer
            waiting = logged.data["waiting"]
            raise WaitRequested(Waiting(**{**waiting, "options": tuple(waiting["options"])}))
        if begun or logged.data["outcome"] != "success":
            await asyncio.sleep(SIBLING_S)
        raise self._unknown_call(data)

    def _pass(self, key: str | None = None) -> list[Event]:
        """The events between the last decision and the next; of one call, where its key is given."""
        begins = self._decisions[self._done - 1].seq if self._done else 0
        between = list(self._events[begins : self._next().seq - 1])
        return between if key is None else [event for event in between if event.data.get("key") == key]

    def _unknown_call(self, data: dict[str, Any]) -> ReplayMismatch:
        """The log has the call with other arguments, or instead of it another one, or none."""
        what = f"{data['op']} ({data['key']})"
        same = self._pass(data["key"])
        if same:
            return ReplayMismatch(
                f"event {same[0].seq}: {what} is called with other arguments in the replay", seq=same[0].seq
            )
        others = [event for event in self._pass() if event.data.get("key", data["key"]) not in self._answered]
        calls = [event for event in others if event.kind in (events.CALL_INTENDED, events.CALL_ENDED)]
        seq = calls[0].seq if calls else self._next().seq
        return ReplayMismatch(f"event {seq}: the replay calls {what} here, which the log does not", seq=seq)

    def _compare(self, logged: Event, data: dict[str, Any]) -> None:
        if logged.data["outcome"] in ("success", "asked"):  # else a call that failed may have cut the others off
            for event in self._pass():
                if event.kind == events.CALL_ENDED and event.data["key"] not in self._answered:
                    raise ReplayMismatch(
                        f"event {event.seq}: the call {event.data['key']} was made, but not in the replay",
                        seq=event.seq,
                    )
        for name in sorted({*logged.data, *data}):
            was, now = logged.data.get(name), json.loads(json.dumps(data.get(name)))
            if was != now:
                raise ReplayMismatch(
                    f"event {logged.seq} ({logged.data['node']}): {name} was {was!r}, and is {now!r} in the replay",
                    seq=logged.seq,
                )


class Timeless:
    """The clock of a replay: what time it was is in the log, and nobody waits."""

    def now(self) -> float:
        return 0.0

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        pass


async def replay(
    kind: GraphType, row: RunRow, recorded: Sequence[Event], artifacts: ArtifactStore, redact: Callable[[str], str]
) -> Replayed:
    """Run it again from its log alone, without its children. Raises ReplayMismatch at the first event that differs."""
    log = ReplayLog(row.id, recorded)
    final = await rerun(kind, row, log, first_state(recorded, artifacts), artifacts, redact)
    if row.status == Status.STOPPED and final.status is Status.RUNNING:  # interrupted: the row says so, no decision
        final = replace(final, status=Status.STOPPED, stop_reason=row.stop_reason)
    differing = []
    if kind.project is not None and row.status != Status.RUNNING:
        context = kind.context.model_validate(row.context)
        differing = kind.project(row, context, final, artifacts).differing()
    return Replayed(row.id, log.decisions, log.finished, differing, [])


def first_state(recorded: Sequence[Event], artifacts: ArtifactStore) -> Any:
    """The state that a run began with, as plain data."""
    whole = recorded[0].data["state"]
    if set(whole) == {"artifact", "bytes"}:
        whole = json.loads(artifacts.get(whole["artifact"]))
    return whole


async def rerun(
    kind: GraphType,
    row: RunRow,
    log: ReplayLog,
    began: Any,
    artifacts: ArtifactStore,
    redact: Callable[[str], str],
) -> RunState:
    """From the state that it began with to the last decision of the log, which answers every call."""
    context = kind.context.model_validate(row.context)
    pinned = Pinned(artifacts, row.pins)
    machine = Machine(
        kind.build(context, pinned),
        Ports(kind.operations(row, context, pinned), Timeless(), redact=redact),
        context,
        RunState.load(json.dumps(began), kind.state),
        log=log,
        artifacts=artifacts,
        limits=log.limits(),
        seed=row.seed,
        on_persist=lambda *_: keep_limits(),
    )

    def keep_limits() -> None:
        machine.limits = log.limits()

    with contextlib.suppress(LogEnded):
        while not log.finished:
            try:
                ended = await machine.run()
            except Relabelled:
                continue
            if log.finished:
                break
            if ended.status is Status.COMPLETE:
                raise ReplayMismatch("the replay is complete, and the log goes on", seq=log.seq + 1)
            machine.state = ended.reopened()
    return machine.state
