"""The JSON schema of the legal next decisions, and the way back from a decision to its move.

{"decision": {"reasoning": "…", "action": "CALL_TOOL", "tool": {"name": "file.read", "args": {…}}}}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from gateway.engine.ports import Json
from gateway.errors import DecisionInvalid
from gateway.turn.patterns.cursor import Move, MoveKind

Schema = dict[str, Any]

REASONING = "reasoning"
MAX_REASONING = 240  # characters: enough to think in, short enough for a small model not to wander


def tools_of(move: Move, tools: Iterable[str]) -> tuple[str, ...]:
    """The names among `tools` that the move may call, sorted."""
    return tuple(name for name in sorted(tools) if any(fnmatchcase(name, glob) for glob in move.tools))


def decision_schema(moves: Sequence[Move], tools: Mapping[str, Schema]) -> Schema:
    """One alternative for each tool of each move.

    `tools` gives the schemas of the arguments by tool name, of the allowed tools only. Known arguments are left out.
    Where two moves call the same tool, `step` tells them apart.
    """
    offered = [(move, name) for move in moves if move.kind is MoveKind.CALL for name in tools_of(move, tools)]
    times = Counter(name for _, name in offered)
    definitions: Schema = {}
    alternatives = [_call(move, name, tools[name], times[name] > 1, definitions) for move, name in offered]
    alternatives += [_ending(move) for move in moves if move.kind is not MoveKind.CALL]
    schema = _closed({"decision": {"anyOf": alternatives}})
    return {**schema, "$defs": definitions} if definitions else schema


def match(decision: Mapping[str, Json], moves: Sequence[Move]) -> Move:
    """The move that a decision (what stands under `decision`) takes; DecisionInvalid where it is none of them."""
    action = decision.get("action")
    tool = decision.get("tool")
    name = tool.get("name") if isinstance(tool, Mapping) else None
    called = (name,) if isinstance(name, str) else ()
    step = decision.get("step")
    for move in moves:
        if move.kind is not MoveKind.CALL:
            if action == move.kind:
                return move
        elif action == "CALL_TOOL" and step in (None, move.step) and tools_of(move, called):
            return move
    said = f"{action} {name}" if name else str(action)
    raise DecisionInvalid(f"{said} is not a legal move; legal are: {'; '.join(move.label for move in moves)}")


def settled(args: Mapping[str, Any]) -> dict[str, Json]:
    """The required arguments that have one possible value: nobody has to be asked for them."""
    properties = args.get("properties", {})
    values = {key: _only_value(properties[key]) for key in args.get("required", ()) if key in properties}
    return {key: value[0] for key, value in values.items() if value}


def forced(moves: Sequence[Move], tools: Mapping[str, Schema]) -> tuple[Move, str] | None:
    """The call and its tool where no model is needed: the only way on, no question asked, no required argument open.

    Optional arguments are then left to the tool.
    """
    onward = [move for move in moves if move.kind is not MoveKind.ESCALATE]
    if len(onward) != 1 or onward[0].kind is not MoveKind.CALL or onward[0].question:
        return None
    names = tools_of(onward[0], tools)
    if len(names) != 1:
        return None
    args = tools[names[0]]
    if set(args.get("required", ())) - set(onward[0].known) - set(settled(args)):
        return None
    return onward[0], names[0]


def single_call(moves: Sequence[Move], tools: Mapping[str, Schema]) -> tuple[Move, str] | None:
    """The call and its tool where nothing else is legal: then only its arguments are asked for.

    A tool with an argument called `reasoning` is asked for in the nested form, which keeps the two apart.
    """
    if len(moves) != 1 or moves[0].kind is not MoveKind.CALL:
        return None
    names = tools_of(moves[0], tools)
    if len(names) != 1 or REASONING in tools[names[0]].get("properties", {}):
        return None
    return moves[0], names[0]


def open_arguments(args: Schema, known: Mapping[str, Json]) -> list[str]:
    """The required arguments that nobody has settled."""
    return [key for key in args.get("required", ()) if key in args.get("properties", {}) and key not in known]


def text_argument(args: Schema, known: Mapping[str, Json]) -> str | None:
    """The open argument that is code or a text (`contentMediaType: text/…`), if there is just one: that is asked for
    as it is, not inside of JSON, where small models write it badly."""
    left = open_arguments(args, known)
    texts = [key for key in left if str(args["properties"][key].get("contentMediaType", "")).startswith("text/")]
    return texts[0] if len(texts) == 1 else None


def arguments_schema(move: Move, args: Schema) -> Schema:
    """What is asked for where the call is decided: `reasoning`, then the open arguments, at one level."""
    left = without(args, {**settled(args), **move.known})
    properties = {key: _bare(each) for key, each in left.get("properties", {}).items()}
    schema = {
        "type": "object",
        "properties": {REASONING: _reasoning(), **properties},
        "required": [REASONING, *left.get("required", ())],
        "additionalProperties": False,
    }
    return {**schema, "$defs": left["$defs"]} if "$defs" in left else schema


def _bare(schema: Any) -> Any:
    """Without what is for the prompt only: a strict schema has no such keys."""
    if not isinstance(schema, Mapping):
        return schema
    return {key: each for key, each in schema.items() if key not in ("examples", "contentMediaType")}


def _call(move: Move, name: str, args: Schema, ambiguous: bool, definitions: Schema) -> Schema:
    args = without(args, {**settled(args), **move.known})
    for key, definition in args.pop("$defs", {}).items():
        definitions[f"{name}.{key}"] = _renamed(definition, name)
    args["properties"] = {key: _bare(each) for key, each in args.get("properties", {}).items()}
    tool = _closed({"name": {"const": name}, "args": _renamed(args, name)})
    step: Schema = {"step": {"const": move.step}} if ambiguous else {}
    properties = {"reasoning": _reasoning(), "action": {"const": "CALL_TOOL"}, **step, "tool": tool}
    return {"description": move.label, **_closed(properties)}


def _only_value(schema: Schema) -> list[Json]:
    """The single value that a schema allows, in a list; empty where there are several."""
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum", [])
    return list(values) if len(values) == 1 else []


def _ending(move: Move) -> Schema:
    return {"description": move.label, **_closed({"reasoning": _reasoning(), "action": {"const": move.kind.value}})}


def _reasoning() -> Schema:
    return {"type": "string", "maxLength": MAX_REASONING}


def _closed(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def without(schema: Schema, names: Iterable[str]) -> Schema:
    """The schema of the arguments that are left."""
    known = set(names)
    left = dict(schema)
    if known:
        left["properties"] = {key: each for key, each in schema.get("properties", {}).items() if key not in known}
        left["required"] = [key for key in schema.get("required", ()) if key not in known]
    return left


def _renamed(schema: Any, tool: str) -> Any:
    """References to the schema's own definitions, which stand at the root under the tool's name."""
    if isinstance(schema, Mapping):
        return {
            key: f"#/$defs/{tool}.{each.removeprefix('#/$defs/')}"
            if key == "$ref" and isinstance(each, str) and each.startswith("#/$defs/")
            else _renamed(each, tool)
            for key, each in schema.items()
        }
    return [_renamed(each, tool) for each in schema] if isinstance(schema, list) else schema
