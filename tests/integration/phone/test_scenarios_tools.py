"""Specification 000, requirement “Tool Call Routing”: a test by the name of each scenario; and what people answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from task_lab import SETTINGS
from tasks_of_lab import FINISH, OPEN, Tasks

from gateway.engine.ports import Effect
from gateway.errors import ToolError
from gateway.phone.actions import Home
from gateway.phone.bridge import Bridge
from gateway.phone.lease import lease_name
from gateway.tools.registry import Registry, ToolContext, tool

WHICH = {"action": "ask_user", "question": "Which option do you prefer?"}
LOGIN = {"action": "ask_user", "question": "Please sign in.", "takeover": True}
SEARCH = {"action": "mcp_call", "tool": "amap_search", "args": {"query": "coffee shop"}}


@tool("amap_search", effect=Effect.READ)
async def amap_search(query: str, ctx: ToolContext) -> str:
    """Find places."""
    return f"Two results for {query}"


@tool("amap_hang", effect=Effect.READ, deadline_s=0.05)
async def amap_hang(ctx: ToolContext) -> str:
    """Never ends."""
    await asyncio.Event().wait()
    return ""


@tool("amap_break", effect=Effect.READ)
async def amap_break(ctx: ToolContext) -> str:
    """Fails."""
    raise ToolError("the server is down")


@tool("amap_book", effect=Effect.ONCE, ask=True)
async def amap_book(place: str, ctx: ToolContext) -> str:
    """Book a table."""
    return f"Booked at {place}"


def registry() -> Registry:
    return Registry([amap_search, amap_hang, amap_break, amap_book])


@pytest.fixture
async def tools(tasks: Tasks) -> AsyncIterator[Tasks]:
    async with tasks.another(registry):
        yield tasks


def has_the_phone(tasks: Tasks) -> bool:
    return tasks.gateway.runs.store.held(lease_name(tasks.phone.serial), time.time())


async def test_handle_ask_user_tool_call(tasks: Tasks) -> None:
    ran = await tasks.run([WHICH, FINISH])
    waiting = ran.task.waiting
    assert ran.ended == ("waiting_for_user", None) and waiting is not None
    assert waiting.question.startswith(WHICH["question"])
    assert waiting.deadline is not None and waiting.deadline - tasks.clock.now() == pytest.approx(120, abs=1)
    assert ran.trajectory["question"] == waiting.question
    assert not has_the_phone(tasks)
    ended = await tasks.answered(ran, "the red one")
    assert ended.ended == ("complete", "success")
    assert tasks.asked.seen[-1]["tool_result"] == "the red one"
    assert ended.trajectory["steps"][0]["result"] == {
        "ok": True,
        "cause": "",
        "note": "the user answered: the red one",
        "how": "",
        "output": "",
    }
    assert (await tasks.gateway.replay(ran.task.run_id)).finished


async def test_handle_mcp_call_tool_call(tools: Tasks) -> None:
    ran = await tools.run([SEARCH, {"action": "amap_search", "query": "tea"}, FINISH])
    told = [each.get("tool_result") for each in tools.asked.seen]
    assert told[1] == {"tool": "amap_search", "ok": True, "result": "Two results for coffee shop"}
    assert told[2]["result"] == "Two results for tea", "in MAI-UI's dialect"
    assert ran.results == [(True, ""), (True, ""), (True, "")]
    assert ran.trajectory["steps"][0]["action"] == SEARCH
    assert ran.trajectory["steps"][0]["result"]["note"] == "Two results for coffee shop"


async def test_tool_call_timeout(tools: Tasks) -> None:
    """A tool's own deadline; the agent is told, and does something else."""
    ran = await tools.run([{"action": "mcp_call", "tool": "amap_hang"}, SEARCH, FINISH])
    assert ran.ended == ("complete", "success")
    assert ran.results[0] == (False, "tool_failed")
    assert "did not end within 0.05 s" in tools.asked.seen[1]["tool_result"]["result"]
    assert ran.failures("tool.amap_hang")[0][0] == "timeout"


async def test_a_question_that_nobody_answers_in_time(tasks: Tasks) -> None:
    ran = await tasks.run([WHICH, FINISH], ask_timeout=60)
    tasks.clock.advance(59)
    assert (await tasks.resumed(ran)).ended[0] == "waiting_for_user"
    tasks.clock.advance(2)
    ended = await tasks.resumed(ran)
    assert ended.ended == ("complete", "success")
    assert ended.results[0] == (False, "no_answer")
    assert "did not answer within 60 s" in tasks.asked.seen[-1]["note"]
    assert "tool_result" not in tasks.asked.seen[-1]


