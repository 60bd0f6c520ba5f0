"""What happened lately in a session, and what goes on now: from its state, and from the ends of event logs."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from gateway.engine import events
from gateway.engine.events import Event
from gateway.engine.identity import child_of
from gateway.engine.ports import Artifacts, Json
from gateway.engine.state import Status
from gateway.engine.store import Signal, Store
from gateway.errors import StoreError
from gateway.loop.deeds import deed, one_line, under_way
from gateway.loop.limits import UNITS
from gateway.loop.state import ConditionResult, IterationRecord, LoopState, Plain

TAIL = 300  # events of a log that are looked at: of a session some ten iterations, of a turn all
KEPT = 40  # entries
NAMED = 3  # findings, and files, that an entry names

Kind = Literal["session", "iteration", "agent", "evaluation", "checkpoint", "warning", "operator"]
DOING = {  # what an operation of a session does, in words
    "loop.signals": "looking for orders",
    "loop.survey": "looking at the workspace",
    "loop.compare": "looking at what has changed",
    "loop.evaluate": "evaluating the exit conditions",
    "loop.checkpoint": "making a checkpoint",
    "loop.load": "reading a checkpoint",
    "loop.notify": "telling the operator",
}
LIMITS = {"iterations": "iterations", "time_s": "time", "tokens": "tokens", "cost_usd": "cost"}
ENDED = {"user_cancelled": "stopped by an operator", "no_progress": "no progress", "error": "failed"}


class Activity(Plain):
    """Something that happened: `at` in seconds since the epoch, in or after which iteration, and what, in a line."""

    at: float
    iteration: int
    kind: Kind
    text: str


@dataclass(frozen=True)
class News:
    """`activity` is in the order of time, the newest last. `doing` says in words what goes on now, `since` when; "" and
    None where nothing does. `asked` are orders that the session has not heard yet; `at` is when the last event was
    written."""

    activity: tuple[Activity, ...] = ()
    doing: str = ""
    since: float | None = None
    evaluating: bool = False
    asked: tuple[str, ...] = ()
    at: float = 0.0


@dataclass(frozen=True)
class Logs:
    """The ends of the logs of a session and of its newest iterations, by their runs' ids, with its unheard signals."""

    run_id: str
    own: Sequence[Event]
    below: Mapping[str, Sequence[Event]]
    signals: Sequence[Signal] = ()


def read(store: Store, run_id: str, state: LoopState) -> Logs:
    """What `news` is made of. Raises StoreError."""
    own = _tail(store, run_id)
    children = dict.fromkeys([*(each.run_id for each in state.iterations[-3:]), *_begun(run_id, own)])
    below = {child: _tail(store, child) for child in list(children)[-3:]}
    return Logs(run_id, own, below, store.signals(run_id, after=state.heard))


def news(logs: Logs, state: LoopState, artifacts: Artifacts) -> News:
    """What stands in the logs and in the state, for a person."""
    numbers = {each.run_id: each.number for each in state.iterations}
    entries = [*_of_state(state, _begun(logs.run_id, logs.own)), *_of_session(logs, state, numbers, artifacts)]
    for child, below in logs.below.items():
        number = numbers.get(child) or _iteration_at(below[0].at if below else 0.0, state) + 1
        entries += [Activity(at=at, iteration=number, kind="agent", text=text) for at, text in _deeds(below, artifacts)]
    call = _open_call(logs.own)
    return News(
        activity=tuple(sorted(entries, key=lambda each: each.at)[-KEPT:]),
        doing=_doing(call, logs, state, artifacts),
        since=call.at if call is not None else None,
        evaluating=call is not None and call.data["op"] == "loop.evaluate",
        asked=tuple(_order(each) for each in logs.signals),
        at=logs.own[-1].at if logs.own else 0.0,
    )


def child_id(run_id: str, call: Event) -> str:
    """The run that a CHILD call has begun, from the event that intends it."""
    return child_of(run_id, f"{run_id}/{call.data['key']}/{call.data['digest']}")


def _tail(store: Store, run_id: str) -> list[Event]:
    return store.events(run_id, after=max(0, store.last_seq(run_id) - TAIL))


