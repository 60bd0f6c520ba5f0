"""The model port: one request, one answer, whichever provider serves it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any, Literal, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field

from gateway.engine.ports import Effect, Json, Model, Operation, Scope

OnDelta = Callable[[str], None]
"""Told each piece of text as it is generated. A call that is tried again starts its text again."""


class Message(BaseModel):
    """One message of a prompt. `images` are artifacts (sha256) of PNG pictures; on their way to a model, data URLs."""

    model_config = ConfigDict(extra="forbid")

    role: Literal["system", "user", "assistant"]
    content: str
    images: list[str] = []


class ModelRequest(BaseModel):
    """What is asked of a model. It is journaled, so it holds no key and no address.

    `stop` are texts at which the answer ends, without them. `ordinal` says which model call of the run this is, counted
    from 1 by the caller out of the run's state: a script finds its answer by it, also after a resume.
    """

    model_config = ConfigDict(extra="forbid")

    role: str
    model: str
    messages: list[Message]
    output_schema: dict[str, Json] | None = None
    schema_name: str = "ANSWER"
    max_tokens: int | None = None
    temperature: float | None = 0.0
    stop: list[str] = []
    timeout_s: float = Field(default=120.0, gt=0, description="seconds for one try, from request to last token")
    ordinal: int = 0


class Usage(BaseModel):
    """Tokens and money that a call took; `cached_tokens` of `prompt_tokens` came from the server's prefix cache."""

    model_config = ConfigDict(extra="forbid")

    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0


class ModelResponse(BaseModel):
    """What a model answered. `finish_reason` is "length" where the answer was cut off at `max_tokens`.

    `ms` is the duration in milliseconds, with all tries; `schema_in_prompt` says that the provider took no schema, so
    that it was written after the last message.
    """

    model_config = ConfigDict(extra="forbid")

    text: str
    model: str
    finish_reason: str = "stop"
    usage: Usage = Usage()
    ms: int = 0
    schema_in_prompt: bool = False


@runtime_checkable
class StreamingModel(Protocol):
    """A model that can tell its answer piece by piece."""

    async def stream(self, request: Json, on_delta: OnDelta) -> Json: ...


def model_operation(model: Model) -> Operation:
    """`model.complete` for the journal.

    Where somebody watches, pieces of the answer are reported as progress `model.delta` with {role, text}; streaming
    costs CPU for each token.
    """

    async def run(args: Json, scope: Scope) -> Json:
        args = _with_pictures(args, scope)
        if scope.watched and isinstance(model, StreamingModel):
            role = args["role"]
            return await model.stream(args, lambda text: scope.progress("model.delta", {"role": role, "text": text}))
        return await model.complete(args)

    spends = ("model_calls", "tokens", "cost_usd")
    return Operation("model.complete", run, Effect.READ, spends=spends, charge=charge_of)


def _with_pictures(request: Json, scope: Scope) -> Json:
    """The request with pictures in place of their hashes, which alone are journaled."""
    if not any(message.get("images") for message in request["messages"]):
        return request
    messages = [
        {**message, "images": [_data_url(scope.artifacts.get(each)) for each in message.get("images", ())]}
        for message in request["messages"]
    ]
    return {**request, "messages": messages}


def _data_url(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


def charge_of(response: Json) -> dict[str, float]:
    """What a model call adds to the run's counters."""
    usage = ModelResponse.model_validate(response).usage
    return {
        "model_calls": 1,
        "tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens": usage.prompt_tokens,
        "cached_tokens": usage.cached_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost_usd": usage.cost_usd,
    }


def chat_body(request: ModelRequest, model: str, *, schema_in_prompt: bool) -> dict[str, Any]:
    """The request as OpenAI's chat completions have it, for the name that the server knows the model by."""
    messages: list[dict[str, Any]] = [{"role": each.role, "content": each.content} for each in request.messages]
    if request.output_schema is not None and schema_in_prompt:
        messages[-1]["content"] += f"\n\n{_schema_text(request)}"
    for message, given in zip(messages, request.messages, strict=True):
        if given.images:
            pictures = [{"type": "image_url", "image_url": {"url": each}} for each in given.images]
            message["content"] = [{"type": "text", "text": message["content"]}, *pictures]
    body: dict[str, Any] = {"model": model, "messages": messages}
    if request.max_tokens is not None:
        body["max_tokens"] = request.max_tokens
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.stop:
        body["stop"] = request.stop
    if request.output_schema is not None and not schema_in_prompt:
        schema = {"name": request.schema_name, "strict": True, "schema": request.output_schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def _schema_text(request: ModelRequest) -> str:
    schema = json.dumps(request.output_schema, ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON object and nothing else: a {request.schema_name}, by this JSON schema:\n{schema}"
