"""What a turn is about, and where it is: plain data, small enough to be saved after every node."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from gateway.engine.ports import Json
from gateway.turn.patterns.cursor import Cursor, MoveKind
from gateway.turn.task_state import TaskState


class Plain(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Exchange(Plain):
    """A request and its answer from before the session: a client's own record of the conversation."""

    request: str
    response: str


class TurnContext(Plain):
    """What does not change during a turn. `settings` are without secrets; `task_type` fixes the type.

    `history` is what was said before the session's first turn, oldest first. Where `unread`, the response is only kept
    for later turns, and nobody's to approve: where something was changed, code says what. Without `questions` the
    Planner asks none: code wrote the request, and no person knows more of it. Where `direct`, the turn is one tool call
    that a person has decided: nothing is gathered, planned or asked of a model.
    """

    request: str
    session: str
    workspace: str
    models: dict[str, str]
    settings: dict[str, Json]
    task_type: str | None = None
    assume_yes: bool = False
    history: tuple[Exchange, ...] = ()
    unread: bool = False
    questions: bool = True
    direct: bool = False


class Item(Plain):
    """Something that the gateway knows and that bears on the request."""

    title: str
    text: str


class Task(Plain):
    """What the Task Executor carries out in one go: its type, and the goals that are worked on together."""

    task_type: str
    goals: tuple[str, ...]


class Plan(Plain):
    """A decision of the Planner, by code where `reasoning` says so. `then` are the tasks that follow if this one is
    done."""

    action: Literal["EXECUTE", "COMPLETE", "CLARIFY"]
    reasoning: str = ""
    task_type: str = ""
    goals: tuple[str, ...] = ()
    then: tuple[Task, ...] = ()
    response: str = ""
    question: str = ""


class Pending(Plain):
    """A tool call that was decided and has not been made. `args` are whole: chosen and known together."""

    tool: str
    args: dict[str, Json]
    reasoning: str
    label: str
    step: str
    candidate: int = 0


class Entry(Plain):
    """A tool call that was made: its result is an artifact, `{"tool", "args", "ok", "text", "data"}` as JSON."""

    tool: str
    args: dict[str, Json]
    reasoning: str
    label: str
    step: str
    plan: int
    ok: bool
    result: str
    s: float
    candidate: int = 0
    undone: bool = False


class Verdict(Plain):
    """What Validate found; `by` is "code" or "model"."""

    verdict: Literal["APPROVE", "RETRY", "FAIL"]
    issues: tuple[str, ...] = ()
    by: str = "model"


class Pack(Plain):
    """A prompt that was sent: the artifact of its readable form."""

    recipe: str
    sha256: str


class TurnState(Plain):
    """The turn's part of the run's state. `next` is the node that its last decision leads to."""

    gathered: tuple[Item, ...] = ()
    clarified: tuple[Item, ...] = ()
    plans: tuple[Plan, ...] = ()
    entries: tuple[Entry, ...] = ()
    packs: tuple[Pack, ...] = ()
    asked: int = 0
    """Model calls so far."""
    cursor: Cursor | None = None
    task: TaskState | None = None
    pending: Pending | None = None
    escalated: str = ""
    response: str | None = None
    verdicts: tuple[Verdict, ...] = ()
    next: str = "Plan"

    @property
    def plan(self) -> Plan:
        return self.plans[-1]

    @property
    def whole(self) -> bool:
        """Whether the current task is all that the request asks for."""
        return len(self.plans) == 1 and not self.plan.then

    @property
    def reflection(self) -> tuple[str, ...]:
        """What was wrong with the first attempt; nothing in the first."""
        return tuple(issue for each in self.verdicts if each.verdict != "APPROVE" for issue in each.issues)

    @property
    def given_up(self) -> bool:
        """Whether the last task ended with ESCALATE, and no other followed."""
        return self.cursor is not None and self.cursor.end is MoveKind.ESCALATE

    @property
    def failed_call(self) -> bool:
        """Whether the one call of a direct turn did not reach its purpose."""
        return self.cursor is None and bool(self.entries) and not self.entries[-1].ok

    @property
    def unfinished(self) -> bool:
        """Whether the turn ends without what was asked for."""
        return self.given_up or self.refused or self.failed_call

    @property
    def refused(self) -> bool:
        """Whether the last word of Validate was no."""
        return bool(self.verdicts) and self.verdicts[-1].verdict != "APPROVE"

    @classmethod
    def calling(cls, tool: str, args: dict[str, Json]) -> TurnState:
        """Before a tool call that a person has decided."""
        return cls(pending=Pending(tool=tool, args=args, reasoning="", label=f"CALL {tool}", step=""))

    def mine(self) -> tuple[Entry, ...]:
        """The calls of the current plan, in order."""
        return tuple(entry for entry in self.entries if entry.plan == len(self.plans))

    def with_(self, **changes: Any) -> TurnState:
        return self.model_copy(update=changes)