def _begun(run_id: str, own: Sequence[Event]) -> list[str]:
    return [child_id(run_id, event) for event in own if _is_call(event, "loop.iterate")]


def _is_call(event: Event, operation: str) -> bool:
    return event.kind == events.CALL_INTENDED and event.data["op"] == operation


def _of_state(state: LoopState, begun: Collection[str]) -> Iterator[Activity]:
    """Those iterations whose beginning is not in the end of the log, and what only the state has."""
    for each in state.iterations[-KEPT:]:
        if each.run_id not in begun:
            text = f"iteration {each.number} begins"
            yield Activity(at=each.began, iteration=each.number, kind="iteration", text=text)
        yield Activity(at=each.ended, iteration=each.number, kind="iteration", text=ended_line(each))
    for made in state.checkpoints[-KEPT:]:
        text = f"checkpoint {made.number} made ({made.why})"
        yield Activity(at=made.at, iteration=made.iteration, kind="checkpoint", text=text)
    for change in state.changes[-KEPT:]:
        yield Activity(at=change.at, iteration=_iteration_at(change.at, state), kind="operator", text=change.text)


def ended_line(record: IterationRecord) -> str:
    """How an iteration ended: what its agent said, and what has changed."""
    changed = record.changes.all
    more = [one_line(record.summary)] if record.summary.strip() else []
    more.append(f"changed {some(changed, record.changes.beyond())}" if changed else "changed nothing")
    if record.changes.restored:
        more.append(f"put back {some(record.changes.restored, record.changes.beyond('restored'))}")
    said = "" if record.outcome == "done" else f": {record.outcome}"
    return f"iteration {record.number} has ended{said} · {' · '.join(dict.fromkeys(more))}"


def evaluated_line(results: Sequence[ConditionResult]) -> str:
    """How the conditions were found, in a line."""
    met = sum(each.met for each in results)
    each = (f"{'✓' if one.met else '✗'} {one.name}{'' if one.met else f' ({_why(one)})'}" for one in results)
    return f"conditions met: {met} of {len(results)} · {', '.join(each)}"


def _of_session(logs: Logs, state: LoopState, numbers: Mapping[str, int], artifacts: Artifacts) -> Iterator[Activity]:
    """What only the session's own log has: evaluations, warnings, what failed, interruptions."""
    begun: set[str] = set()
    for event in logs.own:
        number, data = _iteration_at(event.at, state), event.data

        def entry(kind: Kind, text: str, event: Event = event, number: int = number) -> Activity:
            return Activity(at=event.at, iteration=number, kind=kind, text=text)

        match event.kind:
            case events.CALL_INTENDED if data["op"] == "loop.iterate":
                child = child_id(logs.run_id, event)
                if child not in begun:
                    begun.add(child)
                    number = numbers.get(child, number + 1)
                    yield entry("iteration", f"iteration {number} begins", number=number)
            case events.CALL_INTENDED if data["op"] == "loop.notify":
                found = _notice(whole(data["args"], artifacts))
                if found is not None:
                    yield entry("warning", one_line(found))
            case events.CALL_ENDED if "error" in data and data["op"].startswith("loop."):
                what = DOING.get(data["op"], "working on the iteration")
                yield entry("warning", f"{what} failed: {one_line(str(data['error'][1]))}")
            case events.CALL_ENDED if data["op"] == "loop.evaluate" and "ok" in data:
                results = _results(whole(data["ok"], artifacts))
                if results:
                    yield entry("evaluation", evaluated_line(results))
            case events.RUN_RESUMED:
                yield entry("session", "gone on with")
            case events.RUN_INTERRUPTED:
                yield entry("session", "interrupted")
            case events.RUN_ANSWERED:
                yield entry("operator", f"answered: {one_line(str(data['answer']))}")
            case events.NODE_DECIDED if "waiting" in data:
                yield entry("session", f"asks: {one_line(str(data['waiting']['question']))}")
            case events.NODE_DECIDED if "status" in data:
                yield entry("session", _ended(data["status"], data["stop_reason"]))


def _ended(status: str, reason: str | None) -> str:
    """How the session ended, in words."""
    return "completed" if status == Status.COMPLETE else f"ended: {why_ended(reason) or status}"


