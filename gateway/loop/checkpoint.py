"""Checkpoint: the session and its workspace, so that one can go back to them."""

from __future__ import annotations

from gateway.engine.journal import CallFailed, Visit
from gateway.engine.nodes import Route
from gateway.loop.node import SessionNode
from gateway.loop.state import KEPT, CheckpointRecord, LoopContext, LoopOptions, LoopState
from gateway.loop.telling import tell

ITERATE, FINISH = "Iterate", "Finish"
INTERVAL, TIME, END = "interval", "time", "end"


def due(state: LoopState, options: LoopOptions) -> str:
    """Why a checkpoint is to be made now; empty where none is."""
    if state.ending:
        return END
    if state.iteration == 0:
        return ""
    if state.iteration - state.checkpointed >= options.checkpoint_every:
        return INTERVAL
    if options.checkpoint_s is None or state.evaluation is None:
        return ""
    since = state.evaluation.at - max(state.checkpointed_at, state.started)
    return "" if 0 <= since < options.checkpoint_s else TIME  # below 0 where the clock was set back


class Checkpoint(SessionNode):
    """One that cannot be made is told of, and made up for after the next iteration: no work is given up for it."""

    name = "Checkpoint"
    on_success = Route(lambda state: FINISH if state.ending else ITERATE, (ITERATE, FINISH))

    def __init__(self, context: LoopContext) -> None:
        self._context = context

    async def execute(self, state: LoopState, visit: Visit) -> LoopState:
        now = await visit.now()
        if state.ending:
            state = state.with_(ended=now)
        number = state.checkpoints[-1].number + 1 if state.checkpoints else 1
        given = {"number": number, "why": due(state, self._context.options) or INTERVAL, "at": now}
        try:
            made = await visit.call("loop.checkpoint", {**given, "state": state.model_dump(mode="json")})
        except CallFailed as error:
            text = f"checkpoint {number} could not be made: {error}"
            state = state.with_(troubles=(*state.troubles, text)[-KEPT:])
            return await tell(visit, state, "warning", text, {"checkpoint": number})
        record = CheckpointRecord.model_validate(made)
        checkpointed = state.checkpointed if record.why == TIME else state.iteration
        saved: LoopState = state.with_(
            checkpoints=(*state.checkpoints, record), checkpointed=checkpointed, checkpointed_at=now
        )
        return saved
