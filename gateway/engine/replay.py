"""Replay: the graph runs with every call answered from the log, and must write the same events again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from gateway.engine import events
from gateway.engine.events import Event
from gateway.engine.journal import WaitRequested
from gateway.engine.state import Waiting
from gateway.engine.store import Progress
from gateway.errors import ReplayMismatch

SIBLING_S = 5.0  # a call that was cancelled when its sibling failed has no outcome: it is cancelled again, or something is wrong


class LogEnded(Exception):
    """The log has no further decision: the run was interrupted here, or is still going on."""


class ReplayLog:
    """Answers from a recorded log and compares what the machine writes. Each decision ends a pass; a pass sees only what it saw live."""

    def __init__(self, run_id: str, recorded: Sequence[Event]) -> None:
        self.run_id = run_id
        self._events = recorded
        self._decisions = [event for event in recorded if event.kind == events.NODE_DECIDED]
        self._done = 0
        self._answered: set[str] = set()

    @property
    def seq(self) -> int:
        return self._next().seq - 1

    @property
    def finished(self) -> bool:
        return self._done == len(self._decisions)

    def _next(self) -> Event:
        if self.finished:
            raise LogEnded
        return self._decisions[self._done]

    def decided(self) -> dict[str, Any]:
        return self._next().data

    def recorded(self, visit_seq: int) -> Sequence[Event]:
        return [event for event in self._events if visit_seq < event.seq < self._next().seq]

    def answered(self, key: str) -> None:
        self._answered.add(key)

    def check_owner(self) -> None:
        pass

    async def append(
        self,
        kind: str,
        data: dict[str, Any],
        *,
        state: str | None = None,
        progress: Progress | None = None,
        durable: bool = False,
    ) -> Event:
        logged = self._next()
        if kind == events.NODE_DECIDED:
            self._compare(logged, data)
            self._done += 1
            self._answered.clear()
            return logged
        if logged.data["decision"] == "wait":  # the call that could not go on without an answer
            waiting = logged.data["waiting"]
            raise WaitRequested(Waiting(**{**waiting, "options": tuple(waiting["options"])}))
        begun = [
            e
            for e in self._pass()
            if e.kind == events.CALL_INTENDED
            and e.data["key"] == data["key"]
            and e.data["digest"] == data.get("digest")
        ]
        if begun:
            await asyncio.sleep(SIBLING_S)
        what = f"{data.get('op', 'a call')} ({data['key']})"
        raise ReplayMismatch(
            f"the replay calls {what}, which the log does not have with these arguments", seq=logged.seq
        )

    def _pass(self) -> list[Event]:
        begins = self._decisions[self._done - 1].seq if self._done else 0
        return [event for event in self._events if begins < event.seq < self._next().seq]

    def _compare(self, logged: Event, data: dict[str, Any]) -> None:
        for name in sorted({*logged.data, *data}):
            was, now = _timeless(logged.data.get(name)), _timeless(data.get(name))
            if was != now:
                raise ReplayMismatch(
                    f"event {logged.seq} ({logged.data['node']}): {name} was {was!r}, and is {now!r} in the replay",
                    seq=logged.seq,
                )
        if logged.data["outcome"] == "success":
            for event in self._pass():
                if event.kind == events.CALL_ENDED and event.data["key"] not in self._answered:
                    raise ReplayMismatch(
                        f"event {event.seq}: the call {event.data['key']} was made, but not in the replay",
                        seq=event.seq,
                    )


def _timeless(value: Any) -> Any:
    """As it stands in the log; a question's deadline is wall time, the rest must be the same."""
    value = json.loads(json.dumps(value))
    return {name: each for name, each in value.items() if name != "deadline"} if isinstance(value, dict) else value
