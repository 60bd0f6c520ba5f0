"""Decisions that fit their schema, or fail clearly."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.engine.ports import Json
from gateway.errors import DecisionInvalid, ModelTimeout
from gateway.llm.decisions import decide, parse, wrapped, write_code
from gateway.llm.model import Message, ModelRequest
from gateway.llm.scripted import ScriptedModel

DONE = {
    "type": "object",
    "properties": {"action": {"const": "DONE"}, "reasoning": {"type": "string"}},
    "required": ["action", "reasoning"],
    "additionalProperties": False,
}
CALL = {
    "type": "object",
    "properties": {"action": {"const": "CALL_TOOL"}, "tool": {"$ref": "#/$defs/Tool"}},
    "required": ["action", "tool"],
    "additionalProperties": False,
}
UNION = {"anyOf": [DONE, CALL], "$defs": {"Tool": {"enum": ["file.read", "file.edit"]}}}
GOOD = {"action": "DONE", "reasoning": "all is done"}


class Journal:
    """Keeps what was asked, under which name."""

    def __init__(self, *answers: Any) -> None:
        self.model = ScriptedModel([{"answer": answer} for answer in answers])
        self.asked: list[tuple[str, dict[str, Any]]] = []

    async def ask(self, request: Json, name: str) -> Json:
        self.asked.append((name, request))
        answer = await self.model.complete(request)
        return {**answer, "finish_reason": "length"} if answer["text"].endswith("…cut") else answer


def request(**changes: Any) -> ModelRequest:
    messages = [Message(role="user", content="What next?")]
    return ModelRequest(
        role="executor", model="m", messages=messages, schema_name="EXECUTOR_DECISION", ordinal=1, **changes
    )


@pytest.mark.parametrize(
    "answer",
    [
        GOOD,
        {"decision": GOOD},
        f"```json\n{json.dumps(GOOD)}\n```",
        f"<think>Should I {{call}}?</think>\nHere it is: {json.dumps({'decision': GOOD})} Good luck!",
        f"The set {{}} is empty, so: {json.dumps(GOOD)}",
    ],
)
async def test_a_decision_is_found_in_what_a_model_says(answer: Any) -> None:
    journal = Journal(answer)
    decision, responses = await decide(journal.ask, request(), schema=UNION, name="decide")
    assert decision == GOOD and len(responses) == 1
    assert journal.asked[0][0] == "decide"


async def test_a_union_is_asked_for_under_one_property() -> None:
    journal = Journal({"decision": {"action": "CALL_TOOL", "tool": "file.read"}})
    await decide(journal.ask, request(), schema=UNION, name="decide")
    sent = journal.asked[0][1]["output_schema"]
    assert list(sent["properties"]) == ["decision"] and sent["$defs"] == UNION["$defs"]
    assert sent["required"] == ["decision"] and "anyOf" not in sent
    assert wrapped(DONE) == DONE


async def test_an_answer_that_does_not_fit_is_asked_for_again_with_the_reason() -> None:
    journal = Journal({"action": "CALL_TOOL", "tool": "file.reed"}, "gibberish", GOOD)
    decision, responses = await decide(journal.ask, request(), schema=UNION, name="decide")
    assert decision == GOOD and len(responses) == 3
    assert [name for name, _ in journal.asked] == ["decide", "decide.again1", "decide.again2"]
    assert [asked["ordinal"] for _, asked in journal.asked] == [1, 2, 3]
    first, second = (asked["messages"] for _, asked in journal.asked[1:])
    assert "file.reed" in first[1]["content"] and "'file.reed' is not one of" in first[2]["content"]
    assert [message["role"] for message in second] == ["user", "assistant", "user"]
    assert second[1]["content"] == "gibberish" and "no JSON object" in second[2]["content"]


async def test_three_invalid_answers_are_a_failure_with_the_last_reason() -> None:
    journal = Journal("a", "b", {"action": "DONE"})
    with pytest.raises(DecisionInvalid, match=r"EXECUTOR_DECISION in 3 answers.*'reasoning' is a required"):
        await decide(journal.ask, request(), schema=DONE, name="decide")
    assert len(journal.asked) == 3


async def test_a_check_can_object_to_what_fits_the_schema() -> None:
    journal = Journal({"action": "DONE", "reasoning": ""}, GOOD)

    def check(decision: dict[str, Any]) -> str | None:
        return None if decision["reasoning"] else "say why"

    decision, _ = await decide(journal.ask, request(), schema=DONE, name="decide", check=check)
    assert decision == GOOD and "say why" in journal.asked[1][1]["messages"][-1]["content"]


async def test_an_answer_that_was_cut_off_is_told_so() -> None:
    journal = Journal('{"action": "DONE", "reasoning": "…cut', GOOD)
    await decide(journal.ask, request(max_tokens=20), schema=DONE, name="decide")
    assert "cut off at 20 tokens" in journal.asked[1][1]["messages"][-1]["content"]


async def test_a_long_wrong_answer_is_not_quoted_whole() -> None:
    journal = Journal("x" * 100_000, GOOD)
    await decide(journal.ask, request(), schema=DONE, name="decide")
    assert len(journal.asked[1][1]["messages"][1]["content"]) < 2000


async def test_a_failing_model_is_not_asked_again_here() -> None:
    model = ScriptedModel([{"error": "ModelTimeout"}, {"answer": GOOD}])

    async def ask(asked: Json, name: str) -> Json:
        return await model.complete(asked)

    with pytest.raises(ModelTimeout):
        await decide(ask, request(), schema=DONE, name="decide")


json_objects = st.dictionaries(
    st.text(max_size=5), st.recursive(st.none() | st.integers() | st.text(max_size=9), st.lists, max_leaves=5)
)


@given(st.text(st.characters(blacklist_characters="{}`<"), max_size=30), json_objects)
def test_an_object_is_found_behind_any_prose(prose: str, value: dict[str, Any]) -> None:
    assert value in list(parse(prose + json.dumps(value) + prose))


@given(st.text())
def test_parsing_never_raises(text: str) -> None:
    assert all(isinstance(value, dict) for value in parse(text))


def test_deeply_nested_answers_do_not_raise() -> None:
    assert list(parse('{"a":' * 100_000)) == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"action": "DONE"}, "at decision: 'reasoning' is a required property"),
        ({"action": "CALL_TOOL", "tool": {"name": "b", "args": {}}}, "at decision.tool.args: 'y' is a required"),
        ({"action": "CALL_TOOL", "tool": {"name": "c", "args": {}}}, "at decision.tool.name: 'c' is not 'a' or 'b'"),
        ({"action": "JUMP"}, "at decision.action: 'JUMP' is not 'DONE' or 'CALL_TOOL'"),
    ],
)
async def test_the_reason_names_what_is_wrong_with_the_alternative_that_was_meant(
    answer: dict[str, Any], words: str
) -> None:
    def tool(name: str, argument: str) -> dict[str, Any]:
        args = {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}
        call = {"type": "object", "properties": {"name": {"const": name}, "args": args}, "required": ["name", "args"]}
        properties = {"action": {"const": "CALL_TOOL"}, "tool": call}
        return {"type": "object", "properties": properties, "required": ["action", "tool"]}

    journal = Journal(answer, {"action": "DONE", "reasoning": ""})
    await decide(journal.ask, request(), schema={"anyOf": [DONE, tool("a", "x"), tool("b", "y")]}, name="decide")
    assert words in journal.asked[1][1]["messages"][-1]["content"]


CODE = "def f():\n    return 1"


@pytest.mark.parametrize(
    "answer",
    [
        f"```python\n{CODE}\n```",
        f"```python\n{CODE}",  # a server leaves the text out at which the answer ends
        f"```\n{CODE}\n```\nI changed it.",
        f"It was off by one.\n\n```python\n{CODE}\n```\n```python\nf()\n```",
        f"<think>Hm: ```x```</think>```python\n{CODE}\n```",
        CODE,
    ],
)
async def test_code_is_taken_out_of_its_block(answer: str) -> None:
    journal = Journal(answer)
    value, responses = await write_code(journal.ask, request(), name="code")
    assert value == CODE
    assert len(responses) == 1
    assert journal.asked[0][1]["stop"] == ["\n```\n"] and journal.asked[0][1]["output_schema"] is None


async def test_an_answer_without_code_is_asked_for_again_and_fails_at_the_third() -> None:
    journal = Journal("I cannot do that.", "", f"```python\n{CODE}\n…cut")
    with pytest.raises(DecisionInvalid, match="in 3 answers; the last: it was cut off"):
        await write_code(journal.ask, request(max_tokens=50), name="code")
    assert [name for name, _ in journal.asked] == ["code", "code.again1", "code.again2"]
    assert "holds no code block" in journal.asked[1][1]["messages"][-1]["content"]


async def test_code_that_is_judged_anyway_is_asked_for_once() -> None:
    journal = Journal("merge", f"```python\n{CODE}\n```")
    value, _ = await write_code(journal.ask, request(), name="code", judged=True)
    assert value == "merge" and len(journal.asked) == 1
    assert (await write_code(journal.ask, request().model_copy(update={"ordinal": 2}), name="code", judged=True))[
        0
    ] == CODE


async def test_a_second_answer_is_drawn_warmer() -> None:
    journal = Journal("no", GOOD)
    await decide(journal.ask, request(), schema=DONE, name="x")
    assert [asked["temperature"] for _, asked in journal.asked] == [0.0, 0.5]
