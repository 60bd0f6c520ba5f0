"""Tools whose call is a run of its own: asked about, paid for, cancelled, told of and repeated with care."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel
from workbench import Bench, answer, call, complete, done, fetch, plan

from gateway import Gateway
from gateway.engine.graph import Graph
from gateway.engine.journal import Visit
from gateway.engine.nodes import Node, OnFailure, Retry
from gateway.engine.ports import Effect, Operation
from gateway.engine.runs import GraphType
from gateway.engine.state import Status
from gateway.errors import TaskUnfinished, UserCancelled
from gateway.stream import PhaseStarted, ToolProgressed, TurnEvent
from gateway.tools.child import Caller, ChildEnd, ChildRun, child_tool
from gateway.tools.registry import Registry, ToolContext, ToolResult


class Way(BaseModel):
    how: str
    strangers: bool = False


class Diary(BaseModel):
    said: str = ""


class Errand(BaseModel):
    how: str


class Walk(Node[Diary, Way, Way, str]):
    """Spends, tells, asks, fails, as it is told."""

    name = "Walk"
    on_failure = OnFailure(Retry(max_attempts=1))

    def build_input(self, state: Diary, context: Way) -> Way:
        return context

    async def execute(self, way: Way, visit: Visit) -> str:
        visit.progress("tool.progress", line="a step")
        visit.progress("phone.chosen", decision=2, max_steps=9, thinking="", action={"action": "back"}, target="")
        await visit.call("walk", {})
        if way.how == "fail":
            raise TaskUnfinished("the bridge is closed", hint="take the ferry")
        if way.how == "ask":
            said = await visit.ask("way", "Left or right?", options=("left", "right", "cancel"))
            if said == "cancel":
                raise UserCancelled("turned back")
            return said
        return f"strangers {way.strangers}"

    def apply_output(self, state: Diary, output: str) -> Diary:
        return Diary(said=output)


async def ended(end: ChildEnd, ctx: ToolContext) -> ToolResult:
    if end.state.stop_reason == UserCancelled.kind:
        raise UserCancelled("the user has turned back")
    assert isinstance(end.state.data, Diary)
    text = end.state.data.said or f"{end.state.error} ({end.hint})"
    data = {"acted": True, "trajectory": "x", "folder": f"walks/{end.caller.run_id}"}
    return ToolResult(ok=end.state.status is Status.COMPLETE, text=text, data=data)


@child_tool("test.walk", ended=ended)
async def walk(args: Errand, ctx: ToolContext, caller: Caller) -> ChildRun:
    """Take a walk."""
    way = Way(how=args.how, strangers=caller.strangers)
    return ChildRun("walk", way, Diary(), title=args.how, limits={"miles": 9}, pins={})


WALKED: list[str] = []


async def walked(args: Any, scope: Any) -> str:
    WALKED.append(scope.run_id)
    return "walked"


def opened(bench: Bench, *script: Any, **settings: Any) -> Gateway:
    """With the walk as a kind of run: three miles each."""
    WALKED.clear()
    bench.tools = (*bench.tools, fetch, walk)
    gateway = bench.open(*script, **settings)
    miles = Operation("walk", walked, Effect.ONCE, None, None, ("miles",), lambda result: {"miles": 3, "tokens": 7})
    graph = Graph("walk", [Walk()], start="Walk")
    gateway.runs.register(GraphType("walk", Way, Diary, lambda *_: graph, lambda *_: {"walk": miles}))
    return gateway


async def test_the_end_of_the_run_is_the_result_and_what_it_used_is_the_turns(bench: Bench) -> None:
    gateway = opened(bench, plan("walk"), call("test.walk", how="on"), done(), answer())
    turn = await gateway.run("Go")
    [result] = gateway.results(turn)
    assert (turn.status, result["ok"], result["text"]) == (Status.COMPLETE, True, "strangers False")
    assert "used" not in result and turn.usage["miles"] == 3 and turn.usage["tokens"] >= 7
    [child] = gateway.runs.store.runs(parent=turn.run_id)
    assert f"Trajectory: [walks/{child.id}](walks/{child.id}/trajectory.json)" in turn.context.read_text()
    replayed = await gateway.replay(turn.run_id)
    assert replayed.finished and [each.finished for each in replayed.children] == [True] and len(WALKED) == 1


async def test_a_question_of_the_run_is_the_turns_and_its_answer_goes_on_in_the_run(bench: Bench) -> None:
    gateway = opened(bench, plan("walk"), call("test.walk", how="ask"), done(), answer())
    turn = await gateway.run("Go")
    assert turn.status is Status.WAITING and turn.waiting is not None
    assert turn.waiting.question == "Left or right?" and turn.waiting.run_id != turn.run_id
    turn = await gateway.answer(turn.run_id, "right")
    assert turn.status is Status.COMPLETE and gateway.results(turn)[0]["text"] == "right"
    assert len(WALKED) == 1 and (await gateway.replay(turn.run_id)).finished


async def test_a_person_who_cancels_the_run_ends_the_turn(bench: Bench) -> None:
    gateway = opened(bench, plan("walk"), call("test.walk", how="ask"))
    turn = await gateway.answer((await gateway.run("Go")).run_id, "cancel")
    assert (turn.status, turn.stop_reason) == (Status.STOPPED, "user_cancelled")
    assert (await gateway.replay(turn.run_id)).finished


async def test_a_run_that_fails_is_a_result_with_its_hint(bench: Bench) -> None:
    gateway = opened(bench, plan("walk"), call("test.walk", how="fail"), done(), answer())
    turn = await gateway.run("Go")
    result = gateway.results(turn)[0]
    assert (turn.status, result["ok"]) == (Status.COMPLETE, False)
    assert result["text"] == "the bridge is closed (take the ferry)"


@pytest.mark.parametrize("said", ["yes", "no"])
async def test_a_run_that_did_a_part_before_it_failed_is_not_begun_again_without_asking(
    bench: Bench, said: str
) -> None:
    walking = call("test.walk", how="fail")
    gateway = opened(bench, plan("walk"), walking, walking, done(), answer(), assume_yes=True)
    turn = await gateway.run("Go")
    assert turn.waiting is not None and turn.waiting.question == (
        'Run test.walk {"how": "fail"}? An earlier call has done some of this already.'
    )
    turn = await gateway.answer(turn.run_id, said)
    assert turn.status is Status.COMPLETE and len(WALKED) == (2 if said == "yes" else 1)


async def test_the_run_knows_that_the_turn_has_read_what_strangers_wrote(bench: Bench) -> None:
    gateway = opened(bench, plan("walk"), call("test.fetch"), call("test.walk", how="on"), done(), answer())
    turn = await gateway.run("Go")
    assert gateway.results(turn)[1]["text"] == "strangers True"


async def test_its_budget_is_what_the_turn_has_left(bench: Bench) -> None:
    gateway = opened(bench, plan("walk"), call("test.walk", how="on"), done(), answer(), limits={"max_tokens": 100_000})
    turn = await gateway.run("Go")
    [child] = gateway.runs.store.runs(parent=turn.run_id)
    assert child.limits["miles"] == 9 and 0 < child.limits["tokens"] <= 100_000


async def test_its_progress_is_told_as_lines_of_the_call_and_its_nodes_are_no_phases(bench: Bench) -> None:
    told: list[TurnEvent] = []
    gateway = opened(bench, plan("walk"), call("test.walk", how="on"), done(), answer())
    await gateway.run("Go", on_event=told.append)
    assert [each.line for each in told if isinstance(each, ToolProgressed)] == ["a step", "2/9 go back"]
    assert "Walk" not in [each.phase for each in told if isinstance(each, PhaseStarted)]


async def test_outside_a_run_it_cannot_be_called(bench: Bench) -> None:
    opened(bench, complete())
    with pytest.raises(Exception, match="only a run can begin"):
        await Registry([walk]).get("test.walk").run(Errand(how="on"), None)  # type: ignore[arg-type]
