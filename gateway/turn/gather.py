"""Gather: what the gateway knows that bears on the request. No model call."""

from __future__ import annotations

from typing import Any

from gateway.engine.journal import Visit
from gateway.engine.nodes import Node, Route
from gateway.turn.state import Item, TurnContext, TurnState


class Gather(Node[TurnState, TurnContext, str, list[dict[str, Any]]]):
    """Nothing for a call that a person has decided: that is made at once."""

    name = "Gather"
    on_success = Route[TurnState](lambda state: "Coordinate" if state.pending else "Plan", ("Plan", "Coordinate"))

    def __init__(self, context: TurnContext) -> None:
        self._context = context

    def build_input(self, state: TurnState, context: TurnContext) -> str:
        return context.request

    async def execute(self, given: str, visit: Visit) -> list[dict[str, Any]]:
        if self._context.direct:
            return []
        found: list[dict[str, Any]] = await visit.call("turn.gather", {"request": given})
        return found

    def apply_output(self, state: TurnState, output: list[dict[str, Any]]) -> TurnState:
        return state.with_(gathered=tuple(Item(**item) for item in output))
