"""What a turn came to, for the client that asked: an answer, a question, or an error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from echelon.ending import question_lines
from echelon.server.problem import NO_RETRY, Problem, status_of
from gateway import Turn
from gateway.engine.state import Status
from gateway.errors import TaskUnfinished

UNFINISHED = f"error:{TaskUnfinished.kind}"
COUNTED = ("prompt_tokens", "cached_tokens", "completion_tokens")


@dataclass(frozen=True)
class Reply:
    """`error` is empty where there is a `content`; `spent` are tokens, by the names of COUNTED."""

    session: str
    turn: int
    run: str
    status: str
    content: str = ""
    finish_reason: str = "stop"
    error: str = ""
    stop_reason: str = ""
    spent: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, turn: Turn, before: Mapping[str, float] | None = None) -> Self:
        """How the turn ended; `before` is what it had spent when the client asked."""
        earlier = before or {}
        reply = cls(
            session=turn.session,
            turn=turn.number,
            run=turn.run_id,
            status=turn.status.value,
            content=turn.response,
            stop_reason=turn.stop_reason or "",
            spent={name: int(turn.usage.get(name, 0) - earlier.get(name, 0)) for name in COUNTED},
        )
        reason, _, budget = reply.stop_reason.partition(":")
        if turn.waiting is not None:
            return replace(reply, content="\n".join(question_lines(turn.waiting)))
        if turn.status is Status.STOPPED and reason == "budget":
            what = turn.response or f"(The budget for {budget} is used up, and there is no response yet.)"
            return replace(reply, content=what, finish_reason="length")
        given_up = reply.stop_reason == UNFINISHED and turn.response  # its response says what there is
        if turn.status is not Status.COMPLETE and not given_up:
            said = turn.error or ("the turn was cancelled" if turn.status is Status.STOPPED else "the turn failed")
            return replace(reply, content="", error=f"{said}; {turn.hint}" if turn.hint else said)
        return reply

    def headers(self) -> dict[str, str]:
        return place_headers(self.session, self.turn, self.run)

    def problem(self) -> Problem:
        """The error of a turn that has no answer."""
        headers = {**self.headers(), **NO_RETRY}
        return Problem(status_of(self.stop_reason), self.error, code=self.stop_reason or None, headers=headers)


def place_headers(session: str, turn: int | None = None, run: str | None = None) -> dict[str, str]:
    """Which turn answers: headers of the response."""
    known = {"X-Echelon-Session": session, "X-Echelon-Turn": str(turn or ""), "X-Echelon-Run": run or ""}
    return {name: value for name, value in known.items() if value}
