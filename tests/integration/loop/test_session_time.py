"""What counts of a session's limit of time: work, and nothing else; and what an iteration leaves behind."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from loop_lab import fake, gateway_in
from pydantic import BaseModel
from stage import WORK, Worker

from gateway.engine.graph import Graph
from gateway.engine.journal import Visit
from gateway.engine.nodes import Node
from gateway.engine.ports import Json, Scope, SystemClock
from gateway.engine.runs import GraphType
from gateway.loop.agents.agent import Assignment
from gateway.loop.state import Limits, LoopOptions
from gateway.tools.child import Caller, ChildRun

NEVER = fake(("all_tests_pass", "false"))


class Clock(SystemClock):
    """Its wall is set as a test wants; time passes by as it does."""

    def __init__(self) -> None:
        self.off_s = 0.0

    def now(self) -> float:
        return time.time() + self.off_s


@pytest.mark.parametrize("jump_s", [-86_400.0, 86_400.0])
async def test_a_wall_clock_that_is_set_takes_and_gives_no_time(tmp_path: Path, jump_s: float) -> None:
    home, workspace = tmp_path / "home", tmp_path / "work"
    workspace.mkdir()
    worker, clock = Worker(workspace), Clock()

    def jump(_: Path) -> None:
        clock.off_s += jump_s

    worker.deeds = {1: jump, 2: jump}
    async with gateway_in(home, workspace) as gateway:
        gateway.runs.register(worker.type())
        gateway.runs.clock = clock
        session = await gateway.loops.start(
            "Go on",
            exits=["all_tests_pass"],
            options=LoopOptions(conditions=NEVER),
            limits=Limits(iterations=3, time_s=3600),
            agent=worker,
        )
    assert session.status == "iteration_limit_reached"
    assert 0 <= session.state.used["time_s"] < 3600


class Thought(BaseModel):
    said: str = ""


class Asking(Node[Thought, Thought, None, str]):
    name = "Ask"

    def build_input(self, state: Thought, context: Thought) -> None:
        return None

    async def execute(self, given: None, visit: Visit) -> str:
        return await visit.ask("colour", "Which colour?")

    def apply_output(self, state: Thought, output: str) -> Thought:
        return Thought(said=output)


class Asker(Worker):
    async def begin(self, given: Assignment, caller: Caller) -> ChildRun:
        return ChildRun("asking", Thought(), Thought(), title="asks", limits={}, pins={})


async def test_a_session_that_waits_for_an_answer_uses_no_time(tmp_path: Path) -> None:
    workspace, clock = tmp_path / "work", Clock()
    workspace.mkdir()
    async with gateway_in(tmp_path / "home", workspace) as gateway:
        gateway.runs.clock = clock
        asking = Graph("asking", [Asking()], start="Ask")
        gateway.runs.register(GraphType("asking", Thought, Thought, lambda *_: asking, lambda *_: {}))
        asker = Asker(workspace)
        session = await gateway.loops.start(
            "Go on",
            exits=["all_tests_pass"],
            options=LoopOptions(conditions=NEVER),
            limits=Limits(iterations=1, time_s=3600),
            agent=asker,
        )
        assert session.status == "waiting_for_user"
        clock.off_s += 86_400.0
        await gateway.runs.answer(session.run_id, "blue")
        session = await gateway.loops.resume("last")
    assert (session.status, session.stop_reason) == ("iteration_limit_reached", "budget:iterations")
    assert session.state.used["time_s"] < 3600


async def test_iterations_that_somebody_cancels_again_and_again_come_to_an_end(tmp_path: Path) -> None:
    """Not by an order to the session, which would end it, or go back."""
    workspace = tmp_path / "work"
    workspace.mkdir()
    async with gateway_in(tmp_path / "home", workspace) as gateway:
        store = gateway.runs.store

        class Cancelled(Worker):
            async def work(self, args: Json, scope: Scope) -> Json:
                await store.request_cancel(store.runs(graph=WORK, limit=1)[0].id)
                return await asyncio.Event().wait()

        worker = Cancelled(workspace)
        gateway.runs.register(worker.type())
        session = await gateway.loops.start(
            "Go on",
            exits=["all_tests_pass"],
            options=LoopOptions(conditions=NEVER, patience=2),
            limits=Limits(iterations=10),
            agent=worker,
        )
    assert session.status == "failed" and session.state.iteration == 2


async def test_an_iteration_that_changes_hundreds_of_files_has_all_counted_and_few_named(tmp_path: Path) -> None:
    (workspace := tmp_path / "work").mkdir()
    worker = Worker(workspace)
    worker.deeds[1] = lambda root: [(root / f"{at:03}_test.py").write_text("") for at in range(300)]
    async with gateway_in(tmp_path / "home", workspace) as gateway:
        gateway.runs.register(worker.type())
        session = await gateway.loops.start(
            "Go on",
            exits=["all_tests_pass"],
            options=LoopOptions(conditions=NEVER, protect=("0*",)),
            limits=Limits(iterations=1),
            agent=worker,
        )
        activity = [each.text for each in gateway.loops.report("last").activity]
    changes = session.state.iterations[0].changes
    assert (len(changes.added), changes.beyond(), changes.beyond("tests")) == (20, 201 - 20, 200 - 20)
    assert changes.restored[:2] == ("000_test.py", "001_test.py") and changes.beyond("restored") == 100 - 20
    assert any("changed 100_test.py, 101_test.py, 102_test.py and 198 more · put back" in each for each in activity)
    document = (session.folder / "session.md").read_text()
    assert "`104_test.py` and 196 more" in document and "`104_test.py` and 195 more" in document


async def test_an_iteration_leaves_no_list_of_the_files_behind(tmp_path: Path) -> None:
    """Of a workspace with many files it would be most of what a session takes."""
    (workspace := tmp_path / "work").mkdir()
    for at in range(200):
        (workspace / f"a_name_that_is_nowhere_else_{at}").write_text("")
    worker = Worker(workspace)
    async with gateway_in(tmp_path / "home", workspace) as gateway:
        gateway.runs.register(worker.type())
        session = await gateway.loops.start(
            "Go on",
            exits=["all_tests_pass"],
            options=LoopOptions(conditions=NEVER, checkpoint_every=100),
            limits=Limits(iterations=5),
            agent=worker,
        )
    having = [each.name for each in (tmp_path / "home").rglob("*") if _has(each, b"a_name_that_is_nowhere_else_199")]
    assert having.count("before.json") == 1
    assert len([each for each in having if not each.startswith("0001-")]) == 1  # but for the checkpoint at the end
    assert session.state.iteration == 5


def _has(path: Path, text: bytes) -> bool:
    return path.is_file() and text in path.read_bytes()
