"""Structured decisions: an answer that fits its schema, or a clear failure."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from gateway.engine.ports import Json
from gateway.errors import DecisionInvalid
from gateway.llm.model import Message, ModelRequest, ModelResponse

if TYPE_CHECKING:
    from jsonschema import ValidationError

AGAIN = 2  # how often an answer that does not fit is asked for again
AGAIN_TEMPERATURE = 0.5
QUOTED = 1500  # characters of an answer that is shown back
BRACES = 200  # places in an answer where an object may begin: more are noise, and each may cost a deep recursion

Ask = Callable[[Json, str], Awaitable[Json]]
"""The journal's call of `model.complete`: a request and the call's own name, to a response."""

_Value = TypeVar("_Value")

Check = Callable[[dict[str, Any]], str | None]
"""What a schema cannot say: None where the decision is fine, else what is wrong with it, in words for the model."""

_CLOSED = "\n```\n"  # the end of a code block; an opening fence names its language
_CODE = re.compile(r"^```[\w+-]*[ \t]*\n(.*?)(?:\n```|\Z)", re.DOTALL | re.MULTILINE)
_BARE = re.compile(r"\s*(?:(?:def|async def|class|import|from)\b|@)")
_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
_THINKING = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)


async def decide(
    ask: Ask, request: ModelRequest, *, schema: dict[str, Any], name: str, check: Check | None = None
) -> tuple[dict[str, Any], list[ModelResponse]]:
    """Ask for a decision of the type `request.schema_name`.

    An answer that does not fit the schema, or that `check` objects to, is asked for again with the reason, twice at
    most, as calls `name`, `name.again1`, `name.again2` with consecutive ordinals. Returns the decision and every
    response, for the caller's count. Raises DecisionInvalid, or what `ask` raises.
    """
    sent = wrapped(schema)
    request = request.model_copy(update={"output_schema": sent})
    return await _until_valid(ask, request, name, lambda response: _judge(response, sent, check), "JSON object")


async def write_code(
    ask: Ask, request: ModelRequest, *, name: str, judged: bool = False
) -> tuple[str, list[ModelResponse]]:
    """Ask for one block of code, and give what is in it: small models write code far better in a fence than inside of
    JSON. Asked again, and failing, like `decide`; where the code is `judged` anyway, whatever came is given."""
    request = request.model_copy(update={"stop": [_CLOSED], "schema_name": "code block"})
    if judged:
        response = ModelResponse.model_validate(await ask(request.model_dump(), name))
        return _judge_code(response)[0] or response.text, [response]
    return await _until_valid(ask, request, name, _judge_code, "code block")


async def _until_valid(
    ask: Ask,
    request: ModelRequest,
    name: str,
    judge: Callable[[ModelResponse], tuple[_Value | None, str]],
    form: str,
) -> tuple[_Value, list[ModelResponse]]:
    responses: list[ModelResponse] = []
    reason, messages = "", request.messages
    for attempt in range(AGAIN + 1):
        update: dict[str, Any] = {"messages": messages, "ordinal": request.ordinal + attempt}
        if attempt:  # at 0 a small model says the same again
            update["temperature"] = max(request.temperature or 0.0, AGAIN_TEMPERATURE)
        again = request.model_copy(update=update)
        call = f"{name}.again{attempt}" if attempt else name
        response = ModelResponse.model_validate(await ask(again.model_dump(), call))
        responses.append(response)
        value, reason = judge(response)
        if value is not None:
            return value, responses
        messages = [*request.messages, *_objection(response, reason, request.max_tokens, form)]
    raise DecisionInvalid(
        f"{request.model} gave no valid {request.schema_name} in {AGAIN + 1} answers; the last: {reason}",
        hint="a larger model, or a narrower schema, helps",
    )


def wrapped(schema: dict[str, Any]) -> dict[str, Any]:
    """A union put under `decision`, since OpenAI's strict mode allows none at the root; any other schema as it is."""
    if "anyOf" not in schema and "oneOf" not in schema:
        return schema
    union = {key: value for key, value in schema.items() if key != "$defs"}
    return {
        "type": "object",
        "properties": {"decision": union},
        "required": ["decision"],
        "additionalProperties": False,
        **({"$defs": schema["$defs"]} if "$defs" in schema else {}),
    }


