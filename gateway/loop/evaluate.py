"""EvaluateExits: what holds now, what that means for the session, and whom it concerns."""

from __future__ import annotations

from gateway.engine import budget
from gateway.engine.journal import Visit
from gateway.engine.nodes import Route
from gateway.loop.checkpoint import due
from gateway.loop.limits import near
from gateway.loop.listening import listen
from gateway.loop.node import SessionNode
from gateway.loop.progress import fight_in_words, fighting, judged
from gateway.loop.state import (
    KEPT,
    ConditionResult,
    Evaluation,
    Evidence,
    LoopContext,
    LoopState,
)
from gateway.loop.telling import tell

ITERATE, CHECKPOINT = "Iterate", "Checkpoint"
LISTED = 20  # findings of a condition that the state has
MESSAGE = 600  # characters of each


class EvaluateExits(SessionNode):
    """Before the first iteration it says what fails; after each one it says whether the session ends."""

    name = "EvaluateExits"

    def __init__(self, context: LoopContext) -> None:
        self._context = context
        self.on_success = Route(
            lambda state: CHECKPOINT if state.ending or due(state, context.options) else ITERATE, (ITERATE, CHECKPOINT)
        )

    async def execute(self, state: LoopState, visit: Visit) -> LoopState:
        state = await listen(visit, state)
        if state.ending:
            return state
        if not state.started:
            state = state.with_(started=await visit.now())
        given = {"exits": list(state.exits), "heard": state.heard}
        found = await visit.call("loop.evaluate", given)
        ended = await visit.now()
        state = state.with_(used=budget.add(state.used, {"time_s": found["s"]}))
        if found["cut"]:
            return await listen(visit, state)
        results = tuple(ConditionResult.model_validate(each) for each in found["results"])
        whole = Evaluation(iteration=state.iteration, at=ended, results=results)
        before = {each.condition for each in fighting(state)}
        state = _kept(judged(state, _slim(whole), self._context.options), whole, visit)
        for fight in fighting(state):
            if fight.condition not in before:
                state = await tell(visit, state, "warning", fight_in_words(fight), {"condition": fight.condition})
        for limit in near(state):
            data = {"limit": limit.name, "used": limit.used, "of": limit.limit, "remaining": limit.remaining}
            state = await tell(visit, state, "warning", limit.in_words(), data)
            state = state.with_(warned=(*state.warned, limit.key))
        return state


def _slim(evaluation: Evaluation) -> Evaluation:
    """Without what only a reader wants."""
    slim = [
        each.with_(
            report="", findings=tuple(one.with_(message=one.message[:MESSAGE]) for one in each.findings[:LISTED])
        )
        for each in evaluation.results
    ]
    return Evaluation(iteration=evaluation.iteration, at=evaluation.at, results=tuple(slim))


def _kept(state: LoopState, whole: Evaluation, visit: Visit) -> LoopState:
    sha256 = visit.artifacts.put(whole.model_dump_json(indent=1).encode())
    kept: LoopState = state.with_(
        evidence=(*state.evidence, Evidence(iteration=whole.iteration, sha256=sha256))[-KEPT:]
    )
    return kept
