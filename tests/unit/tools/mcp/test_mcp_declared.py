"""Names, effects and arguments of MCP tools."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from gateway.engine.ports import Effect
from gateway.tools.mcp.declared import MAX_TOOLS, Declared, declare, effect_of, tool_of
from gateway.tools.registry import Tool, ToolContext, ToolResult, Touches

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def offered(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "inputSchema": TEXT} for name in names]


async def nothing(declaration: Any, args: Any, ctx: ToolContext) -> ToolResult:
    return ToolResult(data={"args": dict(args)})


def first(schema: dict[str, Any] = TEXT) -> Tool:
    [declaration] = declare("s", "s", [{"name": "t", "inputSchema": schema}]).tools
    return tool_of(declaration, nothing, 60)


@given(st.lists(st.text(max_size=100), max_size=12))
def test_names_are_such_that_a_pattern_can_name_them_and_each_is_one_tools(names: list[str]) -> None:
    declared = declare("s", "s", offered(*names))
    ours = [each.name for each in declared.tools]
    assert all(re.fullmatch(r"mcp\.s\.[A-Za-z_][A-Za-z0-9_-]{0,63}", each) for each in ours)
    assert len(ours) == len(set(ours)) == len(set(names))
    assert [each.tool for each in declared.tools] == list(dict.fromkeys(names))


@given(st.permutations(["a.b", "a_b", "a b", "a-b", "A_B", "1"]))
def test_a_tools_name_does_not_depend_on_the_order(names: list[str]) -> None:
    declared = {each.tool: each.name for each in declare("s", "s", offered(*names)).tools}
    assert declared["a_b"] == "mcp.s.a_b" and declared["1"] == "mcp.s._1"
    assert declared["a.b"].startswith("mcp.s.a_b_") and declared["a b"].startswith("mcp.s.a_b_")


def test_more_tools_than_anybody_needs_are_left_out() -> None:
    declared = declare("s", "s", offered(*(f"t{n}" for n in range(3 * MAX_TOOLS))))
    assert len(declared.tools) == MAX_TOOLS and len(declared.left_out) == MAX_TOOLS


def test_what_is_declared_survives_being_pinned() -> None:
    declared = declare("s", "s", offered("a", "b"))
    assert Declared.model_validate_json(declared.text()) == declared


@pytest.mark.parametrize(
    ("annotations", "effect"),
    [
        (None, Effect.ONCE),
        ({}, Effect.ONCE),
        ("readOnlyHint", Effect.ONCE),
        ({"readOnlyHint": True}, Effect.READ),
        ({"readOnlyHint": True, "destructiveHint": False}, Effect.READ),
        ({"readOnlyHint": True, "destructiveHint": True}, Effect.ONCE),
        ({"readOnlyHint": "yes"}, Effect.ONCE),
        ({"idempotentHint": True}, Effect.IDEMPOTENT),
        ({"readOnlyHint": False, "idempotentHint": False}, Effect.ONCE),
    ],
)
def test_the_effect_is_what_the_annotations_say_and_once_otherwise(annotations: Any, effect: Effect) -> None:
    assert effect_of(annotations) is effect


def test_what_it_returns_was_written_by_strangers() -> None:
    assert first().touches == (Touches.NETWORK,)


async def test_arguments_are_given_as_they_are_also_with_odd_names(ctx: ToolContext) -> None:
    schema = {"type": "object", "properties": {name: {} for name in ("copy", "model_config", "checked", "a-b", "_x")}}
    tool = first(schema)
    given = {name: [1, {"a": None}] for name in schema["properties"]}
    assert (await tool.run(tool.args.model_validate(given), ctx)).data["args"] == given
    assert set(tool.schema()["properties"]) == set(given)


def test_arguments_that_do_not_fit_are_refused_in_one_line() -> None:
    with pytest.raises(ValidationError) as raised:
        first().args.model_validate({"text": ["x" * 10_000, "```"]})
    said = raised.value.errors()[0]["msg"]
    assert said.startswith("text: ") and len(said) <= 300 and "```" not in said


def test_each_tool_has_the_schema_of_its_own() -> None:
    other = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert first().schema()["properties"] == TEXT["properties"]
    assert first(other).schema()["properties"] == other["properties"]
    assert first(other).schema()["additionalProperties"] is False