def why_ended(reason: str | None) -> str:
    """A stop reason in words."""
    kind, _, name = (reason or "").partition(":")
    if kind == "budget":
        return f"the limit of {LIMITS.get(name, name)} is reached"
    return ENDED.get(kind, reason or "")


def _deeds(below: Sequence[Event], artifacts: Artifacts) -> Iterator[tuple[float, str]]:
    """What an agent did, when it was done."""
    begun: dict[str, Event] = {}
    for event in below:
        if event.kind == events.CALL_INTENDED:
            begun[event.data["key"]] = event
        elif event.kind == events.CALL_ENDED and event.data["key"] in begun:
            call = begun.pop(event.data["key"])
            done = deed(call.data["op"], whole(call.data["args"], artifacts))
            if done is not None:
                yield event.at, f"{_mark(event.data, artifacts)} {done}"


def _mark(ended: Mapping[str, Any], artifacts: Artifacts) -> str:
    given = whole(ended.get("ok"), artifacts)
    went_well = "ok" in ended and not (isinstance(given, dict) and given.get("ok") is False)
    return "✓" if went_well else "✗"


def _open_call(log: Sequence[Event]) -> Event | None:
    """The newest call that has been begun and has not ended."""
    ended: set[str] = set()
    for event in reversed(log):
        if event.kind == events.CALL_ENDED:
            ended.add(event.data["key"])
        elif event.kind == events.CALL_INTENDED and event.data["key"] not in ended:
            return event
        elif event.kind == events.NODE_DECIDED:
            return None
    return None


def _doing(call: Event | None, logs: Logs, state: LoopState, artifacts: Artifacts) -> str:
    if call is None:
        return ""
    if call.data["op"] != "loop.iterate":
        return DOING.get(call.data["op"], "")
    inner = _open_call(logs.below.get(child_id(logs.run_id, call), ()))
    what = under_way(inner.data["op"], whole(inner.data["args"], artifacts)) if inner is not None else ""
    return f"iteration {state.iteration + 1}: {what or 'the agent works'}"


def _iteration_at(at: float, state: LoopState) -> int:
    """In or after which iteration it was."""
    known = state.iterations
    if not known or at < known[0].began:
        return known[0].number - 1 if known else state.iteration
    for earlier, later in pairwise(known):
        if at < later.began:
            return earlier.number
    return known[-1].number


def whole(value: Json, artifacts: Artifacts) -> Json:
    """What the log has, or what it refers to; None where that is gone."""
    if isinstance(value, dict) and set(value) == {"artifact", "bytes"}:
        try:
            return json.loads(artifacts.get(value["artifact"]))
        except (StoreError, ValueError, KeyError):
            return None
    return value


def _results(given: Json) -> tuple[ConditionResult, ...]:
    """None where the evaluation was cut off, or where its artifact is gone."""
    found = given["results"] if isinstance(given, dict) and not given["cut"] else []
    return tuple(ConditionResult.model_validate(each) for each in found)


def _notice(args: Json) -> str | None:
    """The text of a warning; questions and ends are in the log by themselves."""
    told = isinstance(args, dict) and args.get("kind") == "warning"
    return str(args.get("text", "")) if told else None


def _order(signal: Signal) -> str:
    """What an operator has ordered, in words."""
    data = signal.data
    if signal.name == "extend":
        given = [f"{value:g} {UNITS[name]}" for name, value in data.items() if name in UNITS and value is not None]
        return one_line(f"extend to {', '.join(given)}")
    if signal.name == "exits":
        changed = (f"{verb} {each}" for verb in ("add", "remove") for each in data.get(verb, ()))
        return one_line(f"exit conditions: {', '.join(changed)}")
    return f"go back to checkpoint {data.get('checkpoint')}" if signal.name == "from" else signal.name


def _why(result: ConditionResult) -> str:
    return one_line(result.problem or result.summary, 60)


def some(names: Sequence[str], unnamed: int = 0) -> str:
    """The first of the names, and how many more there are, with those that have no name here."""
    rest = max(0, len(names) - NAMED) + unnamed
    more = f" and {rest} more" if rest else ""
    return ", ".join(names[:NAMED]) + more
