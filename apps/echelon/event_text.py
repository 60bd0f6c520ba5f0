"""Turn events in words: what came about, for a terminal's lines and a chat client's progress."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from echelon.terminal import one_line
from gateway.stream import (
    CandidateUndone,
    ContextGathered,
    Escalated,
    Notice,
    PlanMade,
    ToolFinished,
    TurnEvent,
    Validated,
)

LONGEST = 100  # characters of a tool's arguments


def told(event: TurnEvent, longest: int = LONGEST) -> Iterator[tuple[str, str]]:
    """(phase, line) for an event that brought something about; nothing for the others."""
    match event:
        case ContextGathered(titles=titles):
            yield "Gather", f"known: {', '.join(titles)}"
        case PlanMade():
            goals = f": {'; '.join(event.goals)}" if event.goals else ""
            then = f" (then {', '.join(event.then)})" if event.then else ""
            yield "Plan", f"{event.action} {event.task_type}".rstrip() + goals + then
        case ToolFinished():
            mark = "✓" if event.ok else "✗"
            yield "Execute", f"{mark} {call_line(event.tool, event.args, longest)} · {event.seconds:g} s"
        case CandidateUndone():
            yield "Execute", "the last candidate is undone"
        case Escalated(reason=reason):
            yield "Execute", f"escalated to the Planner: {reason}"
        case Validated(verdict=verdict, issues=issues):
            yield "Validate", f"{verdict}: {'; '.join(issues)}" if issues else verdict
        case Notice(text=text):
            yield "Notice", text


def call_line(tool: str, args: Mapping[str, Any], longest: int = LONGEST) -> str:
    """A call on one line, its arguments cut to `longest` characters."""
    from gateway.turn.sections import arguments

    return f"{tool} {one_line(arguments(args, longest), longest)}"
