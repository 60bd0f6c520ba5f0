"""Respond, Save, Unfinished: what the user gets, what later turns know of it, and whether the task was completed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gateway.engine.journal import Visit
from gateway.engine.nodes import Node, Route
from gateway.engine.ports import Artifacts
from gateway.errors import TaskUnfinished
from gateway.turn.asking import Asked, Asker, counted
from gateway.turn.operations import load_result
from gateway.turn.sections import sections
from gateway.turn.state import Entry, TurnContext, TurnState

ONE_PARAGRAPH = ("\n\n", "\n```")


@dataclass(frozen=True)
class Responded:
    text: str
    asked: Asked | None


class Respond(Node[TurnState, TurnContext, TurnState, Responded]):
    """The response: the Planner's own where it has one, else a model's from §4; code says what was changed."""

    name = "Respond"
    on_success = Route[TurnState](lambda state: state.next, ("Validate", "Save"))

    def __init__(self, context: TurnContext, asker: Asker) -> None:
        self._context = context
        self._asker = asker

    def build_input(self, state: TurnState, context: TurnContext) -> TurnState:
        return state

    async def execute(self, given: TurnState, visit: Visit) -> Responded:
        if self._context.direct:
            return Responded(str(load_result(visit.artifacts, given.entries[-1].result)["text"]), None)
        facts = "\n".join(outcomes(given.entries, visit.artifacts))
        if given.plan.action == "COMPLETE" and given.plan.response:
            return Responded(_with(given.plan.response, facts), None)
        if self._context.unread and facts:
            return Responded(_with(facts, given.escalated), None)
        record = sections(self._context.request, given, visit.artifacts)
        stopped = f" The task could not be finished: {given.escalated}." if given.escalated else ""
        # What was changed is told by code: a model that has the room would write it all again.
        how, stop = (" Two sentences at most, without code.", ONE_PARAGRAPH) if facts else ("", ())
        question = f"Write the answer to the user.{how}{stopped}"
        asked = await self._asker.write(visit, given, "responder", record, question, stop=stop)
        return Responded(_with(asked.value, facts), asked)

    def apply_output(self, state: TurnState, output: Responded) -> TurnState:
        judged = self._context.settings.get("validate", True) and state.entries and not state.given_up
        judged = judged and not self._context.direct and not self._context.unread
        state = state.with_(response=output.text, next="Validate" if judged else "Save")
        return counted(state, output.asked)


class Save(Node[TurnState, TurnContext, dict[str, Any], None]):
    """Keeps the turn in short for those after it."""

    name = "Save"
    on_success = Route[TurnState](lambda state: "Unfinished" if state.unfinished else None, ("Unfinished", None))

    def build_input(self, state: TurnState, context: TurnContext) -> dict[str, Any]:
        return {
            "request": context.request,
            "response": state.response or "",
            "done": [f"{plan.task_type}: {'; '.join(plan.goals)}" for plan in state.plans if plan.action == "EXECUTE"],
        }

    async def execute(self, given: dict[str, Any], visit: Visit) -> None:
        await visit.call("turn.save", given)

    def apply_output(self, state: TurnState, output: None) -> TurnState:
        return state


class Unfinished(Node[TurnState, TurnContext, str, None]):
    """The end of a turn whose task was given up, whose response was refused, or whose only call failed: the response
    is kept, and the run has failed."""

    name = "Unfinished"

    def build_input(self, state: TurnState, context: TurnContext) -> str:
        if state.failed_call:
            return f"{state.entries[-1].tool} failed"
        if state.given_up:
            return f"the task could not be completed: {state.escalated or 'the Task Executor gave no reason'}"
        return f"the response was not approved: {'; '.join(state.verdicts[-1].issues)}"

    async def execute(self, given: str, visit: Visit) -> None:
        raise TaskUnfinished(given)

    def apply_output(self, state: TurnState, output: None) -> TurnState:
        return state


def _with(response: str, facts: str) -> str:
    return "\n\n".join(filter(None, (response, facts)))


def outcomes(entries: Sequence[Entry], artifacts: Artifacts) -> list[str]:
    """What is different now, as the tools say it in `data.changed`: facts that need no model."""
    lines: dict[str, None] = {}
    for entry in entries:
        if entry.undone or not entry.ok:
            continue
        summary = load_result(artifacts, entry.result)["data"].get("changed")
        if summary:
            lines[f"- {summary}"] = None
    return list(lines)