async def test_tool_not_available(tools: Tasks) -> None:
    ran = await tools.run([{"action": "mcp_call", "tool": "amap_serach", "args": {"query": "tea"}}, SEARCH, FINISH])
    assert ran.ended == ("complete", "success")
    told = tools.asked.seen[1]["tool_result"]
    assert told["ok"] is False and "amap_serach" in told["result"] and "amap_search" in told["result"]
    assert ran.results[0] == (False, "tool_failed")


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ({"action": "mcp_call", "tool": "amap_break"}, "the server is down"),
        ({"action": "mcp_call", "tool": "amap_search", "args": {"where": "here"}}, "has no argument 'where'"),
    ],
    ids=["fails", "wrong arguments"],
)
async def test_what_is_wrong_with_a_tool_call_is_told(tools: Tasks, script: dict[str, object], told: str) -> None:
    ran = await tools.run([script, FINISH])
    assert ran.ended == ("complete", "success")
    assert told in tools.asked.seen[1]["tool_result"]["result"]


async def test_a_tool_that_the_configuration_denies_is_not_called(tasks: Tasks) -> None:
    async with tasks.another(registry, tools={"deny": ["amap_*"]}):
        ran = await tasks.run([SEARCH, FINISH])
    assert ran.ended == ("complete", "success")
    assert ran.begun("tool.amap_search") == 0
    assert tasks.asked.seen[1]["tool_result"]["ok"] is False


@pytest.mark.parametrize(("answer", "booked"), [("yes", 1), ("no", 0)])
async def test_a_tool_that_has_to_be_approved_is_asked_about(tools: Tasks, answer: str, booked: int) -> None:
    """Also with --yes: what stands on a screen was written by strangers."""
    tools.gateway.assume_yes = True
    ran = await tools.run([{"action": "mcp_call", "tool": "amap_book", "args": {"place": "Roma"}}, FINISH])
    assert ran.task.waiting is not None and "amap_book" in ran.task.waiting.question
    assert "--yes" not in ran.task.waiting.question or "does not answer" in ran.task.waiting.question
    ended = await tools.answered(ran, answer)
    assert ended.begun("tool.amap_book") == booked
    assert tools.asked.seen[-1]["tool_result"]["ok"] is bool(booked)


async def test_skip_goes_on_without_an_answer(tasks: Tasks) -> None:
    ended = await tasks.answered(await tasks.run([WHICH, FINISH]), " Skip ")
    assert ended.ended == ("complete", "success")
    assert ended.results[0] == (False, "skipped")
    assert "does not want to answer" in tasks.asked.seen[-1]["note"]


async def test_cancel_ends_the_task(tasks: Tasks) -> None:
    ended = await tasks.answered(await tasks.run([{"action": "answer", "text": "half"}, WHICH, FINISH]), "cancel")
    assert ended.ended == ("stopped", "user_cancelled")
    assert ended.actions[0] == "answer" and ended.trajectory["total_steps"] >= 1
    assert tasks.asked.asked == 2 and not has_the_phone(tasks)


async def test_a_takeover_gives_the_phone_away_and_takes_it_back(tasks: Tasks) -> None:
    ran = await tasks.run([LOGIN, FINISH])
    waiting = ran.task.waiting
    assert waiting is not None and "The phone is yours: Please sign in." in waiting.question
    assert waiting.deadline is not None and waiting.deadline - tasks.clock.now() == pytest.approx(900, abs=1)
    store = tasks.gateway.runs.store
    taken = await store.acquire(lease_name(tasks.phone.serial), "1:1:somebody", time.time())
    busy = await tasks.answered(ran, "done")
    assert busy.ended == ("failed", "error:device_busy"), "somebody else has it now"
    assert busy.actions == ["ask_user"], "the answer is not lost"
    await store.release(taken)
    ended = await tasks.resumed(busy)
    assert ended.ended == ("complete", "success")
    assert "gave it back" in ended.task.steps[0].result.note
    assert tasks.asked.asked == 2 and not has_the_phone(tasks)


async def test_what_was_done_by_hand_is_seen(tasks: Tasks) -> None:
    ran = await tasks.run([OPEN, LOGIN, FINISH])
    with Bridge.open(tasks.phone.serial, adb_server=tasks.adb.server.address) as by_hand:
        by_hand.perform(Home())
    ended = await tasks.answered(ran, "done")
    assert [each.package == SETTINGS for each in ended.task.steps] == [False, True, False]
