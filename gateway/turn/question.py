"""How a call is put to the model: what its arguments are, and the form of the answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gateway.turn.patterns.cursor import Move
from gateway.turn.patterns.decision import arguments_schema, settled
from gateway.turn.sections import arguments

CODE = "text/x-"  # begins the media types of programming languages
SHOWN_OPTIONS = 40  # of an argument's enum
DESCRIBED = 90  # characters of what a tool does


def argument_lines(tool: str, schema: Mapping[str, Any], move: Move) -> list[str]:
    """What a call's arguments are: a server that is held to a schema does not show it to its model."""
    given = {**settled(schema), **move.known}
    shown = {key: value for key, value in given.items() if isinstance(value, str | int)}
    lines = [f"  {tool} given: {arguments(shown)}"] if shown else []
    for key, each in schema.get("properties", {}).items():
        if key in given or (each.get("examples") and "description" not in each):  # the answer's form says enough
            continue
        choice = each.get("enum", [])
        options = f"; one of: {', '.join(map(str, choice))}" if 0 < len(choice) <= SHOWN_OPTIONS else ""
        optional = "" if key in schema.get("required", ()) else " (optional)"
        said = str(each.get("description", each.get("type", "")))
        said = said.rpartition("\n\n")[2]  # of a brief what is asked: all that it brings is in §4, too
        lines.append(f"  {tool} {key}{optional}: {said}{options}")
    return [f"  {line.strip()}" for line in lines]


def told(description: str) -> str:
    """What a tool does, as short as a choice among several needs it; written by strangers, it stays on its line."""
    first = " ".join(description.replace("§", "").split())
    return first if len(first) <= DESCRIBED else f"{first[:DESCRIBED].rsplit(' ', 1)[0]} …"


def skeleton(schema: Mapping[str, Any], move: Move) -> str:
    """The form of the answer, so that a model writes what a server's grammar would have to force on it."""
    asked = arguments_schema(move, dict(schema))["properties"]
    given = schema.get("properties", {})
    form = {key: (given.get(key, {}).get("examples") or ["…"])[0] for key in asked}
    return f"Answer with JSON: {json.dumps(form, ensure_ascii=False)}"


def is_code(argument: Mapping[str, Any]) -> bool:
    """Whether an argument that is a text (`contentMediaType`) is one in a programming language."""
    return str(argument["contentMediaType"]).startswith(CODE)


def text_question(argument: Mapping[str, Any], move: Move) -> str:
    """How code or a text is asked for: what the tool says about it, then the step's own words."""
    said = [str(argument["description"]), f"({move.purpose})" if move.purpose else ""]
    if is_code(argument):
        language = str(argument["contentMediaType"]).removeprefix(CODE).capitalize()
        said.append(f"Answer with one {language} code block and no other text.")
    return "\n\n".join(filter(None, said))
