"""A session as a graph: EvaluateExits → Iterate → EvaluateExits … → Checkpoint → Finish."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from gateway.engine.graph import AnyNode, Graph
from gateway.engine.ports import Operation
from gateway.engine.runs import GraphType, Pinned, Runs
from gateway.engine.store import RunRow
from gateway.loop import LOOP
from gateway.loop.agents.agent import Agent
from gateway.loop.checkpoint import Checkpoint
from gateway.loop.document import project
from gateway.loop.evaluate import EvaluateExits
from gateway.loop.finish import Finish
from gateway.loop.iterate import Iterate
from gateway.loop.operations import Recipients, SessionOperations
from gateway.loop.state import LoopContext, LoopState


def loop_graph(context: LoopContext) -> Graph:
    """The nodes of a session."""
    nodes: list[AnyNode] = [EvaluateExits(context), Iterate(context), Checkpoint(context), Finish()]
    return Graph(LOOP, nodes, start="EvaluateExits")


def loop_type(home: Path, runs: Runs, agent: Callable[[LoopContext], Agent], recipients: Recipients) -> GraphType:
    """The kind of run that a session is. `agent` gives who works in it, and `recipients` are told of it."""

    def build(context: LoopContext, pinned: Pinned) -> Graph:
        return loop_graph(context)

    def operations(row: RunRow, context: LoopContext, pinned: Pinned) -> Mapping[str, Operation]:
        def pins() -> dict[str, bytes]:
            return {name: pinned.text(name).encode() for name in pinned.names()}

        return SessionOperations(home, context, runs, agent(context), recipients, pins).all()

    return GraphType(LOOP, LoopContext, LoopState, build, operations, partial(project, home))
