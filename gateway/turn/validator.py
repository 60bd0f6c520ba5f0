"""Validate: does the response follow from what was done? Code looks for names out of nowhere, then a model judges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gateway.engine.journal import Visit
from gateway.engine.nodes import Node, Route
from gateway.llm.packer import Section
from gateway.turn.asking import Asked, Asker, counted
from gateway.turn.grounding import ungrounded
from gateway.turn.responder import outcomes
from gateway.turn.sections import arguments, sections
from gateway.turn.state import TurnContext, TurnState, Verdict

MAX_ARGS = 20_000  # characters of a call's arguments that an answer may name things from
ISSUES: dict[str, Any] = {
    "type": "array",
    "items": {"type": "string", "minLength": 1, "maxLength": 200},
    "maxItems": 3,
}


@dataclass(frozen=True)
class Judged:
    verdict: Verdict
    asked: Asked | None = None


class Validate(Node[TurnState, TurnContext, TurnState, Judged]):
    """`VALIDATION`: APPROVE, RETRY or FAIL.

    Code looks for names and numbers out of nowhere. Where tools have changed something, that is what was wanted: the
    pattern's own checks have judged it, and the response names it by code, so no model is asked. Where the answer is
    what was wanted, a model judges it. After an objection the response is written once more, with §2; where the last
    call had failed, the Planner decides anew.
    """

    name = "Validate"
    on_success = Route[TurnState](lambda state: state.next, ("Save", "Respond", "Plan"))

    def __init__(self, context: TurnContext, asker: Asker) -> None:
        self._context = context
        self._asker = asker

    def build_input(self, state: TurnState, context: TurnContext) -> TurnState:
        return state

    async def execute(self, given: TurnState, visit: Visit) -> Judged:
        record = sections(self._context.request, given, visit.artifacts)
        response = given.response or ""
        changed = outcomes(given.entries, visit.artifacts)
        if not given.verdicts:
            said = [*(section.body for section in record), *changed]
            said += [arguments(each.args, MAX_ARGS) for each in given.entries]
            if issues := ungrounded(response, "\n".join(said)):
                return Judged(Verdict(verdict="RETRY", issues=tuple(issues), by="code"))
        if changed:
            return Judged(Verdict(verdict="APPROVE", by="code"))
        asked = await self._asker.decide(
            visit,
            given,
            "validator",
            [*record, Section("5", "Response", (response,))],
            "Verdict:",
            _schema(first=not given.verdicts),
            type="VALIDATION",
            check=_told,
        )
        return Judged(Verdict(**asked.value, by="model"), asked)

    def apply_output(self, state: TurnState, output: Judged) -> TurnState:
        follows = "Save"
        if output.verdict.verdict == "RETRY":
            follows = "Respond" if state.entries[-1].ok else "Plan"
        state = state.with_(verdicts=(*state.verdicts, output.verdict), next=follows)
        return counted(state, output.asked)


def _schema(*, first: bool) -> dict[str, Any]:
    """What may be said: the first attempt is tried again, the last is refused."""
    verdicts = ["APPROVE", "RETRY" if first else "FAIL"]
    return {
        "type": "object",
        "properties": {"verdict": {"type": "string", "enum": verdicts}, "issues": ISSUES},
        "required": ["verdict", "issues"],
        "additionalProperties": False,
    }


def _told(verdict: dict[str, Any]) -> str | None:
    """The objection to a verdict that says nothing: a second attempt needs to know what was wrong with the first."""
    return None if verdict["verdict"] == "APPROVE" or verdict["issues"] else "issues must say what is wrong"
