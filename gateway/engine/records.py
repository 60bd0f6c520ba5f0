"""What the log says about the calls of a visit, and the plain data that it says it in."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from gateway.engine import events
from gateway.engine.events import Event
from gateway.engine.ports import Effect, Json, LinkLost, Operation, Scope
from gateway.errors import EchelonError

Outcome = dict[str, Json]  # one of {"ok"}, {"ok", "reconciled"}, {"error"}, {"error", "doubt"}, {"budget"}
OUTCOME = ("ok", "error", "budget", "reconciled", "doubt")
Redact = Callable[[str], str]


@dataclass(frozen=True)
class Call:
    """A call that is being made; `shown` are its arguments as they may be written down."""

    op: Operation
    args: Json
    shown: Json
    effect: Effect
    key: str
    digest: str
    scope: Scope

    def in_words(self) -> str:
        """For a person."""
        if self.op.in_words is not None:
            return self.op.in_words(self.shown)
        return f"{self.op.name} {json.dumps(self.shown, ensure_ascii=False)[:500]}"

    def record(self, attempt: int) -> dict[str, Json]:
        """What each of its events begins with."""
        return {"key": self.key, "op": self.op.name, "attempt": attempt, "digest": self.digest}


@dataclass(frozen=True)
class Recorded:
    """A call in the log; `outcome` is None where it was begun and never ended."""

    op: str
    digest: str
    attempt: int
    effect: Effect | None = None
    args: Json = None
    outcome: Outcome | None = None

    def with_outcome(self, outcome: Outcome) -> Recorded:
        return replace(self, outcome=outcome)


@dataclass
class Past:
    """What a visit did before: its calls by key, in the order of their events; the answers that people gave;
    how often each call was begun."""

    calls: dict[str, list[Recorded]] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    begun: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))

    def in_doubt(self, key: str) -> Iterator[Recorded]:
        """The `ONCE` calls under this key that were begun and never ended, one for each set of arguments."""
        last = {call.digest: call for call in self.calls.get(key, []) if call.effect is Effect.ONCE or call.outcome}
        yield from (call for call in last.values() if call.outcome is None or "doubt" in call.outcome)


def read(recorded: Sequence[Event]) -> Past:
    """The visit's past, from its events."""
    past = Past()
    for event in recorded:
        data = event.data
        if event.kind == events.CALL_INTENDED:
            past.begun[data["key"]] += 1
            effect = Effect(data["effect"])
            begun = Recorded(data["op"], data["digest"], data["attempt"], effect, data["args"])
            past.calls.setdefault(data["key"], []).append(begun)
        elif event.kind == events.CALL_ENDED:
            outcome: Outcome = {name: data[name] for name in OUTCOME if name in data}
            # A call that was interrupted and run again has two intents and one outcome.
            others = [
                call
                for call in past.calls.get(data["key"], [])
                if call.outcome is not None or call.digest != data["digest"]
            ]
            args = None
            if "doubt" in outcome:  # it may be settled yet, with what it was begun with
                args = next(call.args for call in past.calls[data["key"]] if call.digest == data["digest"])
            ended = Recorded(data["op"], data["digest"], data["attempt"], args=args, outcome=outcome)
            past.calls[data["key"]] = [*others, ended]
        elif event.kind == events.RUN_ANSWERED:
            past.answers.setdefault(data["id"], data["answer"])  # the first answer counts
    return past


def plain(value: Json, redact: Redact) -> Json:
    """A value as JSON would give it back, without secrets: live, resumed and replayed runs see the same.

    Each text is redacted by itself, since a mask across a whole document could break it. Half a surrogate pair, which
    some models write, cannot be stored and becomes a question mark. Raises TypeError or ValueError for other objects.
    """
    return _clean(json.loads(json.dumps(value)), redact)


def _clean(value: Json, redact: Redact) -> Json:
    kind = type(value)  # what JSON gives has no subclasses
    if kind is str:
        return redact(value if value.isascii() else value.encode("utf-8", "replace").decode())
    if kind is dict:
        found: dict[str, Json] = {}
        for name, each in value.items():
            clean = _clean(name, redact)
            while clean in found:  # two names that are secret stay two
                clean += "_"
            found[clean] = _clean(each, redact)
        return found
    if kind is list:
        return [_clean(each, redact) for each in value]
    return value


def digest_of(operation: str, shown: Json) -> str:
    """Tells calls of one key with different arguments apart; 16 hex digits."""
    return hashlib.sha256(f"{operation} {json.dumps(shown, sort_keys=True)}".encode()).hexdigest()[:16]


def error_of(op: Operation, error: BaseException, redact: Redact) -> list[Json]:
    """An exception as it stands in the log: kind, message, can it be tried again, hint, exit code."""
    match error:
        case EchelonError():
            kind, retryable, exit_code = error.kind, error.retryable, error.exit_code
            return plain([kind, str(error), retryable, error.hint, exit_code], redact)  # type: ignore[no-any-return]
        case TimeoutError():
            within = f" within {op.deadline_s:g} s" if op.deadline_s is not None else " in time"
            kind, message = "timeout", f"{op.name} did not end{within}"
        case LinkLost():
            kind, message = "link_lost", f"{op.name}: the connection was lost ({error})"
        case asyncio.CancelledError():
            kind, message = "cancelled", f"{op.name} was cut off"
        case _:
            kind, message = "internal", f"{op.name}: {type(error).__name__}: {error}"
    return plain([kind, message, True, "", 1], redact)  # type: ignore[no-any-return]
