"""The machine: check stop → execute → decide → persist → go on. Read `Machine.run` to know how all of it works."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from pydantic import BaseModel

from gateway.engine import budget, events
from gateway.engine.artifacts import MemoryArtifacts
from gateway.engine.graph import AnyNode, Graph
from gateway.engine.journal import GROUND, Visit, WaitRequested
from gateway.engine.log import Log, MemoryLog
from gateway.engine.ports import Artifacts, Ports
from gateway.engine.state import RunState, Status, digest
from gateway.engine.store import Progress
from gateway.engine.transition import (
    Advance,
    Asked,
    Backtrack,
    Decision,
    Failure,
    Outcome,
    Stopped,
    Success,
    Terminal,
    TryAgain,
    Wait,
    causes,
    decide,
    failure_of,
)
from gateway.errors import GraphError


@dataclass(frozen=True)
class Attempt:
    """Telemetry of one attempt at one visit: `ms` in milliseconds, `error` where it failed."""

    node: str
    visit: int
    attempt: int
    outcome: str
    decision: str
    ms: int
    error: str | None = None


OnPersist = Callable[[RunState, list[dict[str, Any]], str], None]
OnAttempt = Callable[[Attempt], None]
CANCELLED = "user_cancelled"


class Machine:
    """Runs one graph. `state` is where it is; `run` goes on from there to the end, or to a question."""

    def __init__(
        self,
        graph: Graph,
        ports: Ports,
        context: BaseModel,
        snapshot: RunState,
        *,
        log: Log,
        artifacts: Artifacts,
        limits: Mapping[str, float],
        seed: int,
        on_persist: OnPersist | None = None,
        on_attempt: OnAttempt | None = None,
    ) -> None:
        self.graph = graph
        self.state = snapshot
        self.context = context
        self.limits = limits
        self.seed = seed
        self._ports = ports
        self._log = log
        self._artifacts = artifacts
        self._on_persist = on_persist
        self._on_attempt = on_attempt
        self._data = snapshot.data.model_dump_json()
        self._task: asyncio.Task[Any] | None = None  # while it may be interrupted
        self._cancelled = False

    def cancel(self) -> None:
        """End the run as cancelled: what is executing is interrupted."""
        if not self._cancelled and self._task is not None:
            self._task.cancel()
        self._cancelled = True

    async def run(self) -> RunState:
        """To the end, or to a question (status `waiting_for_user`).

        Cancelling the task leaves the run as a crash would: resumable. So does whatever it raises: StoreError where
        the run cannot be written, GraphError where its graph does not have the node that it is at.
        """
        began = self._ports.clock.monotonic()
        while self.state.status is Status.RUNNING:
            node = self._node()
            outcome, spent = await self._attempt(node)
            ended = self._ports.clock.monotonic()
            seconds, began = ended - began, ended  # a pause before the attempt counts
            data = outcome.output if isinstance(outcome, Success) else self.state.data
            self.state = self.state.but(data=data, counters=self._spent(spent, seconds))
            visit, attempt = self.state.visit, self.state.attempt
            decision = decide(self.state, node, outcome, self.seed, self._left("restarts"))
            await self._persist(node, outcome, spent, decision)
            if self._on_attempt is not None:
                said = (_name(outcome), _name(decision), round(1000 * seconds), _message(outcome))
                self._on_attempt(Attempt(node.name, visit, attempt, *said))
            if isinstance(decision, TryAgain):
                await self._pause(decision.delay_ms / 1000)
        return self.state

    def _node(self) -> AnyNode:
        node = self.graph.nodes.get(self.state.node or "")
        if node is None:
            raise GraphError(
                f"the run is at {self.state.node}, which graph {self.graph.name} does not have",
                hint="it was begun by another version of the program: start it again",
            )
        return node

    async def _attempt(self, node: AnyNode) -> tuple[Outcome, Mapping[str, float]]:
        """One attempt: its outcome, and what it spent. Raises only what is not the node's to handle."""
        logged = self._log.decided()
        if logged is not None and logged.get("stop_reason") == CANCELLED:  # replay: it came from outside
            return Stopped(CANCELLED), logged.get("spent", {})
        if self._cancelled:
            return Stopped(CANCELLED), {}
        visit = Visit(
            self._log,
            self._ports,
            self._artifacts,
            visit=self.state.visit,
            attempt=self.state.attempt,
            visit_seq=self.state.visit_seq,
            limits=self.limits,
            used=self.state.counters,
        )
        self._task = asyncio.current_task()
        try:
            budget.check(self.limits, self.state.counters, node.spends)
            visit.progress("node", node=node.name, visit=self.state.visit, attempt=self.state.attempt)
            given = node.build_input(self.state.data, self.context)
            output = await node.execute(given, visit)
            data = node.apply_output(self.state.data, output)
            node.next(data)  # a route, a state or a sum that fails is the node's failure
            dumped, spent = data.model_dump_json(), budget.add(visit.spent, node.spent(output))
            if visit.broken is None:
                self._data = dumped
                return Success(data), spent
        except asyncio.CancelledError:
            if not self._is_mine():
                raise
            return Stopped(CANCELLED), visit.spent
        except Exception as error:
            if visit.broken is None:
                outcome = self._outcome_of(error, logged)
                # What a visit spent before it asked is charged when it has its answer: the log answers its calls again.
                return outcome, {} if isinstance(outcome, Asked) else visit.spent
        finally:
            self._task = None
        raise visit.broken  # also where the node has swallowed it

    def _outcome_of(self, error: Exception, logged: Mapping[str, Any] | None) -> Outcome:
        """What was raised, also in a group by concurrent calls."""
        for cause in causes(error):
            if isinstance(cause, GROUND):
                raise cause
        asked = [cause.waiting for cause in causes(error) if isinstance(cause, WaitRequested)]
        if not asked:
            return failure_of(error, self._ports.redact)
        waiting = min(asked, key=lambda each: each.id)
        if logged is not None and waiting.deadline is not None:  # replay: it was wall time
            waiting = replace(waiting, deadline=(logged.get("waiting") or {}).get("deadline"))
        return Asked(waiting)

    def _is_mine(self) -> bool:
        """Whether a cancellation came from `cancel`, and from nobody else besides."""
        return self._cancelled and self._task is not None and self._task.uncancel() == 0

    async def _pause(self, seconds: float) -> None:
        self._task = asyncio.current_task()
        try:
            if not self._cancelled:
                await self._ports.clock.sleep(seconds)
        except asyncio.CancelledError:
            if not self._is_mine():
                raise
        finally:
            self._task = None

    def _spent(self, spent: Mapping[str, float], seconds: float) -> Mapping[str, float]:
        logged = self._log.decided()
        counters = budget.add(self.state.counters, spent)
        counters["time_s"] = logged["counters"]["time_s"] if logged else round(counters.get("time_s", 0) + seconds, 3)
        return counters

    def _left(self, name: str) -> float:
        return self.limits.get(name, float("inf")) - self.state.counters.get(name, 0)

    async def _persist(self, node: AnyNode, outcome: Outcome, spent: Mapping[str, float], decision: Decision) -> None:
        """Move on, and write the decision with the state that it leads to in one transaction."""
        ended = self.state
        self.state = self._moved(decision, outcome)
        record: dict[str, Any] = {
            "node": node.name,
            "visit": ended.visit,
            "attempt": ended.attempt,
            "outcome": _name(outcome),
            "decision": _name(decision),
            "to": self.state.node,
            "state": digest(self._data),
            "counters": self.state.counters,
        }
        if spent:
            record["spent"] = spent
        if isinstance(outcome, Failure):
            record["error"] = [outcome.kind, outcome.message]
            if outcome.hint:
                record["hint"] = outcome.hint
        if isinstance(decision, TryAgain):
            record["delay_ms"] = decision.delay_ms
        if isinstance(decision, Wait):
            record["waiting"] = asdict(decision.waiting)
        if isinstance(decision, Terminal):
            record["status"], record["stop_reason"] = decision.status.value, decision.reason
        await self._log.append(
            events.NODE_DECIDED, record, state=self.state.dump(self._data), progress=self._progress(decision)
        )
        if self._on_persist is not None:
            self._on_persist(self.state, [record], node.name)

    def _progress(self, decision: Decision) -> Progress | None:
        """What changes in the run's row: where it goes on, nothing."""
        match decision:
            case Wait(waiting):
                return Progress(Status.WAITING.value, question=waiting.question)
            case Terminal(status, reason):
                return Progress(status.value, reason)
            case _:
                return None

    def _moved(self, decision: Decision, outcome: Outcome) -> RunState:
        at = self.state
        begins = self._log.seq + 1  # the decision's own event: what follows belongs to the next visit
        visits = budget.add(at.counters, {"visits": 1})
        match decision:
            case Advance(to):
                return at.but(node=to, visit=at.visit + 1, attempt=1, visit_seq=begins, counters=visits, error=None)
            case TryAgain():
                return at.but(attempt=at.attempt + 1)
            case Backtrack(to):
                counters = budget.add(visits, {"restarts": 1})
                return at.but(node=to, visit=at.visit + 1, attempt=1, visit_seq=begins, counters=counters)
            case Wait(waiting):
                return at.but(status=Status.WAITING, waiting=waiting)
            case Terminal(status, reason):
                error = _message(outcome)
                target = None if status is Status.COMPLETE else at.node
                return at.but(
                    node=target, status=status, stop_reason=reason, error=error, waiting=None, counters=visits
                )


