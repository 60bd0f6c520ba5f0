from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from gateway.engine.ports import Effect
from gateway.llm import tokens
from gateway.tools.registry import Registry, tool
from gateway.turn.few_shot import examples, task_types
from gateway.turn.patterns.program import Program, compile_pattern


def program(task_type: str, *written: str) -> Program:
    lines = "".join(f"  - {each}\n" for each in written)
    head = (
        f"task_type: {task_type}\ndescription: what {task_type} does\nexamples:\n{lines}"
        if written
        else (f"task_type: {task_type}\ndescription: what {task_type} does\n")
    )
    return compile_pattern(f"---\n{head}---\n1. CALL a.tool\n", name=task_type)


def programs(**written: tuple[str, ...]) -> dict[str, Program]:
    return {name: program(name, *each) for name, each in written.items()}


def decisions(text: str) -> list[dict[str, object]]:
    return [json.loads(line)["decision"] for line in text.splitlines() if line.startswith("{")]


def test_a_request_alone_is_its_own_goal() -> None:
    text = examples(programs(fix=("Fix the pager.",)))
    assert text.startswith("## §0 Request\n\nFix the pager.\n\nDecision:\n")
    assert decisions(text) == [{"action": "EXECUTE", "task_type": "fix", "goals": ["fix the pager"], "reasoning": ""}]


def test_goals_what_follows_and_why_are_as_written() -> None:
    written = "{request: Fix it and note that, goals: [fix it], then: [note: [note that it is fixed]], why: two things}"
    [decision] = decisions(examples(programs(fix=(written,), note=())))
    assert decision["then"] == [{"task_type": "note", "goals": ["note that it is fixed"]}]
    assert (decision["goals"], decision["reasoning"]) == (["fix it"], "two things")


def test_what_would_follow_and_is_not_available_is_not_shown() -> None:
    assert examples(programs(fix=("{request: Fix it and note that, then: [note: [note it]]}",))) == ""


def test_each_type_is_shown_before_any_is_shown_twice() -> None:
    text = examples(programs(a=("A one", "A two"), b=("B one",), c=("C one", "C two")))
    assert [each["task_type"] for each in decisions(text)] == ["a", "b", "c", "a", "c"]


@given(st.integers(0, 400), st.integers(1, 12))
def test_examples_keep_to_their_room_and_the_first_ones_stay(room: int, count: int) -> None:
    many = programs(a=tuple(f"Request number {number}" for number in range(count)))
    text = examples(many, room)
    assert tokens.count(text) <= room
    assert examples(many, 10_000).startswith(text)


def test_types_stand_with_their_descriptions() -> None:
    assert task_types(programs(b=(), a=())) == "- a: what a does\n- b: what b does"


def test_a_type_that_may_call_any_tool_says_what_mcp_servers_add() -> None:
    async def run() -> str:
        return ""

    run.__doc__ = "Do it."
    names = ("file.read", "mcp.time.get_current_time", "mcp.time.convert_time", "mcp.db.query")
    registry = Registry(tool(name, effect=Effect.READ)(run) for name in names)
    anything = compile_pattern(
        "---\ntask_type: any\ndescription: anything\n---\n1. CALL any of {*}, until DONE\n", name="any"
    )
    text = task_types({"any": anything, **programs(b=())}, registry)
    added = "also with the db server (query); the time server (convert time, get current time)"
    assert text == f"- any: anything; {added}\n- b: what b does"
    many = Registry(tool(f"mcp.s.tool_{n}", effect=Effect.READ)(run) for n in range(200))
    assert len(task_types({"any": anything}, many)) < 400
