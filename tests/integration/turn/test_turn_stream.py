"""What a program is told while a turn is carried out."""

from __future__ import annotations

import asyncio

import pytest
from workbench import Bench, answer, call, clarify, complete, done, plan

from gateway.engine.ports import Effect, Json
from gateway.engine.state import Status
from gateway.stream import (
    ContextGathered,
    ModelAsked,
    PhaseStarted,
    PlanMade,
    TaskMoved,
    ToolFinished,
    ToolProgressed,
    ToolStarted,
    TurnEnded,
    TurnEvent,
    TurnStarted,
    UsageChanged,
)
from gateway.tools.registry import ToolContext, tool


@tool("test.count", effect=Effect.READ)
def count(ctx: ToolContext) -> str:
    """Count, in a thread."""
    for number in (1, 2):
        ctx.progress(f"{number} of 2")
    return "counted"


class Silence:
    """A model that never answers."""

    async def complete(self, request: Json) -> Json:
        await asyncio.Event().wait()


async def test_a_turn_is_told_from_its_start_to_its_end(bench: Bench) -> None:
    (bench.workspace / "a.txt").write_text("a")
    gateway = bench.open(plan("say hi"), call("test.say", what="hi"), done(), answer())
    events = [event async for event in gateway.stream("Do it")]
    assert isinstance(events[0], TurnStarted) and (events[0].session, events[0].number) == ("default", 1)
    assert isinstance(events[-1], TurnEnded) and events[-1].turn.response == "It is done."
    assert PlanMade("EXECUTE", "generic", ("say hi",), ()) in events
    assert ContextGathered(("Workspace",)) in events
    assert ToolStarted("test.say", {"what": "hi"}) in events
    assert [(event.tool, event.ok) for event in events if isinstance(event, ToolFinished)] == [("test.say", True)]
    phases = [event.phase for event in events if isinstance(event, PhaseStarted)]
    assert phases == ["Gather", "Plan", "Execute", "Coordinate", "Execute", "Respond", "Save"]
    moved = [event for event in events if isinstance(event, TaskMoved)]
    assert moved[-1].task_type == "generic" and moved[-1].max_steps == 12
    spent = [event.counters for event in events if isinstance(event, UsageChanged)]
    assert spent[-1]["model_calls"] == 4


async def test_a_long_tool_tells_how_far_it_is(bench: Bench) -> None:
    bench.tools = (count,)
    gateway = bench.open(plan("count"), call("test.count"), done(), answer())
    events = [event async for event in gateway.stream("Do it")]
    told = [event for event in events if isinstance(event, ToolStarted | ToolProgressed | ToolFinished)]
    assert told[1:3] == [ToolProgressed("1 of 2"), ToolProgressed("2 of 2")]
    assert isinstance(told[0], ToolStarted) and isinstance(told[-1], ToolFinished)


async def test_who_stops_listening_leaves_the_turn_resumable(bench: Bench) -> None:
    gateway = bench.open(port=Silence())
    run_id = ""
    stream = gateway.stream("Do it")
    async for event in stream:
        if isinstance(event, TurnStarted):
            run_id = event.run_id
        if isinstance(event, ModelAsked):
            break
    await stream.aclose()  # type: ignore[attr-defined]
    assert gateway.runs.store.run(run_id).status == Status.STOPPED
    events = [event async for event in bench.open(plan(), call("test.say"), done(), answer()).stream_resumed(run_id)]
    assert isinstance(events[-1], TurnEnded) and events[-1].turn.status is Status.COMPLETE


async def test_a_question_is_told_and_its_answer_goes_on(bench: Bench) -> None:
    gateway = bench.open(clarify("Which?"), complete("That one."))
    first = [event async for event in gateway.stream("Do it")][-1]
    assert isinstance(first, TurnEnded) and first.turn.waiting is not None
    last = [event async for event in gateway.stream_answered(first.turn.run_id, "that")][-1]
    assert isinstance(last, TurnEnded) and last.turn.response == "That one."


async def test_two_turns_at_once_are_told_apart(bench: Bench) -> None:
    gateway = bench.open(*(complete() for _ in range(2)))
    told: dict[str, list[TurnEvent]] = {"one": [], "two": []}
    await asyncio.gather(*(gateway.run("Hi", session=name, on_event=told[name].append) for name in told))
    for name, events in told.items():
        ended = events[-1]
        assert isinstance(ended, TurnEnded) and ended.turn.session == name
        assert sum(isinstance(event, PhaseStarted) for event in events) == 4


async def test_what_cannot_begin_is_raised(bench: Bench) -> None:
    from gateway.errors import UsageError

    with pytest.raises(UsageError):
        async for _ in bench.open().stream("  "):
            pass
