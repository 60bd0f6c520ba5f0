"""Where a task stands in its pattern, and what may be done from there: plain data, part of a run's snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from gateway.engine.ports import Json


class MoveKind(StrEnum):
    CALL = "CALL"
    DONE = "DONE"
    ESCALATE = "ESCALATE"


class Phase(StrEnum):
    """What is due next: a move; the taken call's result; code's judgement of a candidate; its undoing; nothing."""

    READY = "READY"
    RUNNING = "RUNNING"
    JUDGE = "JUDGE"
    UNDO = "UNDO"
    ENDED = "ENDED"


class Move(BaseModel):
    """One legal next decision.

    `label` shows the move in one line; `step` names the call among all of the pattern. `tools` are names or globs.
    `known` are arguments that code fills in and nobody is asked for. `analyze` is what to think about first, or None.
    `question` is the model-decided question with the answer that leads here.
    In a TRY, `candidate` counts from 1 to `candidates` (0: no TRY), `call` from 0 is the call's place in the candidate,
    `follow_ups` are the tools after it, `until` is what code asks at its end.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: MoveKind
    label: str
    step: str = ""
    node: int = -1
    tools: tuple[str, ...] = ()
    purpose: str = ""
    known: dict[str, Json] = {}
    analyze: str | None = None
    question: str = ""
    retry: bool = False
    candidate: int = 0
    candidates: int = 0
    call: int = 0
    follow_ups: tuple[str, ...] = ()
    until: str = ""

    def arguments(self, chosen: Mapping[str, Json]) -> dict[str, Json]:
        """The call's arguments: what was chosen, and what code knows, which counts more."""
        return {**chosen, **self.known}


class Cursor(BaseModel):
    """A place in a program. Only `Program` makes one from another.

    `calls` counts tool calls, `retries` those of one call in a row; `done` are (step id, whether it succeeded), in the
    order in which the steps ended. `end` and `reason` say how it ended and, where that was no DONE, why.
    In phase UNDO, `undo` says which result is to be undone, counted from the newest: `results[-cursor.undo]`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    at: int = 0
    phase: Phase = Phase.READY
    calls: int = 0
    last_call: int | None = None
    retries: int = 0
    analyze: str | None = None
    retry: str | None = None
    candidate: int = 0
    call: int = 0
    done: tuple[tuple[str, bool], ...] = ()
    end: MoveKind | None = None
    reason: str = ""

    @property
    def ended(self) -> bool:
        return self.phase is Phase.ENDED

    @property
    def undo(self) -> int:
        return self.call + 1 if self.phase is Phase.UNDO else 0
