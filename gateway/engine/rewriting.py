"""A run's log without what was erased: masked in what came from outside, and made again by its nodes from that."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gateway.engine import events
from gateway.engine.artifacts import ArtifactStore
from gateway.engine.events import Event
from gateway.engine.graph_type import GraphType
from gateway.engine.ports import Effect, Json
from gateway.engine.records import digest_of
from gateway.engine.replay import Relabelled, ReplayLog, first_state, replay, rerun
from gateway.engine.state import Status
from gateway.engine.store import Progress, RunRow
from gateway.errors import ReplayMismatch, RunBusy

Clean = Callable[[str], str]
GONE = "erased"  # stands for a digest that cannot be made again
_SHA256 = re.compile(r"\b[0-9a-f]{64}\b")
_SAID = {  # what of an event may have words of others in it; the rest names and counts
    events.RUN_STARTED: ("state",),
    events.RUN_ANSWERED: ("answer",),
    events.CALL_INTENDED: ("args",),
    events.CALL_ENDED: ("ok", "error"),
    events.NODE_DECIDED: ("error", "hint", "waiting"),
}
_MADE = ("state", "error", "hint", "waiting")  # what a decision's record has of its nodes' making


@dataclass(frozen=True)
class Rewritten:
    """A run as it shall be written: the same events, by number and kind."""

    row: RunRow
    events: Sequence[Event]
    state: str
    replayable: bool


@dataclass
class Masked:
    """Values and artifacts, masked. `replaced` are the artifacts in whose place others stand now."""

    artifacts: ArtifactStore
    clean: Clean
    pinned: frozenset[str] = frozenset()
    replaced: set[str] = field(default_factory=set)
    _known: dict[str, str] = field(default_factory=dict)

    def value(self, value: Json) -> Json:
        """As it is, with every text in it masked, and every artifact that it names replaced by a masked one."""
        if isinstance(value, str):
            return _SHA256.sub(lambda name: self.artifact(name[0]), self.clean(value))
        if isinstance(value, list):
            return [self.value(each) for each in value]
        if isinstance(value, dict):
            masked = {self.clean(key): self.value(each) for key, each in value.items()}
            if set(value) == {"artifact", "bytes"} and masked["artifact"] != value["artifact"]:
                masked["bytes"] = self.artifacts.path(masked["artifact"]).stat().st_size
            return masked
        return value

    def artifact(self, sha256: str) -> str:
        """The name of its masked content: its own where there is nothing to mask, or where there is none."""
        if sha256 not in self._known:
            self._known[sha256] = sha256
            if sha256 not in self.pinned and self.artifacts.path(sha256).exists():
                with contextlib.suppress(UnicodeDecodeError):
                    old = self.artifacts.path(sha256).read_bytes().decode()
                    new = self.document(old)
                    if new != old:
                        self._known[sha256] = self.artifacts.put(new.encode())
                        self.replaced.add(sha256)
        return self._known[sha256]

    def document(self, text: str) -> str:
        """A text, masked; JSON stays JSON. The same text where there is nothing to mask."""
        try:
            old = json.loads(text)
        except ValueError:
            return str(self.value(text))
        new = self.value(old)
        return text if new == old else json.dumps(new, ensure_ascii=False, indent=1 if "\n" in text else None)


async def rewrite(
    kind: GraphType | None,
    row: RunRow,
    recorded: Sequence[Event],
    snapshot: tuple[int, str],
    masked: Masked,
    redact: Clean,
    *,
    replayable: bool,
) -> Rewritten:
    """The run without what was erased; `replayable` says whether it was so before. Raises RunBusy where a run that it
    has begun must end first: that one's name follows from the arguments of the call."""
    if row.status != Status.COMPLETE and _has_child_under_way(recorded):
        raise RunBusy(f"run {row.id} goes on with a run that it has begun", hint=f"echelon runs resume {row.id}")
    question = None if row.question is None else masked.clean(row.question)
    row = replace(row, title=masked.clean(row.title), context=masked.value(row.context), question=question)
    log = _masked(recorded, masked)
    if replayable and kind is not None:
        # Whatever keeps it from being run again, it is erased from all the same.
        with contextlib.suppress(Exception):
            return await _made_again(kind, row, log, snapshot[0], masked, redact)
    gone = [
        replace(each, data={**each.data, "state": GONE}) if each.kind == events.NODE_DECIDED else each for each in log
    ]
    return Rewritten(row, gone, json.dumps(masked.value(json.loads(snapshot[1]))), replayable=False)


