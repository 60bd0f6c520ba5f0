"""The turn as a graph: Gather → Plan ⇄ (Execute ⇄ Coordinate) → Respond ⇄ Validate → Save (→ Unfinished)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from gateway.engine.graph import AnyNode, Graph
from gateway.engine.ports import Model, Operation
from gateway.engine.runs import GraphType, Pinned, Runs
from gateway.engine.store import RunRow
from gateway.tools.registry import Registry
from gateway.turn import TURN
from gateway.turn.asking import Asker
from gateway.turn.coordinator import Coordinate, Undo
from gateway.turn.document import project
from gateway.turn.executor import Execute
from gateway.turn.gather import Gather
from gateway.turn.operations import Place, turn_operations
from gateway.turn.parts import Parts, Texts, assemble
from gateway.turn.planner import Clarify, PlanTask
from gateway.turn.responder import Respond, Save, Unfinished
from gateway.turn.state import TurnContext, TurnState
from gateway.turn.validator import Validate


def turn_graph(parts: Parts, context: TurnContext) -> Graph:
    """The nodes of a turn, with what shapes it."""
    asker = Asker(parts, context)
    nodes: list[AnyNode] = [
        Gather(context),
        PlanTask(parts, context, asker),
        Clarify(),
        Execute(parts, context, asker),
        Coordinate(parts, context),
        Undo(parts),
        Respond(context, asker),
        Validate(context, asker),
        Save(),
        Unfinished(),
    ]
    return Graph(TURN, nodes, start="Gather")


def turn_type(home: Path, registry: Callable[[Texts], Registry], model: Model, runs: Runs) -> GraphType:
    """The kind of run that a turn is; `registry` gives the tools of a run from what it pinned, and `runs` has those
    that its calls begin."""
    latest: dict[object, Parts] = {}  # most turns begin with the same files as the one before

    def parts_of(pinned: Pinned) -> Parts:
        if pinned.key not in latest:
            parts = assemble(pinned, registry(pinned))
            latest.clear()
            latest[pinned.key] = parts
        return latest[pinned.key]

    def build(context: TurnContext, pinned: Pinned) -> Graph:
        return turn_graph(parts_of(pinned), context)

    def operations(row: RunRow, context: TurnContext, pinned: Pinned) -> Mapping[str, Operation]:
        place = Place(home, context.session, row.ordinal or 0)

        def pins() -> dict[str, bytes]:
            return {name: pinned.text(name).encode() for name in pinned.names()}

        return turn_operations(place, context, parts_of(pinned).registry, model, runs, pins)

    return GraphType(TURN, TurnContext, TurnState, build, operations, project(home))
