"""Finish: says how the session ended; one that was extended meanwhile, or has other conditions now, goes on."""

from __future__ import annotations

from gateway.engine.journal import Visit
from gateway.engine.nodes import Route
from gateway.errors import BudgetExhausted, NoProgress, SessionFailed, UserCancelled
from gateway.loop.limits import reached
from gateway.loop.listening import listen
from gateway.loop.node import SessionNode
from gateway.loop.progress import BUDGET, COMPLETED, FAILED, NO_PROGRESS, evaluated
from gateway.loop.state import LoopState
from gateway.loop.telling import tell

ITERATE, EVALUATE, CHECKPOINT = "Iterate", "EvaluateExits", "Checkpoint"


class Finish(SessionNode):
    """Complete where all conditions hold; else it ends as what ended it."""

    name = "Finish"
    on_success = Route(lambda state: _next(state), (ITERATE, EVALUATE, CHECKPOINT, None))

    async def execute(self, state: LoopState, visit: Visit) -> LoopState:
        before, state = state.heard, await listen(visit, state)
        if not state.ending or (state.ending == FAILED and state.heard > before):  # what raises is not remembered
            return state
        text = in_words(state)
        data = {"ending": state.ending, "not_met": not_met(state)}
        state = await tell(visit, state, "end", text, data)
        if state.ending == COMPLETED:
            return state
        if state.ending == NO_PROGRESS:
            raise NoProgress(text)
        if state.ending == UserCancelled.kind:
            raise UserCancelled(text)
        if state.ending.startswith(BUDGET):
            limit = reached(state)
            name = state.ending.removeprefix(BUDGET)
            raise BudgetExhausted(name, limit.used if limit else 0, limit.limit if limit else 0)
        raise SessionFailed(state.error, hint=state.hint)


def _next(state: LoopState) -> str | None:
    if state.ending:
        return None if state.ending == COMPLETED else CHECKPOINT
    return ITERATE if evaluated(state) else EVALUATE


def not_met(state: LoopState) -> list[str]:
    """The conditions that the last evaluation found not met, or did not find at all."""
    met = {each.name for each in state.evaluation.results if each.met} if state.evaluation else set()
    return [each for each in state.exits if each not in met]


def in_words(state: LoopState) -> str:
    """How the session ended."""
    open_ones = not_met(state)
    after = f"after iteration {state.iteration}"
    if state.ending == COMPLETED:
        return f"completed {after}: all {len(state.exits)} exit conditions are met"
    still = f"; not met: {', '.join(open_ones)}" if open_ones else ""
    if state.ending == NO_PROGRESS:
        return f"no progress: nothing changed in {state.still} iterations, ended {after}{still}"
    if state.ending == UserCancelled.kind:
        return f"stopped by an operator {after}{still}"
    if state.ending.startswith(BUDGET):
        limit = reached(state)
        return f"limit reached {after}{f' ({limit.in_words()})' if limit else ''}{still}"
    return f"failed {after}: {state.error}{still}"