async def _made_again(
    kind: GraphType, row: RunRow, recorded: Sequence[Event], snapshot_seq: int, masked: Masked, redact: Clean
) -> Rewritten:
    """What its nodes make of the masked log; it is replayed once, to be sure. Raises ReplayMismatch and others."""
    log = Rewriting(row.id, recorded)
    final = await rerun(kind, row, log, first_state(recorded, masked.artifacts), masked.artifacts, redact)
    await replay(kind, row, log.events, masked.artifacts, redact)
    state = log.state if log.state is not None and snapshot_seq == log.decided_seq else final.reopened().dump()
    if _masked(log.events, masked) != log.events or masked.document(state) != state:
        raise ReplayMismatch("its nodes put it together again", seq=log.decided_seq)
    return Rewritten(row, log.events, state, replayable=True)


class Rewriting(ReplayLog):
    """A masked log that takes over what the nodes make of it; all else must be as it was."""

    def __init__(self, run_id: str, recorded: Sequence[Event]) -> None:
        super().__init__(run_id, recorded)
        self.state: str | None = None
        """After the last decision, as its snapshot."""
        self.decided_seq = 0
        self._relabelled: set[tuple[str, str]] = set()

    @property
    def events(self) -> list[Event]:
        return self._events

    async def append(
        self,
        kind: str,
        data: dict[str, Any],
        *,
        state: str | None = None,
        progress: Progress | None = None,
        durable: bool = False,
    ) -> Event:
        if kind in (events.CALL_INTENDED, events.CALL_ENDED):
            self._relabel(data)
        written = await super().append(kind, data, state=state, progress=progress, durable=durable)
        self.state, self.decided_seq = state, written.seq
        return written

    def _relabel(self, data: Mapping[str, Json]) -> None:
        """Where the log has this call with the arguments of before, give it these, and begin the attempt again."""
        key, new = data["key"], data["digest"]
        same = [each for each in self._events[: self.seq] if each.data.get("key") == key]
        stale = [
            each
            for each in same
            if each.kind != events.CALL_IN_DOUBT
            and (each.data["op"], each.data["digest"] != new) == (data["op"], True)
            and (key, each.data["digest"]) not in self._relabelled
        ]
        if not stale or any(each.data["digest"] == new for each in same):
            return
        old = next((each for each in stale if each.data["attempt"] == data["attempt"]), stale[-1]).data["digest"]
        self._relabelled.add((key, new))
        for each in same:
            if each.data["digest"] == old:
                args = {"args": data["args"]} if each.kind == events.CALL_INTENDED and "args" in data else {}
                self._events[each.seq - 1] = replace(each, data={**each.data, **args, "digest": new})
        self._answered.clear()
        raise Relabelled(f"{key} has other arguments now", seq=stale[0].seq)

    def _compare(self, logged: Event, data: dict[str, Any]) -> None:
        made = json.loads(json.dumps({name: data[name] for name in _MADE if name in data}))
        if _kind(made) == _kind(logged.data):
            rest = {name: each for name, each in logged.data.items() if name not in _MADE}
            logged = replace(logged, data={**rest, **made})
        super()._compare(logged, data)
        self._events[logged.seq - 1] = self._decisions[self._done] = logged


def _kind(decided: Mapping[str, Json]) -> Json:
    """Of the error that a decision was made after, which the graph may have gone by."""
    return decided.get("error", [None])[0]


def _masked(recorded: Sequence[Event], masked: Masked) -> list[Event]:
    """The same events, with the digests that their masked arguments have."""
    digests: dict[tuple[str, str], str] = {}
    log = []
    for event in recorded:
        said = {name: masked.value(event.data[name]) for name in _SAID.get(event.kind, ()) if name in event.data}
        log.append(replace(event, data={**event.data, **said}))
        if event.kind == events.CALL_INTENDED and said["args"] != event.data["args"]:
            args = said["args"]
            if isinstance(args, dict) and set(args) == {"artifact", "bytes"}:
                args = json.loads(masked.artifacts.get(args["artifact"]))
            digests[event.data["key"], event.data["digest"]] = digest_of(event.data["op"], args)
    return [
        replace(each, data={**each.data, "digest": digests[label]})
        if (label := (each.data.get("key"), each.data.get("digest"))) in digests
        else each
        for each in log
    ]


def _has_child_under_way(recorded: Sequence[Event]) -> bool:
    ended = {event.data["key"] for event in recorded if event.kind == events.CALL_ENDED}
    begun = (event.data for event in recorded if event.kind == events.CALL_INTENDED)
    return any(data["effect"] == Effect.CHILD and data["key"] not in ended for data in begun)