def _name(one: Outcome | Decision) -> str:
    return type(one).__name__.lower()


def _message(outcome: Outcome) -> str | None:
    return outcome.message if isinstance(outcome, Failure) else None


def initial(graph: Graph, data: BaseModel) -> RunState:
    """Where a new run of the graph is; its first event (`run.started`) is number 1."""
    return RunState(node=graph.start, data=data, visit_seq=1)


def create_machine(
    graph: Graph,
    ports: Ports,
    context: BaseModel,
    snapshot: RunState,
    on_persist: OnPersist | None = None,
    on_attempt: OnAttempt | None = None,
    *,
    log: Log | None = None,
    artifacts: Artifacts | None = None,
    limits: Mapping[str, float | None] | None = None,
    seed: int = 0,
) -> Machine:
    """A machine for a graph, from a snapshot (`initial(graph, data)` for a new run).

    Without `log` and `artifacts` everything stays in memory. `on_persist(state, events, node)` is called after each
    decision is written, `on_attempt(telemetry)` after each attempt. `limits` by counter name: steps, time_s, plans,
    taps, tokens, …
    """
    return Machine(
        graph,
        ports,
        context,
        snapshot,
        log=log or MemoryLog(),
        artifacts=artifacts or MemoryArtifacts(),
        limits=budget.limits_of(limits or {}),
        seed=seed,
        on_persist=on_persist,
        on_attempt=on_attempt,
    )
