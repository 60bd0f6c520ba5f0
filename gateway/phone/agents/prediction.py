"""What an agent's `predict` gives, taken apart: what it thought, and the action that it names."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.engine.ports import Json

MAX_TEXT = 100_000  # characters
MAX_DEPTH = 20
TRIED = 50  # places in a text where an object might begin
PHONE_TOOLS = ("mobile_use", "")
"""The name that MAI-UI's models call the phone by, as a tool among others."""


@dataclass(frozen=True)
class Prediction:
    """`said` is the action as it was given, as plain data; `fields` what it consists of, None where it cannot be read,
    as `problem` says then; `tool` the name around it where that is not the phone's."""

    text: str = ""
    thinking: str = ""
    said: Json = None
    fields: dict[str, Json] | None = None
    tool: str = ""
    problem: str = ""


def prediction_of(said: Any) -> Prediction:
    """Of whatever `predict` gave, mostly `(text, action)`."""
    pair = isinstance(said, tuple | list) and len(said) == 2
    text = said[0] if pair else said if isinstance(said, str) else ""
    action = plain(said[1] if pair else None if isinstance(said, str) else said)
    text = _clean(text[:MAX_TEXT]) if isinstance(text, str) else ""
    thinking, body = _apart(text)
    around = _object(body) or {}
    if action is None:
        action = around or None
    fields = _object(action) if isinstance(action, str) else action
    if not isinstance(fields, dict):
        problem = "no action can be read from what was said" if fields is None else "an action is an object"
        return Prediction(text, thinking, action, problem=problem)
    tool, inner = _unwrapped(fields)
    if not tool and "arguments" in around:  # only the text tells which tool the arguments are for
        tool = _unwrapped(around)[0]
    return Prediction(text, thinking, action, inner, "" if tool in PHONE_TOOLS else tool)


def thinking_of(text: str) -> str:
    """What it thought, of all that it said."""
    return _apart(_clean(text[:MAX_TEXT]))[0]


def plain(value: Any, depth: int = 0) -> Json:
    """As data that JSON has: what it has not becomes a text."""
    if depth > MAX_DEPTH:
        return "…"
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if -(2**63) <= value < 2**63 else "a large number"
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return _clean(value[:MAX_TEXT])
    if isinstance(value, Mapping):
        return {_clean(str(name)): plain(each, depth + 1) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each, depth + 1) for each in value]
    for method in ("model_dump", "tolist"):  # pydantic's models, numpy's numbers
        if callable(convert := getattr(value, method, None)):
            return plain(convert(), depth + 1)
    return _clean(str(value)[:MAX_TEXT])


def _clean(text: str) -> str:
    """Half a surrogate pair, which some models write, cannot be stored."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _apart(text: str) -> tuple[str, str]:
    """What it thought, and the rest; models end their thoughts by a tag, and do not always begin them by one."""
    for tag in ("thinking", "think", "grounding_think"):
        before, ended, after = text.rpartition(f"</{tag}>")
        if ended:
            return before.rpartition(f"<{tag}>")[2].strip().strip('"'), after
    return text[: _begins(text)].strip(), text


def _begins(text: str) -> int:
    """Where the action begins."""
    found = [at for mark in ("<tool_call>", "```", "{") if (at := text.find(mark)) >= 0]
    return min(found, default=len(text))


def _object(text: str) -> dict[str, Json] | None:
    """The object in a text: the last tool call's, else the first that names an action, else the first."""
    call = text.rpartition("<tool_call>")[2].partition("</tool_call>")[0]
    decoder = json.JSONDecoder()
    first: dict[str, Json] | None = None
    at = -1
    for _ in range(TRIED):
        at = call.find("{", at + 1)
        if at < 0:
            break
        try:
            found, end = decoder.raw_decode(call, at)
        except (ValueError, RecursionError):
            continue
        found = plain(found)
        if "action" in found or "name" in found:
            return dict(found)
        first = first or found
        at = end - 1
    return first


def _unwrapped(fields: dict[str, Json]) -> tuple[str, dict[str, Json]]:
    """The tool's name and its arguments, of a tool call; no name, and the fields, of what is none."""
    name = fields.get("name")
    if not isinstance(name, str) or "action" in fields:
        return "", fields
    for key in ("arguments", "args", "parameters"):
        inner = _object(each) if isinstance(each := fields.get(key), str) else each
        if isinstance(inner, dict):
            return name, inner
    return name, {key: each for key, each in fields.items() if key not in ("name", "arguments")}
