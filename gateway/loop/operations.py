"""The outside world of a session, as operations."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gateway.engine import budget
from gateway.engine.journal import WaitRequested
from gateway.engine.ports import Effect, Json, Operation, Scope
from gateway.engine.runs import Runs
from gateway.engine.state import RunState, Status, Waiting
from gateway.errors import EchelonError, RunNotFound
from gateway.loop import folder_of
from gateway.loop.agents.agent import Agent, Assignment, Told
from gateway.loop.checkpoint import TIME
from gateway.loop.checkpoints import Checkpoints
from gateway.loop.conditions.evaluation import evaluate
from gateway.loop.meanwhile import Clockwork, Meanwhile
from gateway.loop.notifying import Notice, notify
from gateway.loop.state import Changes, ConditionResult, LoopContext, LoopState
from gateway.loop.workspace.before import Before
from gateway.loop.workspace.protection import kept, put_back
from gateway.loop.workspace.survey import Survey, compared, survey
from gateway.tools.child import Caller, ChildRun

BLOCKING_S = 300.0
MAX_NAMED = 20  # files of each kind that an iteration's record names: the state has a hundred records


@dataclass(frozen=True)
class Recipients:
    """Who is told of warnings, questions and ends: a program with its arguments, an address; each may be empty."""

    command: tuple[str, ...] = ()
    webhook: str = ""


class SessionOperations:
    """Those of one session, in one process. `pins` are what the session began with."""

    def __init__(
        self,
        home: Path,
        context: LoopContext,
        runs: Runs,
        agent: Agent,
        recipients: Recipients,
        pins: Callable[[], Mapping[str, bytes]],
    ) -> None:
        self._context = context
        self._runs = runs
        self._agent = agent
        self._recipients = recipients
        self._pins = pins
        self._root = Path(context.workspace)
        self._home = home
        self._folder = folder_of(home, context.run_id)
        self._checkpoints = Checkpoints(self._folder, self._root, apart=home)
        self._before = self._folder / "before.json"
        self._surveyed: Survey | None = None

    def all(self) -> dict[str, Operation]:
        found = [
            Operation("loop.signals", self.signals, Effect.READ),
            Operation("loop.survey", self.survey, Effect.READ, deadline_s=BLOCKING_S),
            Operation("loop.iterate", self.iterate, Effect.CHILD, charge=lambda result: result["used"]),
            Operation("loop.compare", self.compare, Effect.IDEMPOTENT, deadline_s=BLOCKING_S),
            Operation("loop.evaluate", self.evaluate, Effect.IDEMPOTENT),
            Operation("loop.checkpoint", self.checkpoint, Effect.IDEMPOTENT, deadline_s=BLOCKING_S),
            Operation("loop.load", self.load, Effect.READ, deadline_s=BLOCKING_S),
            Operation("loop.restore", self.restore, Effect.IDEMPOTENT, deadline_s=BLOCKING_S),
            Operation("loop.notify", self.notify, Effect.IDEMPOTENT, deadline_s=60),
        ]
        return {each.name: each for each in found}

    async def signals(self, args: Json, scope: Scope) -> Json:
        """What operators have told the session after the signal with that number: [{seq, name, data, at}]."""
        found = self._runs.store.signals(scope.run_id, args["after"])
        return [{"seq": each.seq, "name": each.name, "data": each.data, "at": each.at} for each in found]

    async def survey(self, args: Json, scope: Scope) -> Json:
        """Keep in the session's folder how the workspace is, until the next time: {before: sha256 of the file}."""
        store = self._runs.artifacts
        found = await self._look()
        protect = self._context.options.protect
        safe = await asyncio.to_thread(kept, self._root, found, protect, store) if protect else {}
        return {"before": await asyncio.to_thread(Before(found, safe).write, self._before)}

    async def compare(self, args: Json, scope: Scope) -> Json:
        """What has changed since a survey; protected files are put back. Gives `Changes`."""
        store = self._runs.artifacts
        before = await asyncio.to_thread(Before.read, self._before, args["before"])
        changes = compared(before.survey, await self._look())
        protect = self._context.options.protect
        if protect:
            restored = await asyncio.to_thread(put_back, self._root, changes, before.kept, protect, store)
            if restored:
                changes = compared(before.survey, await self._look()).with_(restored=restored)
        return _bounded(changes).model_dump(mode="json")

    async def iterate(self, args: Json, scope: Scope) -> Json:
        """One iteration, as a child run: {run_id, outcome, summary, hint, fatal, used, s, checkpoints, troubles}.

        `s` is how long it was worked on: not that it waited for an answer, or for somebody to go on with it."""
        began, earlier = scope.clock.monotonic(), self._used(scope.child_id).get("time_s", 0.0)
        left = args["limits"].get("time_s")
        meanwhile = Meanwhile(
            self._runs, scope, args["heard"], None if left is None else left - earlier, self._clockwork(scope, args)
        )
        if meanwhile.is_cut() and not self._has_ended(scope.child_id):
            await self._end(scope.child_id)
            told = Told(outcome="stopped", summary="cut off before it went on")
            return _iterated(scope, told, self._used(scope.child_id), earlier, meanwhile)
        pins = self._pins()
        caller = Caller(scope.child_id, self._folder / "iterations", pins, assume_yes=self._context.assume_yes)
        child = await self._agent.begin(Assignment.model_validate(args["assignment"]), caller)
        try:
            ended = await meanwhile.until(self._child(scope, child, args["limits"]))
        except WaitRequested as asked:
            await self._ask(scope, asked.waiting, args["assignment"]["iteration"])
            raise
        hint = self._runs.hint(scope.child_id) if ended.error is not None else ""
        told = self._agent.told(ended, hint)
        if meanwhile.why is not None and ended.status is Status.STOPPED:  # else it has ended by itself just then
            told = told.model_copy(update={"outcome": meanwhile.why, "fatal": False})
        elif told.outcome == "stopped":  # not by an order to the session: one that goes on like this has to end
            told = told.model_copy(update={"outcome": "failed"})
        return _iterated(scope, told, ended.counters, earlier + scope.clock.monotonic() - began, meanwhile)

    async def evaluate(self, args: Json, scope: Scope) -> Json:
        """{cut: whether an operator has cut it off, results: [ConditionResult], s: how long it took}."""
        began = scope.clock.monotonic()
        meanwhile = Meanwhile(self._runs, scope, args["heard"])

        def told(result: ConditionResult) -> None:
            scope.progress("loop.condition", {"name": result.name, "met": result.met, "summary": result.summary})

        work = evaluate(args["exits"], self._root, self._context.options.conditions, told=told)
        results = await meanwhile.unless_cut(work)
        return {
            "cut": results is None,
            "results": [each.model_dump(mode="json") for each in results or ()],
            "s": round(scope.clock.monotonic() - began, 3),
        }

    async def checkpoint(self, args: Json, scope: Scope) -> Json:
        """Make one: a `CheckpointRecord`."""
        return await self._save(args["number"], args["why"], args["at"], LoopState.model_validate(args["state"]))

    async def load(self, args: Json, scope: Scope) -> Json:
        """The `LoopState` of a checkpoint. Raises CheckpointDamaged."""
        document = await asyncio.to_thread(self._checkpoints.load, args["number"])
        return document.state

    async def restore(self, args: Json, scope: Scope) -> Json:
        """Put the workspace back: {files: how many were written or moved away, notes: what is not as it was}."""
        restored = await self._checkpoints.restore_workspace(args["number"])
        kept = [f"what stood there is kept in {restored.aside}"] if restored.moved else []
        return {"files": len({*restored.written, *restored.moved}), "notes": [*kept, *restored.notes]}

    async def notify(self, args: Json, scope: Scope) -> Json:
        """Tell whoever wants to know: {problems: in words}."""
        scope.progress("loop.notice", {"notice": args["kind"], "text": args["text"], "iteration": args["iteration"]})
        return {"problems": await self._notify(args, scope.call_id)}

    async def _child(self, scope: Scope, new: ChildRun, rest: Mapping[str, float]) -> RunState:
        own = {name: limit for name, limit in new.limits.items() if limit is not None}
        limits = {name: min(own.get(name, limit), limit) for name, limit in rest.items()}
        return await self._runs.child(
            scope,
            new.graph,
            new.context,
            new.data,
            title=new.title,
            limits={**own, **limits},
            pins=new.pins,
            session=new.session,
        )

    async def _look(self) -> Survey:
        self._surveyed = await asyncio.to_thread(survey, self._root, self._surveyed, apart=self._home)
        return self._surveyed

    def _clockwork(self, scope: Scope, args: Json) -> Clockwork | None:
        """What makes checkpoints in the middle of an iteration, where time is what they are made by."""
        every = self._context.options.checkpoint_s
        if every is None:
            return None

        async def save(number: int, at: float) -> Json:
            state = self._runs.state(self._runs.store.run(scope.run_id)).data
            assert isinstance(state, LoopState)
            return await self._save(number, TIME, at, state)

        return Clockwork(save, every, args["next_checkpoint"], args["checkpointed_at"])

    async def _save(self, number: int, why: str, at: float, state: LoopState) -> Json:
        context = self._context
        record = await self._checkpoints.save(
            number=number, why=why, at=at, session=context.run_id, agent=context.name, state=state
        )
        return record.model_dump(mode="json")

    async def _notify(self, args: Json, call: str) -> list[str]:
        notice = Notice(
            id=call,
            kind=args["kind"],
            session=self._context.run_id,
            agent=self._context.name,
            text=args["text"],
            iteration=args["iteration"],
            at=self._runs.clock.now(),
            data=args["data"],
        )
        return list(await notify(notice, command=self._recipients.command, webhook=self._recipients.webhook))

    async def _ask(self, scope: Scope, waiting: Waiting, iteration: int) -> None:
        data = {"question": waiting.question, "options": list(waiting.options), "run": waiting.run_id}
        args = {"kind": "question", "text": waiting.question, "iteration": iteration, "data": data}
        await self._notify(args, f"{scope.call_id}/{waiting.id}")

    def _has_ended(self, run_id: str) -> bool:
        """Whether an iteration had come to its own end before this process was there."""
        with suppress(RunNotFound):
            return self._runs.store.run(run_id).status in (Status.COMPLETE, Status.FAILED)
        return False

    def _used(self, run_id: str) -> Mapping[str, float]:
        """What an iteration has used up so far."""
        with suppress(RunNotFound):
            return self._runs.state(self._runs.store.run(run_id)).counters
        return {}

    async def _end(self, run_id: str) -> None:
        """End an iteration that was begun, for good."""
        with suppress(EchelonError):  # it was not begun, or has ended
            await self._runs.cancel(run_id)


def _iterated(scope: Scope, told: Told, used: Mapping[str, float], s: float, meanwhile: Meanwhile) -> Json:
    clockwork = meanwhile.clockwork
    return {
        "run_id": scope.child_id,
        "outcome": told.outcome,
        "summary": told.summary,
        "hint": told.hint,
        "fatal": told.fatal,
        "used": budget.shared(used),
        "s": round(s, 3),
        "checkpoints": clockwork.made if clockwork else [],
        "troubles": clockwork.troubles if clockwork else [],
    }


def _bounded(changes: Changes) -> Changes:
    """With names enough for a reader."""
    kinds = {name: getattr(changes, name) for name in ("added", "changed", "removed", "tests", "restored")}
    unnamed = {name: len(each) - MAX_NAMED for name, each in kinds.items() if len(each) > MAX_NAMED}
    bounded: Changes = changes.with_(**{name: each[:MAX_NAMED] for name, each in kinds.items()}, unnamed=unnamed)
    return bounded
