"""Taking in what operators have told a session since it last asked."""

from __future__ import annotations

from gateway.engine.journal import CallFailed, Visit
from gateway.errors import UserCancelled
from gateway.loop.progress import FAILED
from gateway.loop.signals import FROM, heard
from gateway.loop.state import Change, LoopState

CONTINUE, STOP = "continue", "stop"


async def listen(visit: Visit, state: LoopState) -> LoopState:
    """The state with every signal that there is by now; about to fail where a checkpoint cannot be gone back to."""
    told = await visit.call("loop.signals", {"after": state.heard})
    failed: CallFailed | None = None
    last = max((each["seq"] for each in told if each["name"] == FROM), default=0)
    for signal in told:
        name, data, at = signal["name"], signal["data"], signal["at"]
        if name != FROM:
            state = heard(state, name, data, at)
        elif signal["seq"] == last:  # of several at once the last one counts
            try:
                state = await _from(visit, state, data, at)
            except CallFailed as error:
                failed = error
        state = state.with_(heard=signal["seq"])
    if failed is not None and state.ending != UserCancelled.kind:  # and heard: who goes on next need not go back
        state = state.with_(ending=FAILED, error=str(failed), hint=failed.hint)
    return state


async def rested(visit: Visit, state: LoopState) -> LoopState:
    """The state once an operator wants the session to go on, where one has paused it."""
    while state.paused:
        question = f"Paused after iteration {state.iteration}. Go on?"
        answer = await visit.ask(f"paused:{state.heard}", question, options=(CONTINUE, STOP))
        state = state.with_(paused=False)
        state = await listen(visit, heard(state, STOP, {}, await visit.now()) if answer == STOP else state)
    return state


async def _from(visit: Visit, state: LoopState, data: dict[str, object], at: float) -> LoopState:
    """The state of a checkpoint, with what only grows as it is now."""
    number = data["checkpoint"]
    saved = await visit.call("loop.load", {"number": number})
    there = LoopState.model_validate(saved)
    text = f"gone back to checkpoint {number}, iteration {there.iteration}"
    if data.get("restore_workspace"):
        restored = await visit.call("loop.restore", {"number": number})
        text += "; ".join([f"; the workspace was put back ({restored['files']} files)", *restored["notes"]])
    back: LoopState = there.with_(
        exits=state.exits,
        evaluation=there.evaluation if data.get("restore_workspace") else None,  # of a workspace that is no more
        limits=state.limits,
        checkpoints=state.checkpoints,
        evidence=state.evidence,
        used=state.used,
        checkpointed=there.iteration,
        changes=(*state.changes, Change(at=at, text=text)),
        warned=state.warned,
        paused=False,
        still=0,
        failures=0,
        ending="",
        error="",
        hint="",
        ended=0.0,
    )
    return back
