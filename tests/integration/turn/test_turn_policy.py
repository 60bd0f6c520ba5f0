"""What the configuration allows, asks about and denies, in whole turns."""

from __future__ import annotations

from typing import Any

import pytest
from workbench import TOOLS, Bench, answer, call, done, fetch, plan

from gateway.engine.ports import Effect
from gateway.engine.state import Status
from gateway.errors import ToolError, UsageError
from gateway.tools.approval import visible
from gateway.tools.registry import ToolContext, tool

RULES = {"policy": {"test.spend": {"allow": ["bread*"], "deny": ["*gold*"], "ask": ["*"]}}}


def spent(bench: Bench) -> str:
    path = bench.workspace / "spent"
    return path.read_text() if path.exists() else ""


async def test_a_call_that_a_pattern_allows_is_made_at_once(bench: Bench) -> None:
    gateway = bench.open(
        plan("with test.fetch, test.spend or test.say"),
        call("test.spend", what="bread and salt"),
        done(),
        answer(),
        tools=RULES,
    )
    assert (await gateway.run("Buy bread")).status is Status.COMPLETE
    assert spent(bench) == "x"


async def test_a_call_that_a_pattern_denies_is_an_error_that_the_model_sees(bench: Bench) -> None:
    script = (plan(), call("test.spend", what="some gold"), done(), answer())
    gateway = bench.open(*script, tools=RULES, assume_yes=True)
    turn = await gateway.run("Buy gold")
    assert spent(bench) == ""
    assert "the configuration denies test.spend" in turn.context.read_text()
    assert "the configuration denies test.spend" in str(bench.model.asked[-2])


async def test_what_no_pattern_allows_is_asked_about_and_replays(bench: Bench) -> None:
    gateway = bench.open(plan(), call("test.spend", what="a car"), done(), answer(), tools=RULES)
    turn = await gateway.run("Buy a car")
    assert turn.waiting is not None and turn.waiting.question == 'Run test.spend {"what": "a car"}?'
    assert spent(bench) == ""
    turn = await gateway.answer(turn.run_id, "yes")
    assert (turn.status, spent(bench)) == (Status.COMPLETE, "x")
    replayed = await gateway.replay(turn.run_id)
    assert replayed.finished and not replayed.differing and spent(bench) == "x"


async def test_a_tool_that_is_denied_altogether_is_not_offered(bench: Bench) -> None:
    gateway = bench.open(
        plan("with test.say"),
        call("test.say", what="a"),
        done(),
        answer(),
        tools={"policy": {"test.spend": {"deny": ["*"]}}},
    )
    await gateway.run("Say something")
    assert "test.spend" not in str(bench.model.asked[1])
    with pytest.raises(UsageError, match=r"denies test\.spend"):
        await gateway.call_tool("test.spend", {})


@pytest.fixture
def reading(bench: Bench) -> Bench:
    bench.tools = (fetch, *TOOLS[:8])
    return bench


async def test_yes_does_not_answer_for_what_strangers_wrote(reading: Bench) -> None:
    script = (
        plan("with test.fetch, test.spend or test.say"),
        call("test.fetch", what="page"),
        call("test.spend"),
        done(),
        answer(),
    )
    gateway = reading.open(*script, assume_yes=True)
    turn = await gateway.run("Read the page")
    assert turn.waiting is not None and "--yes does not answer" in turn.waiting.question
    assert spent(reading) == ""
    assert (await gateway.answer(turn.run_id, "no")).status is Status.COMPLETE
    assert spent(reading) == ""


async def test_yes_answers_where_no_stranger_was_read_and_rules_allow_after_one(
    reading: Bench,
) -> None:
    gateway = reading.open(plan(), call("test.spend"), done(), answer(), assume_yes=True)
    assert (await gateway.run("Spend")).status is Status.COMPLETE
    script = (
        plan("with test.fetch, test.spend or test.say"),
        call("test.fetch"),
        call("test.spend", what="bread"),
        done(),
        answer(),
    )
    gateway = reading.open(*script, tools=RULES, assume_yes=True)
    assert (await gateway.run("Read and buy")).status is Status.COMPLETE
    assert spent(reading) == "xx"


@tool(
    "test.send", effect=Effect.ONCE, ask=True, preview=lambda args, ctx: said(args), subject=lambda args, ctx: to(args)
)
async def send(letter: str, ctx: ToolContext) -> str:
    """Send a letter."""
    return f"sent {letter}"


async def said(args: Any) -> str:
    return f"It says: I owe you {len(args.letter)} euros.\x1b[2K"


def to(args: Any) -> str:
    if " " in args.letter:
        raise ToolError("no letter has a space in its name")
    return str(args.letter)


async def test_a_question_says_what_a_call_would_do_where_its_arguments_do_not(bench: Bench) -> None:
    bench.tools = (send,)
    gateway = bench.open()
    turn = await gateway.call_tool("test.send", {"letter": "abc"})
    assert turn.waiting is not None
    assert turn.waiting.question == 'Run test.send {"letter": "abc"}?\nIt says: I owe you 3 euros.\\x1b[2K'
    assert (await gateway.answer(turn.run_id, "yes")).response == "sent abc"


async def test_nobody_is_asked_about_a_call_that_cannot_be_made(bench: Bench) -> None:
    bench.tools = (send,)
    turn = await bench.open().call_tool("test.send", {"letter": "a b"})
    assert turn.waiting is None and "no letter has a space" in turn.response


async def test_what_a_person_takes_to_answer_is_not_the_tools_time(bench: Bench) -> None:
    bench.tools = (send,)
    gateway = bench.open()
    turn = await gateway.call_tool("test.send", {"letter": "abc"})
    await bench.clock.sleep(500)
    turn = await gateway.answer(turn.run_id, "yes")
    assert "test.send · ok · 0 s" in turn.context.read_text()


def test_what_a_terminal_would_obey_or_hide_is_written_out() -> None:
    assert visible("a\x1b[2Kb\u202ec\u200bd\re") == r"a\x1b[2Kb\u202ec\u200bd\re"
    assert visible("plain – text\n\twith ümlauts 中") == "plain – text\n\twith ümlauts 中"
