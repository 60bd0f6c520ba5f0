"""What goes on in a turn, as it happens: typed events, for terminals, chat clients and programs.

`Gateway.stream` yields them and `on_event=` is called with them. They are news, not the record: the event log is that.
`TurnStarted` comes first, unless the session is busy, and `TurnEnded` last.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from gateway.engine.events import CALL_ENDED, CALL_INTENDED, NODE_DECIDED, Event
from gateway.engine.observing import RUN
from gateway.engine.state import RunState

if TYPE_CHECKING:
    from gateway.gateway import Turn
    from gateway.turn.state import TurnState

MODEL_CALL = "model.complete"


@dataclass(frozen=True)
class SessionBusy:
    """Another turn of the session is being worked on; this one begins after it."""

    session: str
    why: str


@dataclass(frozen=True)
class TurnStarted:
    """The turn is written down: from here on it can be resumed by its `run_id`."""

    run_id: str
    session: str
    number: int


@dataclass(frozen=True)
class PhaseStarted:
    """A node of the turn begins: Gather, Plan, Execute, Coordinate, Respond, …"""

    phase: str
    attempt: int


@dataclass(frozen=True)
class PhaseFailed:
    """An attempt failed and is made again in `wait_s` seconds."""

    phase: str
    attempt: int
    error: str
    wait_s: float


@dataclass(frozen=True)
class ContextGathered:
    """What is known that bears on the request, by its titles."""

    titles: tuple[str, ...]


@dataclass(frozen=True)
class PlanMade:
    """`action` is EXECUTE, COMPLETE or CLARIFY; `then` are the types of the tasks that follow."""

    action: str
    task_type: str
    goals: tuple[str, ...]
    then: tuple[str, ...]


@dataclass(frozen=True)
class TaskMoved:
    """The Task State."""

    task_type: str
    step: int
    max_steps: int
    completed: tuple[str, ...]
    pending: tuple[str, ...]


@dataclass(frozen=True)
class ModelAsked:
    """A model call begins."""


@dataclass(frozen=True)
class ModelDelta:
    """A piece of a model's answer, while it is generated; `role` is who answers: planner, executor, responder."""

    role: str
    text: str


@dataclass(frozen=True)
class ModelAnswered:
    """A model call has ended, well or not."""


@dataclass(frozen=True)
class ToolStarted:
    """A tool call begins."""

    tool: str
    args: Mapping[str, Any]


@dataclass(frozen=True)
class ToolProgressed:
    """How far the tool call is that goes on, in a line."""

    line: str


@dataclass(frozen=True)
class ToolFinished:
    """A tool call has its result; `seconds` is what it took."""

    tool: str
    args: Mapping[str, Any]
    ok: bool
    seconds: float


@dataclass(frozen=True)
class CandidateUndone:
    """A candidate of a TRY failed, and was taken back."""

    tool: str


@dataclass(frozen=True)
class Escalated:
    """The Task Executor gave up: the Planner decides what now."""

    reason: str


@dataclass(frozen=True)
class Validated:
    """Validate's verdict: APPROVE, RETRY or FAIL."""

    verdict: str
    issues: tuple[str, ...]


@dataclass(frozen=True)
class Notice:
    """Something that a person may want to know: a tool that cannot be called now, a call in doubt."""

    text: str


@dataclass(frozen=True)
class UsageChanged:
    """What the turn has spent so far, by counter: model_calls, prompt_tokens, completion_tokens, …"""

    counters: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class TurnEnded:
    """The turn is complete, failed or stopped, or waits for an answer (`turn.waiting`)."""

    turn: Turn


TurnEvent: TypeAlias = (
    SessionBusy
    | TurnStarted
    | PhaseStarted
    | PhaseFailed
    | ContextGathered
    | PlanMade
    | TaskMoved
    | ModelAsked
    | ModelDelta
    | ModelAnswered
    | ToolStarted
    | ToolProgressed
    | ToolFinished
    | CandidateUndone
    | Escalated
    | Validated
    | Notice
    | UsageChanged
    | TurnEnded
)
OnEvent: TypeAlias = Callable[[TurnEvent], None]


