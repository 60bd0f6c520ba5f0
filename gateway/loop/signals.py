"""What operators tell a session while it runs, and what that changes in it. Pure.

`extend` {iterations, time_s, tokens, cost_usd}, `exits` {add, remove}, `pause`, `resume`, `stop`, and `from`
{checkpoint, restore_workspace}, which the session does itself (`gateway.loop.listening`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway.errors import UserCancelled
from gateway.loop.limits import NAMES, UNITS, reached
from gateway.loop.progress import BUDGET, COMPLETED, evaluated
from gateway.loop.state import Change, LoopState

EXTEND, EXITS, PAUSE, RESUME, STOP, FROM = "extend", "exits", "pause", "resume", "stop", "from"
CUTTING = (STOP, FROM)  # what an iteration that goes on is cut off for


def heard(state: LoopState, name: str, data: Mapping[str, Any], at: float) -> LoopState:
    """The state after one signal."""
    text = ""
    if name == EXTEND:
        state, text = _extended(state, data)
    elif name == EXITS:
        state, text = _with_exits(state, tuple(data.get("add", ())), tuple(data.get("remove", ())))
    elif name == PAUSE and state.ending != UserCancelled.kind:
        state, text = state.with_(paused=True), "paused"
    elif name == RESUME:
        state, text = state.with_(paused=False, ending="", error="", hint="", still=0, failures=0, ended=0.0), "resumed"
    elif name == STOP:
        state, text = state.with_(ending=UserCancelled.kind, error="", hint="", paused=False), "stopped"
    result: LoopState = state.with_(changes=(*state.changes, Change(at=at, text=text))) if text else state
    return result


def _extended(state: LoopState, data: Mapping[str, Any]) -> tuple[LoopState, str]:
    """With the greater of each limit that there is and that is asked for: of two who extend nobody takes from the
    other."""
    said, changed = [], {}
    for name in NAMES:
        asked, limit = data.get(name), state.limits.value(name)
        if asked is None:
            continue
        if limit is None:
            said.append(f"there is no limit of {UNITS[name]} to extend")
        elif asked <= limit:
            said.append(f"a limit of {asked:g} {UNITS[name]} was asked for, it is {limit:g} already")
        else:
            changed[name] = asked
            said.append(f"the limit is {asked:g} {UNITS[name]} now, it was {limit:g}")
    after: LoopState = state.with_(limits=state.limits.model_validate({**state.limits.model_dump(), **changed}))
    if after.ending.startswith(BUDGET) and reached(after) is None:
        after = after.with_(ending="", ended=0.0)
    return after, "; ".join(said)


def _with_exits(state: LoopState, add: tuple[str, ...], remove: tuple[str, ...]) -> tuple[LoopState, str]:
    exits = tuple(dict.fromkeys([*(each for each in state.exits if each not in remove), *add]))
    said = [f"exit condition {each} added" for each in exits if each not in state.exits]
    said += [f"exit condition {each} removed" for each in state.exits if each not in exits]
    if state.exits and not exits:  # of two who remove at once, each the other's last one
        return state, "the last exit condition was to be removed, and is kept"
    found = state.evaluation and state.evaluation.with_(
        results=tuple(each for each in state.evaluation.results if each.name in exits)
    )
    after: LoopState = state.with_(exits=exits, evaluation=found)
    if after.ending == COMPLETED and not evaluated(after):
        after = after.with_(ending="", ended=0.0)
    return after, "; ".join(said)
