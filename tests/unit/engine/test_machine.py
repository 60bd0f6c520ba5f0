from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from engine.lab import Lab, Notes, Nothing, Step, calls
from gateway.engine.graph import Graph
from gateway.engine.journal import Visit
from gateway.engine.log import MemoryLog
from gateway.engine.machine import Attempt, Machine, create_machine, initial
from gateway.engine.nodes import Retry, Route
from gateway.engine.ports import Effect, Operation, Ports
from gateway.engine.scripted import Recorder, ScriptedClock
from gateway.engine.state import RunState, Status, Waiting
from gateway.errors import GraphError, ModelOverloaded, ToolError

Make = Callable[..., Lab]


def machine(*nodes: Step, snapshot: RunState | None = None, **settings: Any) -> Machine:
    graph = Graph("g", nodes, nodes[0].name)

    async def busy(args: Any, scope: Any) -> Any:
        raise ModelOverloaded("busy")

    ports = Ports({"busy": Operation("busy", busy)}, clock=ScriptedClock(tick=0.25), notify=Recorder())
    return create_machine(graph, ports, Nothing(), snapshot or initial(graph, Notes()), **settings)


async def test_a_graph_runs_from_its_start_to_its_end_in_memory() -> None:
    state = await machine(Step("A", None, "B"), Step("B")).run()
    assert (state.status, state.stop_reason, state.node) == (Status.COMPLETE, "success", None)
    assert state.data.lines == ["A", "B"]  # type: ignore[attr-defined]
    assert state.counters["visits"] == 2


async def test_every_decision_is_persisted_with_its_state_and_every_attempt_is_told() -> None:
    persisted: list[tuple[str | None, str, str]] = []
    attempts: list[Attempt] = []
    await machine(
        Step("A", None, "B"),
        Step("B", calls("busy"), retry=Retry(2)),
        on_persist=lambda state, new, node: persisted.append((state.node, new[0]["decision"], node)),
        on_attempt=attempts.append,
    ).run()
    assert persisted == [("B", "advance", "A"), ("B", "tryagain", "B"), ("B", "terminal", "B")]
    assert [(a.node, a.visit, a.attempt, a.outcome, a.error) for a in attempts] == [
        ("A", 1, 1, "success", None),
        ("B", 2, 1, "failure", "busy"),
        ("B", 2, 2, "failure", "busy"),
    ]
    assert all(attempt.ms > 0 for attempt in attempts)


async def test_a_machine_goes_on_from_a_snapshot() -> None:
    nodes = [Step("A", None, "B"), Step("B")]
    snapshots: list[str] = []
    await machine(*nodes, on_persist=lambda state, new, node: snapshots.append(state.dump())).run()
    state = await machine(*nodes, snapshot=RunState.load(snapshots[0], Notes)).run()
    assert (state.data.lines, state.visit) == (["A", "B"], 2)  # type: ignore[attr-defined]


async def test_a_run_at_a_node_that_its_graph_does_not_have_says_so() -> None:
    for node in ("Gone", None):
        with pytest.raises(GraphError, match=f"at {node}, which graph g does not have"):
            await machine(Step("A"), snapshot=RunState(node=node, data=Notes())).run()


@pytest.mark.parametrize("status", [Status.COMPLETE, Status.FAILED, Status.STOPPED, Status.WAITING])
async def test_a_run_that_is_not_running_is_left_alone(status: Status) -> None:
    ended = RunState(node=None, data=Notes(), status=status)
    assert await machine(Step("A"), snapshot=ended).run() is ended


async def test_a_machine_that_is_cancelled_before_it_starts_runs_nothing() -> None:
    cancelled = machine(Step("A"))
    cancelled.cancel()
    state = await cancelled.run()
    assert (state.status, state.stop_reason, state.data) == (Status.STOPPED, "user_cancelled", Notes())


async def test_cancelling_twice_is_cancelling_once_and_an_interruption_besides_is_not_swallowed() -> None:
    async def hang(visit: Visit) -> None:
        await asyncio.sleep(60)

    running = machine(Step("A", hang))
    task = asyncio.create_task(running.run())
    await asyncio.sleep(0)
    running.cancel()
    running.cancel()
    assert (await task).stop_reason == "user_cancelled"

    running = machine(Step("A", hang))
    task = asyncio.create_task(running.run())
    await asyncio.sleep(0)
    running.cancel()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def refuses(state: Notes) -> str | None:
    raise KeyError("route")


class Unsaved(BaseModel):
    lines: list[Any] = []
    thing: Any = None


class Strange(Step):
    def apply_output(self, state: Notes, output: Any) -> Notes:
        return Unsaved(thing=object())  # type: ignore[return-value]


class Refusing(Step):
    def build_input(self, state: Notes, context: Nothing) -> Notes:
        raise KeyError("input")


@pytest.mark.parametrize(
    ("node", "kind"),
    [
        (Step("A", None, Route(refuses, (None,)), retry=Retry(1)), "error:internal"),
        (Step("A", None, Route(lambda state: "Z", (None,))), "error:graph"),
        (Strange("A", retry=Retry(1)), "error:internal"),
        (Refusing("A", retry=Retry(1)), "error:internal"),
    ],
)
async def test_what_a_node_does_wrong_in_any_of_its_parts_is_its_failure(node: Step, kind: str) -> None:
    log = MemoryLog()
    state = await machine(node, log=log).run()
    assert (state.status, state.stop_reason) == (Status.FAILED, kind)
    assert log.events[-1].data["stop_reason"] == kind


async def test_retries_pause_with_growing_delays_and_end_after_three_attempts(lab: Make) -> None:
    here = lab(Step("A", calls("busy")))
    here.op("busy", Effect.READ, ModelOverloaded("busy"))
    state = await here.start()
    first, second = here.clock.slept
    assert 1 <= first <= 1.25 and 2 <= second <= 2.5
    assert (state.stop_reason, len(here.names())) == ("error:model_overloaded", 3)


async def test_what_cannot_be_retried_is_not(lab: Make) -> None:
    here = lab(Step("A", calls("bad"), backtrack_to="A"))
    here.op("bad", Effect.READ, ToolError("no"))
    assert (await here.start()).stop_reason == "error:tool"
    assert here.names() == ["bad"]


async def test_a_backtrack_goes_to_its_node_and_counts_as_a_restart(lab: Make) -> None:
    here = lab(Step("A", calls("open"), "B"), Step("B", calls("busy"), retry=Retry(1), backtrack_to="A"))
    here.op("open")
    here.op("busy", Effect.READ, ModelOverloaded("busy"), "fine")
    state = await here.start(restarts=3)
    assert (state.status, state.counters["restarts"], state.counters["visits"]) == (Status.COMPLETE, 1, 4)
    assert here.names() == ["open", "busy", "open", "busy"]


def test_a_state_survives_its_dump() -> None:
    waiting = Waiting("q", "r", "Wie geht's? 🎉", ("yes", "no"), 12.5, "no")
    state = RunState("A", Notes(lines=["ü", {"n": 1}]), 3, 2, Status.WAITING, None, None, {"steps": 2}, waiting, 17)
    assert RunState.load(state.dump(), Notes) == state
    assert state.dump(state.data.model_dump_json()) == state.dump()
