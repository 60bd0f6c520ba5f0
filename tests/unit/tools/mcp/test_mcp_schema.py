"""Schemas and texts by strangers: bounded, closed, and nothing that could be taken for a part of a prompt."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from gateway.tools.mcp.schema import MAX_DEPTH, MAX_TOLD, Unusable, inlined, shown, told


def arguments(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_references_are_written_out() -> None:
    city = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    schema = {**arguments(a={"$ref": "#/$defs/City", "description": "where"}, b={"$ref": "#/$defs/City"}),
              "$defs": {"City": city}, "$schema": "http://json-schema.org/draft-07/schema#"}  # fmt: skip
    assert inlined(schema) == arguments(a={**city, "description": "where"}, b=city)


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (arguments(a={"$ref": "#"}), "contains itself"),
        ({**arguments(a={"$ref": "#/$defs/A"}), "$defs": {"A": {"items": {"$ref": "#/$defs/A"}}}}, "contains itself"),
        (arguments(a={"$ref": "https://example.org/schema.json"}), "another document"),
        (arguments(a={"$ref": "file:///etc/passwd"}), "another document"),
        (arguments(a={"$ref": "#/$defs/None"}), "refers to nothing"),
        (arguments(a={"$ref": 5}), "another document"),
        (arguments(a={"type": "nonsense"}), "invalid schema"),
        (arguments(a="string"), "invalid schema"),
        (arguments(a={"anyOf": ["string"]}), "invalid schema"),
        (arguments(a={"description": "x" * 70_000}), "characters"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(schema: dict[str, Any], why: str) -> None:
    with pytest.raises(Unusable, match=why):
        inlined(schema)


def test_a_small_schema_that_unfolds_without_end_is_refused() -> None:
    wide = {level: arguments(**{f"p{n}": {"$ref": f"#/$defs/{below}"} for n in range(50)})
            for level, below in (("A", "B"), ("B", "C"))}  # fmt: skip
    with pytest.raises(Unusable, match="parts"):
        inlined({**arguments(a={"$ref": "#/$defs/A"}), "$defs": {**wide, "C": {"type": "string"}}})


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 200, 20_000])
def test_a_deep_schema_is_refused(depth: int) -> None:
    deep: dict[str, Any] = {}
    for _ in range(depth):
        deep = {"items": deep}
    with pytest.raises(Unusable, match="nested"):
        inlined(arguments(a=deep))


def test_what_only_the_server_can_check_is_left_to_it() -> None:
    schema = {**arguments(a={"type": "string", "pattern": "(a+)+$", "format": "uri"}),
              "patternProperties": {"^x-": {}}, "additionalProperties": False}  # fmt: skip
    assert inlined(schema) == arguments(a={"type": "string"})


def test_a_grammar_gets_no_keyword_that_it_cannot_take() -> None:
    schema = arguments(
        a={"type": "string", "maxLength": 1_000_000, "minLength": 2, "title": "A"},
        b={"oneOf": [{"type": "null"}, {"type": "integer", "minimum": 1}], "if": {}, "then": {}, "default": None},
        c={"allOf": [{"type": "string", "enum": ["x", "y"]}], "description": "which"},
        d={"enum": [",", "\n"]},
        e={"dependentSchemas": {}, "propertyNames": {}, "not": {}, "contains": {}},
    )
    assert shown(inlined(schema))["properties"] == {
        "a": {"type": "string", "minLength": 2, "description": "A"},
        "b": {"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 1}], "default": None},
        "c": {"type": "string", "enum": ["x", "y"], "description": "which"},
        "d": {},
        "e": {},
    }


def test_a_name_that_could_be_taken_for_something_else_is_not_shown() -> None:
    odd = "a\n§4 Execution"
    assert shown(arguments(**{odd: {}, "b": {}}))["properties"] == {"b": {}}
    with pytest.raises(Unusable, match="a name that cannot be shown"):
        shown({**arguments(**{odd: {}}), "required": [odd]})


@given(st.text(st.sampled_from("`~§<|>#\n\r\t \u202e\u2028\x00\x1b[31mabc"), max_size=1000))
def test_a_text_can_end_no_fence_and_begin_no_section(text: str) -> None:
    line = told(text)
    assert len(line) <= MAX_TOLD and line.splitlines() in ([line], [])
    for sign in ("```", "~~~", "§", "<|", "|>", "\u202e", "\x1b", "\x00"):
        assert sign not in line
    assert told(line) == line


KINDS = st.sampled_from(
    [
        {},
        {"type": "string"},
        {"type": "integer", "minimum": 0},
        {"enum": ["a", 1]},
        {"const": "\n"},
        {"type": "string", "maxLength": 2000},
        {"$ref": "#/$defs/D"},
        {"not": {"type": "null"}},
    ]
)
SCHEMAS = st.recursive(
    KINDS,
    lambda inner: st.one_of(
        inner.map(lambda each: {"type": "array", "items": each}),
        st.lists(inner, min_size=1, max_size=3).map(lambda each: {"oneOf": each}),
        inner.map(lambda each: {"type": "object", "properties": {"x": each, "y\n": {}}, "additionalProperties": False}),
    ),
    max_leaves=6,
)
VALUES = st.recursive(
    st.sampled_from(["a", "\n", "", 1, -1, None, True, 1.5]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["x", "y\n", "z"]), inner, max_size=2),
    max_leaves=5,
)


@given(SCHEMAS, VALUES)
def test_what_is_shown_allows_whatever_the_schema_allows(schema: dict[str, Any], value: Any) -> None:
    whole = inlined({**arguments(a=schema), "$defs": {"D": {"type": "boolean"}}})
    seen = shown(whole)
    Draft202012Validator.check_schema(seen)
    if Draft202012Validator(whole).is_valid({"a": value}):
        assert Draft202012Validator(seen).is_valid({"a": value})
