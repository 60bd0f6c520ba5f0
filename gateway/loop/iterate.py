"""Iterate: the agent works once, and what it changed is compared."""

from __future__ import annotations

from gateway.engine import budget
from gateway.engine.journal import CallFailed, Visit
from gateway.engine.nodes import Route
from gateway.engine.ports import Json
from gateway.errors import WorkspaceGone
from gateway.loop.assignment import assignment
from gateway.loop.limits import left, reached
from gateway.loop.listening import listen, rested
from gateway.loop.node import SessionNode
from gateway.loop.progress import BUDGET, FAILED, evaluated
from gateway.loop.state import (
    KEPT,
    Changes,
    CheckpointRecord,
    IterationRecord,
    LoopContext,
    LoopState,
)

EVALUATE, CHECKPOINT = "EvaluateExits", "Checkpoint"


class Iterate(SessionNode):
    """One iteration. One that an operator cuts off does not count."""

    name = "Iterate"
    on_success = Route(lambda state: CHECKPOINT if state.ending else EVALUATE, (EVALUATE, CHECKPOINT))

    def __init__(self, context: LoopContext) -> None:
        self._context = context

    async def execute(self, state: LoopState, visit: Visit) -> LoopState:
        state = await rested(visit, await listen(visit, state))
        limit = reached(state)  # going back to a checkpoint gives back nothing of what was used
        if limit is not None and not state.ending:
            state = state.with_(ending=f"{BUDGET}{limit.name}")
        if state.ending or not evaluated(state):  # it has other conditions now, or has gone back
            return state
        began = await visit.now()
        try:
            before = await visit.call("loop.survey", {})
            done = await visit.call("loop.iterate", self._given(state, began))
        except CallFailed as error:
            return _failed(state, error)
        changes, gone = Changes(), None
        try:
            changes = Changes.model_validate(await visit.call("loop.compare", before))
        except CallFailed as error:  # the iteration has been, all the same
            gone = error
        ended = await visit.now()
        record = _record(state, done, changes, began, ended)
        state = _counted(state, record, done)
        if record.outcome == "stopped":
            return await listen(visit, state)
        failed = record.outcome == "failed"
        state = state.with_(
            iteration=record.number,
            iterations=(*state.iterations, record)[-KEPT:],
            failures=state.failures + 1 if failed else 0,
        )
        if done["fatal"]:
            state = state.with_(ending=FAILED, error=record.summary, hint=done["hint"])
        return state if gone is None else _failed(state, gone)

    def _given(self, state: LoopState, began: float) -> Json:
        given = assignment(self._context, state)
        last = state.checkpoints[-1].number if state.checkpoints else 0
        return {
            "assignment": given.model_dump(mode="json"),
            "limits": left(state),
            "heard": state.heard,
            "next_checkpoint": last + 1,
            "checkpointed_at": max(state.checkpointed_at, state.started),
            "began": began,
        }


def _record(state: LoopState, done: Json, changes: Changes, began: float, ended: float) -> IterationRecord:
    return IterationRecord(
        number=state.iteration + 1,
        run_id=done["run_id"],
        outcome=done["outcome"],
        summary=done["summary"],
        began=began,
        ended=ended,
        changes=changes,
        used=done["used"],
    )


def _counted(state: LoopState, record: IterationRecord, done: Json) -> LoopState:
    """With what the iteration has used, and the checkpoints that were made meanwhile."""
    used = budget.add(state.used, {**record.used, "time_s": done["s"]})
    made = [CheckpointRecord.model_validate(each) for each in done["checkpoints"]]
    counted: LoopState = state.with_(
        used=used,
        checkpoints=(*state.checkpoints, *made),
        checkpointed_at=made[-1].at if made else state.checkpointed_at,
        troubles=(*state.troubles, *done["troubles"])[-KEPT:],
    )
    return counted


def _failed(state: LoopState, error: CallFailed) -> LoopState:
    """The workspace is gone, or the agent cannot begin at all."""
    hint = error.hint
    if error.kind == WorkspaceGone.kind and state.checkpoints:
        last = state.checkpoints[-1].number
        hint = f"put it back with: echelon loop resume ID --from {last} --restore-workspace"
    failed: LoopState = state.with_(ending=FAILED, error=str(error), hint=hint)
    return failed