class Narrator:
    """Tells the engine's news of one turn as turn events (an engine `Observer`)."""

    def __init__(self, run_id: str, tell: OnEvent) -> None:
        self._run_id = run_id
        self._tell = tell
        self._succeeded = False  # the node whose decision was written last

    def progress(self, kind: str, data: Mapping[str, Any]) -> None:
        if RUN in data:  # of a run that a tool call is: as far as it goes, it is that call's progress
            kind, data = _below(kind, data)
        match kind:
            case "node":
                self._tell(PhaseStarted(data["node"], data["attempt"]))
            case "tool":
                self._tell(ToolStarted(data["tool"], data["args"]))
            case "tool.progress":
                self._tell(ToolProgressed(data["line"]))
            case "model.delta":
                self._tell(ModelDelta(data["role"], data["text"]))
            case "tool.unavailable":
                self._tell(Notice(f"{data['tool']} cannot be called now: {data['error']}"))
            case "in_doubt":
                self._tell(Notice(f"{data['op']} is in doubt: {data['error']}"))

    def wrote(self, run_id: str, event: Event) -> None:
        if run_id != self._run_id:
            return
        data = event.data
        if event.kind == CALL_INTENDED and data["op"] == MODEL_CALL:
            self._tell(ModelAsked())
        elif event.kind == CALL_ENDED and data["op"] == MODEL_CALL:
            self._tell(ModelAnswered())
        elif event.kind == NODE_DECIDED:
            self._succeeded = data["outcome"] == "success"
            if data["decision"] == "tryagain":
                self._tell(PhaseFailed(data["node"], data["attempt"], data["error"][1], data["delay_ms"] / 1000))
            self._tell(UsageChanged(data["counters"]))

    def moved(self, run_id: str, node: str, state: RunState) -> None:
        if run_id == self._run_id and self._succeeded:
            self._moved(node, state.data)  # type: ignore[arg-type]

    def _moved(self, node: str, state: TurnState) -> None:
        """What a node brought about."""
        if state.task is not None and node in ("Plan", "Execute", "Coordinate"):
            task = state.task
            self._tell(
                TaskMoved(
                    task.task_type,
                    task.current_step,
                    task.max_steps,
                    tuple(task.completed_steps),
                    tuple(task.pending_steps),
                )
            )
        if node == "Gather" and state.gathered:
            self._tell(ContextGathered(tuple(item.title for item in state.gathered)))
        elif node == "Plan":
            plan = state.plan
            self._tell(PlanMade(plan.action, plan.task_type, plan.goals, tuple(task.task_type for task in plan.then)))
        elif node == "Coordinate":
            entry = state.entries[-1]
            self._tell(ToolFinished(entry.tool, entry.args, entry.ok, entry.s))
        elif node == "Undo":
            self._tell(CandidateUndone(next(each.tool for each in reversed(state.entries) if each.undone)))
        elif node == "Execute" and state.escalated and state.next == "Plan":
            self._tell(Escalated(state.escalated))
        elif node == "Validate":
            verdict = state.verdicts[-1]
            self._tell(Validated(verdict.verdict, verdict.issues))


def _below(kind: str, data: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """What is told of a run below: how far it is, in lines, and what is in doubt. Its nodes and models are its own."""
    if kind.startswith("phone."):
        from gateway.phone.trajectory.words import progress_line

        return "tool.progress", {"line": progress_line(kind, data)}
    return (kind, data) if kind in ("tool.progress", "in_doubt") else ("", {})


async def streamed(work: Callable[..., Awaitable[Turn]]) -> AsyncIterator[TurnEvent]:
    """The events of `work(on_event=…)`, then what it raises. Ends the work where nobody takes them any more."""
    told: asyncio.Queue[TurnEvent | None] = asyncio.Queue()
    task = asyncio.ensure_future(work(on_event=told.put_nowait))
    task.add_done_callback(lambda _: told.put_nowait(None))
    try:
        while (event := await told.get()) is not None:
            yield event
        await task
    finally:
        if not task.done():
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
