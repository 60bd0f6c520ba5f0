"""A turn's question to a person, put through the client: MCP elicitation."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import mcp_types as types

from gateway import Gateway, Turn
from gateway.engine.state import Waiting

ANSWER = "answer"
APPROVE = "approve"  # the id of a question whether a call may be made


class Unanswered(Exception):
    """The person did not say, or cannot be asked: the turn goes on waiting."""

    def __init__(self, turn: Turn) -> None:
        super().__init__(turn.run_id)
        self.turn = turn


@dataclass(frozen=True)
class Question:
    """What a turn waits for. `asked` is the number of its last event before: it may be answered elsewhere since."""

    turn: Turn
    waiting: Waiting
    asked: int

    @classmethod
    def of(cls, gateway: Gateway, turn: Turn) -> Question:
        assert turn.waiting is not None
        return cls(turn, turn.waiting, gateway.runs.store.snapshot(turn.run_id)[0])

    def state(self) -> str:
        """For a client that sends its call again with the answer: what it was that was asked."""
        return json.dumps([self.turn.run_id, self.asked])

    def form(self) -> types.ElicitRequestFormParams:
        """The question, word for word, and a field for its answer."""
        field: dict[str, Any] = {"type": "string", "title": "Answer"}
        if self.waiting.options:
            field["enum"] = list(self.waiting.options)
        schema = {"type": "object", "properties": {ANSWER: field}, "required": [ANSWER]}
        return types.ElicitRequestFormParams(message=self.waiting.question, requested_schema=schema)

    def answer(self, said: object) -> str:
        """What the person said, from the form or for not filling it in. Raises Unanswered.

        To decline is a no to an approval only: a call of which it is not known whether it happened must not be made
        again because a window was closed.
        """
        if not isinstance(said, types.ElicitResult):
            raise Unanswered(self.turn)
        if said.action == "decline" and self.waiting.id == APPROVE:
            return "no"
        text = (said.content or {}).get(ANSWER) if said.action == "accept" else None
        known = not self.waiting.options or text in self.waiting.options
        if not isinstance(text, str) or not text.strip() or not known:
            raise Unanswered(self.turn)
        return text


def asked_before(gateway: Gateway, state: str) -> tuple[Turn, Question | None]:
    """From a question's `state`: the turn as it is now, and the question where it is still the one that it asks."""
    run, asked = json.loads(state)
    row = gateway.runs.store.run(run)
    turn = gateway.turn(row.ordinal, row.session)
    now = Question.of(gateway, turn) if turn.waiting is not None else None
    return turn, now if now is not None and now.asked == asked else None


def can_be_asked(capabilities: types.ClientCapabilities | None) -> bool:
    """Whether the client shows forms; one that only said `elicitation: {}` does."""
    elicitation = capabilities.elicitation if capabilities is not None else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)
