"""A session of one iteration: a run whose only call is the child run that an agent begins.

As a program, `agent_lab.py HOME WORKSPACE AGENT` carries one out with a `command:` agent.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from gateway.engine import budget
from gateway.engine.artifacts import ArtifactStore
from gateway.engine.graph import Graph
from gateway.engine.journal import Visit
from gateway.engine.nodes import Node, OnFailure, Retry
from gateway.engine.ports import Effect, Json, Operation, Scope
from gateway.engine.runs import GraphType, Runs
from gateway.engine.store import RunRow, Store
from gateway.loop import folder_of
from gateway.loop.agents.agent import Agent, Assignment, Told
from gateway.loop.agents.command import CommandAgent, command_type
from gateway.loop.state import ConditionResult, Evaluation, Finding, LoopContext, LoopOptions
from gateway.tools.child import Caller

SESSION = "01LAB"
TASK = "Make the tests pass"
FAILING = ConditionResult(
    name="all_tests_pass",
    met=False,
    summary="1 failed, 4 passed",
    findings=(Finding(where="tests/test_basket.py::test_total", message="assert 6 == 5"),),
    total=1,
)


class Only(BaseModel):
    assignment: Assignment


class Done(BaseModel):
    run_id: str = ""
    told: Told | None = None


class Iteration(Node[Done, Only, Json, Done]):
    name = "Iteration"
    on_failure = OnFailure(Retry(max_attempts=1))

    def build_input(self, state: Done, context: Only) -> Json:
        return context.assignment.model_dump(mode="json")

    async def execute(self, given: Json, visit: Visit) -> Done:
        return Done.model_validate(await visit.call("lab.iterate", given))

    def apply_output(self, state: Done, output: Done) -> Done:
        return output


def assignment(request: str = TASK, evaluation: Evaluation | None = None, **more: Any) -> Assignment:
    return Assignment(task=TASK, iteration=3, max_iterations=50, request=request, evaluation=evaluation, **more)


def evaluated(*results: ConditionResult) -> Evaluation:
    return Evaluation(iteration=2, at=1.0, results=results or (FAILING,))


def context(workspace: Path, **options: Any) -> LoopContext:
    return LoopContext(
        run_id=SESSION,
        task=TASK,
        name=str(workspace),
        workspace=str(workspace),
        options=LoopOptions(**options),
    )


def runs_of(home: Path) -> Runs:
    return Runs(Store(home / "echelon.db"), ArtifactStore(home / "artifacts"))


def register(runs: Runs, agent: Agent, folder: Path, pins: Mapping[str, bytes] = {}) -> None:
    """The kind of run that has one iteration of the agent."""

    async def iterate(args: Json, scope: Scope) -> Json:
        caller = Caller(scope.child_id, folder / "iterations", pins)
        new = await agent.begin(Assignment.model_validate(args), caller)
        state = await runs.child(
            scope,
            new.graph,
            new.context,
            new.data,
            title=new.title,
            limits=new.limits,
            pins=new.pins,
            session=new.session,
        )
        hint = runs.hint(scope.child_id) if state.error is not None else ""
        used = budget.shared(state.counters)
        return {"run_id": scope.child_id, "told": agent.told(state, hint).model_dump(), "used": used}

    operation = Operation("lab.iterate", iterate, Effect.CHILD, charge=lambda result: result["used"])
    graph = Graph("lab", [Iteration()], start="Iteration")
    runs.register(GraphType("lab", Only, Done, lambda *_: graph, lambda *_: {"lab.iterate": operation}))


async def iterate(runs: Runs, given: Assignment, **limits: float) -> tuple[RunRow, Done]:
    """One iteration, to its end."""
    row, owned = await runs.create("lab", Only(assignment=given), Done(), title="lab", limits=limits, pins={})
    state = await runs.drive(row, owned)
    assert isinstance(state.data, Done)
    return row, state.data


def opened(home: Path, session: LoopContext) -> Runs:
    """Where iterations of the session's `command:` agent are carried out."""
    runs = runs_of(home)
    runs.register(command_type())
    register(runs, CommandAgent(session), folder_of(home, session.run_id))
    return runs


if __name__ == "__main__":
    base, folder, name = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    asyncio.run(iterate(opened(base, context(folder, agent=name)), assignment(evaluation=evaluated())))
