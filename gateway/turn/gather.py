"""Gather: what the gateway knows that bears on the request. No model call."""

from __future__ import annotations

from typing import Any

from gateway.engine.journal import Visit
from gateway.engine.nodes import Node
from gateway.turn.state import Item, TurnContext, TurnState


class Gather(Node[TurnState, TurnContext, str, list[dict[str, Any]]]):
    name = "Gather"
    on_success = "Plan"

    def build_input(self, state: TurnState, context: TurnContext) -> str:
        return context.request

    async def execute(self, given: str, visit: Visit) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = await visit.call("turn.gather", {"request": given})
        return found

    def apply_output(self, state: TurnState, output: list[dict[str, Any]]) -> TurnState:
        return state.with_(gathered=tuple(Item(**item) for item in output))
