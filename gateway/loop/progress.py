"""What an evaluation says about a session: whether it ends, whether it moves, whether conditions fight. Pure."""

from __future__ import annotations

from gateway.loop.conditions.evaluation import same
from gateway.loop.limits import reached
from gateway.loop.state import Evaluation, Fight, IterationRecord, LoopOptions, LoopState

FIGHTING = 2  # times that a condition was met and lost, from which on it is said

COMPLETED = "completed"
FAILED = "failed"
NO_PROGRESS = "no_progress"
BUDGET = "budget:"


def judged(state: LoopState, evaluation: Evaluation, options: LoopOptions) -> LoopState:
    """The state after an evaluation: who fights, how long nothing has moved, and whether that is the end."""
    last = state.iterations[-1] if state.iterations else None
    begins = evaluation.iteration == 0
    moved = state.evaluation is None or not same(state.evaluation, evaluation) or (last and last.changes.all)
    judged: LoopState = state.with_(
        evaluation=evaluation,
        fights=state.fights if state.evaluation is None else fights(state.fights, state.evaluation, evaluation),
        still=0 if begins or moved else state.still + 1,
    )
    return judged if begins or judged.ending else judged.with_(**_end(judged, options, last))


def _end(state: LoopState, options: LoopOptions, last: IterationRecord | None) -> dict[str, str]:
    assert state.evaluation is not None
    if state.evaluation.holds:
        return {"ending": COMPLETED, "error": "", "hint": ""}
    limit = reached(state)
    if limit is not None:
        return {"ending": f"{BUDGET}{limit.name}"}
    if state.failures >= options.patience and last is not None:
        failed = f"{state.failures} iterations in a row" if state.failures > 1 else "the iteration"
        hint = f"what it printed, and did: echelon runs show {last.run_id}"
        return {"ending": FAILED, "error": f"{failed} failed: {last.summary}", "hint": hint}
    if state.still >= options.patience:
        return {"ending": NO_PROGRESS}
    return {}


def evaluated(state: LoopState) -> bool:
    """Whether the last evaluation was of all exit conditions that there are now."""
    return state.evaluation is not None and all(state.evaluation.of(each) for each in state.exits)


def fights(known: tuple[Fight, ...], before: Evaluation, after: Evaluation) -> tuple[Fight, ...]:
    """With one more time for each condition that was met before and is not any more, and what came to be met then."""
    had = {each.name: each.met for each in before.results}
    lost = [each.name for each in after.results if not each.met and had.get(each.name)]
    gained = {each.name for each in after.results if each.met and had.get(each.name) is False}
    counted = {each.condition: each for each in known}
    for name in lost:
        fight = counted.get(name) or Fight(condition=name, times=0)
        against = tuple(sorted({*fight.against, *gained}))
        counted[name] = Fight(condition=name, times=fight.times + 1, against=against)
    return tuple(counted.values())


def fighting(state: LoopState) -> list[Fight]:
    """The conditions that were met and lost again and again."""
    return [each for each in state.fights if each.times >= FIGHTING]


def fight_in_words(fight: Fight) -> str:
    against = f" when {', '.join(fight.against)} came to be met" if fight.against else ""
    return f"{fight.condition} was met and lost {fight.times} times{against}"