def parse(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects of an answer: the whole of it, or those in code fences, or those that stand in prose."""
    text = _THINKING.sub("", text)
    for candidate in (text, *(match.group(1) for match in _FENCE.finditer(text))):
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value
            return
    decoder, at = json.JSONDecoder(), text.find("{")
    for _ in range(BRACES):
        if at == -1:
            return
        try:
            value, end = decoder.raw_decode(text, at)
            yield value
        except (ValueError, RecursionError):
            end = at + 1
        at = text.find("{", end)


def _judge(response: ModelResponse, schema: dict[str, Any], check: Check | None) -> tuple[dict[str, Any] | None, str]:
    """The decision, or the reason why there is none."""
    reason = "it holds no JSON object"
    for value in parse(response.text):
        whole = {"decision": value} if _is_wrapped(schema) and "decision" not in value else value
        problem = _misfit(whole, schema)
        decision = whole["decision"] if problem is None and _is_wrapped(schema) else whole
        if problem is None and check is not None:
            problem = check(decision)
        if problem is None:
            return decision, ""
        reason = problem
    return None, reason


def _judge_code(response: ModelResponse) -> tuple[str | None, str]:
    """The first block of code, or all of an answer that has no block and begins like code."""
    text = _THINKING.sub("", response.text)
    found = _CODE.search(text)
    code = found.group(1) if found else text if _BARE.match(text) else ""
    if response.finish_reason == "length":
        return None, "it was cut off"
    if not code.strip():
        return None, "it holds no code block"
    return code, ""


def _is_wrapped(schema: dict[str, Any]) -> bool:
    return list(schema.get("properties", {})) == ["decision"]


def _misfit(value: dict[str, Any], schema: dict[str, Any]) -> str | None:
    """What a model has to know about why a value does not fit; None where it does."""
    from jsonschema import Draft202012Validator

    errors = list(Draft202012Validator(schema).iter_errors(value))
    if not errors:
        return None
    telling = _telling(errors)
    expected = " or ".join(dict.fromkeys(repr(error.validator_value) for error in telling))
    words = f"{telling[0].instance!r} is not {expected}" if telling[0].validator == "const" else telling[0].message
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in telling[0].absolute_path)
    return f"at {place.lstrip('.')}: {words[:QUOTED]}" if place else words[:QUOTED]


def _telling(errors: list[ValidationError]) -> list[ValidationError]:
    """The error to name, or the constants of which one was expected.

    In a union the alternative that was meant is the one whose constants (the action, the tool's name) fit. Where there
    is none, the constant that lies deepest is wrong: the tool's name, once the action is right.
    """
    error = min(errors, key=lambda each: len(each.absolute_path))
    while error.context:
        branches: dict[Any, list[ValidationError]] = {}
        for each in error.context:
            branches.setdefault(each.schema_path[0], []).append(each)
        meant = [found for found in branches.values() if not any(each.validator == "const" for each in found)]
        if not meant:
            constants = [each for each in error.context if each.validator == "const"]
            deepest = max(len(each.absolute_path) for each in constants)
            return [each for each in constants if len(each.absolute_path) == deepest]
        error = min(meant, key=len)[0]
    return [error]


def _objection(response: ModelResponse, reason: str, max_tokens: int | None, form: str) -> list[Message]:
    """The answer and what is wrong with it, as the next two messages."""
    said = response.text if len(response.text) <= QUOTED else response.text[:QUOTED] + " […]"
    if response.finish_reason == "length":
        limit = f"{max_tokens} tokens" if max_tokens else "the limit"
        complaint = f"Your answer was cut off at {limit}. Answer again, much shorter, as one complete {form}."
    else:
        fits = " that fits the schema" if form.startswith("JSON") else " and nothing else"
        complaint = f"That answer is not valid: {reason}. Answer again with one {form}{fits}."
    return [Message(role="assistant", content=said or "(nothing)"), Message(role="user", content=complaint)]
