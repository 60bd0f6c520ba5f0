"""How a turn ended, in words, as JSON, and as an exit code."""

from __future__ import annotations

from collections.abc import Iterator

from echelon.cli import INTERRUPTED
from echelon.output.turn import CallResult, Question, TurnOutcome, TurnUsage
from echelon.terminal import put, put_json, say
from gateway import Turn
from gateway.engine.state import Status, Waiting
from gateway.errors import BudgetExhausted, EchelonError, ModelUnavailable, TaskUnfinished

WAITING = 6
SETTINGS = {  # budgets by their counter, and the setting that raises them
    "steps": "limits.max_steps",
    "time_s": "limits.max_time_s",
    "tokens": "limits.max_tokens",
    "cost_usd": "limits.max_cost_usd",
}


def exit_code(turn: Turn) -> int:
    """What the contract says for this status and stop reason."""
    reason, _, name = (turn.stop_reason or "").partition(":")
    if turn.status is Status.COMPLETE:
        return 0
    if turn.status is Status.WAITING:
        return WAITING
    if reason == "user_cancelled":
        return INTERRUPTED
    if reason == "budget":
        return BudgetExhausted.exit_code
    return _codes().get(name, 1) if reason == "error" else 1


def report(turn: Turn, *, as_json: bool, conversing: bool = False) -> int:
    """The response on standard output, how it ended on standard error; the exit code. Where one is `conversing`, a
    question is answered by the next line."""
    if as_json:
        put_json(as_data(turn))
    elif turn.response:
        say()
        put(turn.response)
    if not as_json or turn.status is not Status.COMPLETE:
        for line in _lines(turn, conversing):
            say(line)
    return exit_code(turn)


def as_data(turn: Turn, result: CallResult | None = None) -> TurnOutcome:
    return TurnOutcome(
        turn=turn.number,
        session=turn.session,
        run=turn.run_id,
        status=turn.status.value,
        stop_reason=turn.stop_reason,
        error=turn.error,
        hint=turn.hint or None,
        response=turn.response or None,
        context=str(turn.context),
        usage=usage(turn),
        waiting=_waiting(turn.waiting),
        result=result,
    )


def usage(turn: Turn) -> TurnUsage:
    """As context.md has it."""
    used = turn.usage
    return TurnUsage(
        model_calls=int(used.get("model_calls", 0)),
        prompt_tokens=int(used.get("prompt_tokens", 0)),
        cached_tokens=int(used.get("cached_tokens", 0)),
        completion_tokens=int(used.get("completion_tokens", 0)),
        cost_usd=round(used.get("cost_usd", 0.0), 6),
        wall_s=round(used.get("time_s", 0.0), 1),
    )


def usage_line(turn: Turn) -> str:
    used = usage(turn)
    cached = f" ({used.cached_tokens:,} cached)" if used.cached_tokens else ""
    parts = [
        f"{used.model_calls} model call{'' if used.model_calls == 1 else 's'}",
        f"{used.prompt_tokens:,} tokens read{cached}",
        f"{used.completion_tokens:,} written",
        f"{used.wall_s:.1f} s",
    ]
    return " · ".join(parts + ([f"${used.cost_usd:.4f}"] if used.cost_usd else []))


def answer_command(turn: Turn) -> str:
    return f'echelon runs answer {turn.run_id} "…"'


def question_lines(waiting: Waiting) -> list[str]:
    options = f" ({' / '.join(waiting.options)})" if waiting.options else ""
    return [f"{waiting.question}{options}"]


def _lines(turn: Turn, conversing: bool) -> Iterator[str]:
    yield ""
    yield f"{turn.status.value.replace('_', ' ')} · {usage_line(turn)}"
    yield from how_it_ended(turn, conversing)
    yield f"context: {turn.context}"


def how_it_ended(turn: Turn, conversing: bool = False) -> Iterator[str]:
    """What is asked, or why it failed or stopped, and what can be done about that; nothing for a turn that is
    complete."""
    if turn.waiting is not None:
        yield from question_lines(turn.waiting)
        if not conversing:
            yield f"answer with: {answer_command(turn)}"
    elif turn.status is Status.FAILED:
        yield f"error: {turn.error}"
        if turn.hint:
            yield f"  {turn.hint}"
        if turn.stop_reason != f"error:{TaskUnfinished.kind}":  # that is an outcome: nothing is left to go on with
            elsewhere = " [--api-base URL]" if turn.stop_reason == f"error:{ModelUnavailable.kind}" else ""
            yield f"when the cause is gone, go on with: echelon runs resume {turn.run_id}{elsewhere}"
    elif turn.status is Status.STOPPED:
        yield from _stopped(turn)


def _stopped(turn: Turn) -> Iterator[str]:
    reason, _, name = (turn.stop_reason or "").partition(":")
    if reason == "budget":
        setting = SETTINGS.get(name)
        yield f"error: the budget for {name} is used up"
        if setting is not None:
            variable = f"ECHELON_{setting.replace('.', '__').upper()}"
            yield f"  raise {setting} in echelon.yaml, or {variable}, and ask again"
    else:
        yield f"go on with: echelon runs resume {turn.run_id}"


def _waiting(waiting: Waiting | None) -> Question | None:
    if waiting is None:
        return None
    return Question(id=waiting.id, question=waiting.question, options=waiting.options, deadline=waiting.deadline)


def _codes() -> dict[str, int]:
    """Exit codes by the kind of error."""
    found: dict[str, int] = {}
    todo: list[type[EchelonError]] = [EchelonError]
    while todo:
        error = todo.pop(0)
        found.setdefault(error.kind, error.exit_code)
        todo += error.__subclasses__()
    return found
