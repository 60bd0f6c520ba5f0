"""How a turn or a task ended, in words, as JSON, and as an exit code."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Protocol

from echelon.cli import INTERRUPTED
from echelon.output.turn import CallResult, Question, TurnOutcome, TurnUsage
from echelon.terminal import put, put_json, say
from gateway import Turn
from gateway.engine.state import Status, Waiting
from gateway.errors import BudgetExhausted, EchelonError, ModelUnavailable, TaskUnfinished, UserCancelled

WAITING = 6
SETTINGS = {  # budgets by their counter, and the setting that raises them
    "steps": "limits.max_steps",
    "taps": "limits.max_taps",
    "time_s": "limits.max_time_s",
    "tokens": "limits.max_tokens",
    "cost_usd": "limits.max_cost_usd",
}


class Ended(Protocol):
    """A turn, or a task on a phone: how it ended, or where it is."""

    @property
    def run_id(self) -> str: ...
    @property
    def status(self) -> Status: ...
    @property
    def stop_reason(self) -> str | None: ...
    @property
    def error(self) -> str | None: ...
    @property
    def hint(self) -> str: ...
    @property
    def usage(self) -> Mapping[str, float]: ...
    @property
    def waiting(self) -> Waiting | None: ...


def exit_code(ended: Ended) -> int:
    """What the contract says for this status and stop reason."""
    reason, _, name = (ended.stop_reason or "").partition(":")
    if ended.status is Status.COMPLETE:
        return 0
    if ended.status is Status.WAITING:
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
        waiting=question(turn.waiting),
        result=result,
    )


def usage(ended: Ended) -> TurnUsage:
    """As context.md has it."""
    used = ended.usage
    return TurnUsage(
        model_calls=int(used.get("model_calls", 0)),
        prompt_tokens=int(used.get("prompt_tokens", 0)),
        cached_tokens=int(used.get("cached_tokens", 0)),
        completion_tokens=int(used.get("completion_tokens", 0)),
        cost_usd=round(used.get("cost_usd", 0.0), 6),
        wall_s=round(used.get("time_s", 0.0), 1),
    )


def usage_line(ended: Ended) -> str:
    used = usage(ended)
    cached = f" ({used.cached_tokens:,} cached)" if used.cached_tokens else ""
    parts = [
        f"{used.model_calls} model call{'' if used.model_calls == 1 else 's'}",
        f"{used.prompt_tokens:,} tokens read{cached}",
        f"{used.completion_tokens:,} written",
        f"{used.wall_s:.1f} s",
    ]
    return " · ".join(parts + ([f"${used.cost_usd:.4f}"] if used.cost_usd else []))


def answer_command(ended: Ended) -> str:
    return f'echelon runs answer {ended.run_id} "…"'


def question_lines(waiting: Waiting) -> list[str]:
    options = f" ({' / '.join(waiting.options)})" if waiting.options else ""
    until = time.strftime("%H:%M:%S", time.localtime(waiting.deadline))
    return [f"{waiting.question}{options}"] + ([] if waiting.deadline is None else [f"(until {until})"])


def _lines(turn: Turn, conversing: bool) -> Iterator[str]:
    yield ""
    yield f"{turn.status.value.replace('_', ' ')} · {usage_line(turn)}"
    yield from how_it_ended(turn, conversing)
    yield f"context: {turn.context}"


def how_it_ended(ended: Ended, conversing: bool = False, *, resumable: bool = True) -> Iterator[str]:
    """What is asked, or why it failed or stopped, and what can be done about that, as far as it is `resumable`;
    nothing for what is complete."""
    if ended.waiting is not None:
        yield from question_lines(ended.waiting)
        if not conversing and resumable:
            yield f"answer with: {answer_command(ended)}"
    elif ended.status is Status.FAILED:
        yield f"error: {ended.error}"
        if ended.hint:
            yield f"  {ended.hint}"
        unfinished = ended.stop_reason == f"error:{TaskUnfinished.kind}"  # an outcome: nothing is left to go on with
        if resumable and not unfinished:
            elsewhere = " [--api-base URL]" if ended.stop_reason == f"error:{ModelUnavailable.kind}" else ""
            yield f"when the cause is gone, go on with: echelon runs resume {ended.run_id}{elsewhere}"
    elif ended.status is Status.STOPPED:
        yield from _stopped(ended, resumable)


def _stopped(ended: Ended, resumable: bool) -> Iterator[str]:
    reason, _, name = (ended.stop_reason or "").partition(":")
    if reason == "budget":
        setting = SETTINGS.get(name)
        yield f"error: the budget for {name} is used up"
        if resumable and setting is not None:
            yield f"give it more, and go on with: echelon runs resume {ended.run_id} --limit {name}=TOTAL"
        if setting is not None:
            variable = f"ECHELON_{setting.replace('.', '__').upper()}"
            yield f"  for those to come: {setting} in echelon.yaml, or {variable}"
    elif resumable and reason != UserCancelled.kind:  # that is for good
        yield f"go on with: echelon runs resume {ended.run_id}"


def question(waiting: Waiting | None) -> Question | None:
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
