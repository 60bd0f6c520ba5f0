from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gateway.errors import DecisionInvalid
from gateway.turn.patterns.cursor import Move, MoveKind
from gateway.turn.patterns.decision import arguments_schema, decision_schema, forced, match, settled, single_call
from gateway.turn.patterns.expression import Scope
from gateway.turn.patterns.program import compile_pattern

Args = dict[str, Any]


def args(*required: str, optional: str = "") -> Args:
    names = (*required, optional) if optional else required
    properties = {name: {"type": "string"} for name in names}
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


TOOLS = {"file.read": args("path"), "file.edit": args("path", "source"), "test.run": args(optional="target")}


def first_moves(text: str) -> tuple[Move, ...]:
    program = compile_pattern(text, name="t")
    return program.moves(program.resolve(program.start(), Scope()), Scope())


def accepted(schema: Args, decision: Args) -> bool:
    return Draft202012Validator(schema).is_valid({"decision": decision})


def call(name: str, **given: Any) -> Args:
    return {"reasoning": "so", "action": "CALL_TOOL", "tool": {"name": name, "args": given}}


def test_the_schema_takes_the_legal_moves_and_nothing_else() -> None:
    moves = first_moves("1. CHECK: go?\n   - YES → CALL file.read\n   - NO → DONE")
    schema = decision_schema(moves, TOOLS)
    assert accepted(schema, call("file.read", path="a.py"))
    assert accepted(schema, {"reasoning": "", "action": "DONE"})
    assert accepted(schema, {"reasoning": "", "action": "ESCALATE"})
    assert not accepted(schema, call("file.read"))
    assert not accepted(schema, call("file.edit", path="a.py", source="x"))
    assert not accepted(schema, {**call("file.read", path="a.py"), "more": 1})
    assert not accepted(schema, {"reasoning": "x" * 241, "action": "DONE"})
    assert not accepted(schema, {"action": "DONE"})


def test_reasoning_comes_first_so_that_the_model_thinks_before_it_chooses() -> None:
    first, *_ = decision_schema(first_moves("1. CALL file.read"), TOOLS)["properties"]["decision"]["anyOf"]
    assert list(first["properties"]) == ["reasoning", "action", "tool"]
    assert list(first["properties"]["tool"]["properties"]) == ["name", "args"]


def test_globs_offer_the_allowed_tools() -> None:
    schema = decision_schema(first_moves("1. CALL any of {file.*}"), TOOLS)
    assert accepted(schema, call("file.edit", path="a", source="b"))
    assert not accepted(schema, call("test.run"))


def test_known_arguments_are_not_asked_for() -> None:
    schema = decision_schema(first_moves("1. CALL file.edit with {path: {{ 'a.py' }}}"), TOOLS)
    assert accepted(schema, call("file.edit", source="b"))
    assert not accepted(schema, call("file.edit", path="a.py", source="b"))
    assert TOOLS["file.edit"]["required"] == ["path", "source"]


def test_the_definitions_of_a_tools_schema_still_resolve() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}, "additionalProperties": False}
    tree: Args = {"type": "object", "properties": {"root": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}}
    tools = {"a.tree": tree, "b.tree": {**tree, "$defs": {"Node": {}}}}
    schema = decision_schema(first_moves("1. CALL any of {*}"), tools)
    Draft202012Validator.check_schema(schema)
    assert accepted(schema, call("a.tree", root={"next": {"next": {}}}))
    assert not accepted(schema, call("a.tree", root={"next": {"prev": {}}}))
    assert accepted(schema, call("b.tree", root={"next": {"prev": {}}}))


def test_two_ways_to_call_one_tool_are_told_apart_by_their_step() -> None:
    text = "1. CHECK: new?\n   - YES → CALL file.read — the new one\n   - NO → CALL file.read — the old one"
    moves = first_moves(text)
    schema = decision_schema(moves, TOOLS)
    decision = {**call("file.read", path="a"), "step": "read-no"}
    assert accepted(schema, decision)
    assert not accepted(schema, call("file.read", path="a"))
    assert match(decision, moves).purpose == "the old one"


def test_a_decision_leads_back_to_its_move() -> None:
    moves = first_moves("1. CHECK: go?\n   - YES → CALL any of {file.*}\n   - NO → DONE")
    assert match(call("file.read", path="a"), moves).tools == ("file.*",)
    assert match({"action": "DONE"}, moves).kind is MoveKind.DONE
    assert match({"action": "ESCALATE"}, moves).kind is MoveKind.ESCALATE


@pytest.mark.parametrize("decision", [{}, call("test.run"), {"action": "CALL_TOOL"}, {"action": "DONE", "tool": 3}])
def test_what_is_no_legal_move_is_refused(decision: Args) -> None:
    with pytest.raises(DecisionInvalid, match="not a legal move"):
        match(decision, first_moves("1. CALL file.read"))


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("1. CALL test.run", "test.run"),
        ("1. CALL file.read with {path: {{ 'a.py' }}}", "file.read"),
        ("1. CALL file.read", None),
        ("1. CALL any of {*}", None),
        ("1. CHECK: test?\n   - YES → CALL test.run\n   - NO → ESCALATE", None),
        ("1. CALL not.there", None),
    ],
)
def test_a_call_is_forced_where_nothing_is_left_to_choose(text: str, tool: str | None) -> None:
    found = forced(first_moves(text), TOOLS)
    assert (found[1] if found else None) == tool


def test_where_one_call_is_legal_only_its_open_arguments_are_asked_for() -> None:
    (move,) = [each for each in first_moves("1. CALL file.edit") if each.kind is MoveKind.CALL]
    tools = {"file.edit": args("path", "source")}
    tools["file.edit"]["properties"]["path"]["enum"] = ["a.py"]
    assert single_call((move,), tools) == (move, "file.edit")
    assert settled(tools["file.edit"]) == {"path": "a.py"}
    schema = Draft202012Validator(arguments_schema(move, tools["file.edit"]))
    assert schema.is_valid({"reasoning": "so", "source": "x"})
    assert not schema.is_valid({"reasoning": "so", "source": "x", "path": "b.py"})
    assert not schema.is_valid({"source": "x"})


def test_a_choice_or_an_argument_called_reasoning_keeps_the_whole_decision() -> None:
    moves = first_moves("1. CALL file.edit")
    assert single_call(moves, TOOLS) is None, "ESCALATE is legal too"
    assert single_call(moves[:1], {"file.edit": args("reasoning")}) is None


def test_a_call_whose_arguments_have_one_value_each_needs_no_model() -> None:
    tools = {"file.read": args("path")}
    tools["file.read"]["properties"]["path"]["enum"] = ["a.py"]
    moves = first_moves("1. CALL file.read")
    assert forced(moves, tools) == (moves[0], "file.read")
    tools["file.read"]["properties"]["path"]["enum"] = ["a.py", "b.py"]
    assert forced(moves, tools) is None
