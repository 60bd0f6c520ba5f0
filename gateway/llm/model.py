"""The model port: one request, one answer, whichever provider serves it."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field

from gateway.engine.ports import Clock, Effect, Json, Model, Operation, Scope, SystemClock
from gateway.errors import ModelUnavailable
from gateway.llm.endpoint import Endpoint, Resolve, direct
from gateway.llm.failures import Failure, garbage, translate

TRIES = 3
FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 30.0  # of a server's Retry-After, too: a run that should wait longer is better stopped and resumed
PRICES = (
    "input_cost_per_token",
    "output_cost_per_token",
    "cache_read_input_token_cost",
    "cache_creation_input_token_cost",
)

OnDelta = Callable[[str], None]
"""Told each piece of text as it is generated. A call that is tried again starts its text again."""


class Message(BaseModel):
    """One message of a prompt."""

    model_config = ConfigDict(extra="forbid")

    role: Literal["system", "user", "assistant"]
    content: str


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


def model_operation(model: Model, *, stream: bool = False) -> Operation:
    """`model.complete` for the journal.

    With `stream`, pieces of the answer are reported as progress `model.delta` with {role, text}; streaming costs CPU
    for each token, so it is for runs that somebody watches.
    """

    async def run(args: Json, scope: Scope) -> Json:
        if stream and isinstance(model, StreamingModel):
            role = args["role"]
            return await model.stream(args, lambda text: scope.progress("model.delta", {"role": role, "text": text}))
        return await model.complete(args)

    return Operation("model.complete", run, Effect.READ, spends=("model_calls", "tokens", "cost_usd"))


class LiteLLM:
    """Any provider that litellm knows.

    Tries a call up to three times where the server is overloaded, fails or cannot be reached; a timeout is not tried
    again here, since a slow model is slow again. Raises the Model* errors of `gateway.errors`.
    """

    def __init__(
        self,
        resolve: Resolve = direct,
        *,
        clock: Clock | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._resolve = resolve
        self._clock = clock or SystemClock()
        self._jitter = jitter
        self._schemaless: set[str] = set()
        self._loading = asyncio.Lock()
        self._loaded = False

    async def complete(self, request: Json) -> Json:
        return await self._answer(ModelRequest.model_validate(request), None)

    async def stream(self, request: Json, on_delta: OnDelta) -> Json:
        return await self._answer(ModelRequest.model_validate(request), on_delta)

    async def _answer(self, request: ModelRequest, on_delta: OnDelta | None) -> Json:
        if not request.model:
            raise ModelUnavailable("no model is configured", hint="name one with --model or ECHELON_MODEL")
        started = self._clock.monotonic()
        await self._load()
        tried = 0
        while True:
            tried += 1
            endpoint = await self._resolve(request.model)
            in_prompt = not endpoint.supports_schema or endpoint.model in self._schemaless
            _make_known(endpoint.model)
            arguments = _arguments(request, endpoint, schema_in_prompt=in_prompt)
            outcome = await _attempt(arguments, endpoint, request.timeout_s, on_delta)
            if isinstance(outcome, ModelResponse):
                outcome.ms = round((self._clock.monotonic() - started) * 1000)
                outcome.schema_in_prompt = in_prompt and request.output_schema is not None
                return outcome.model_dump()
            if outcome.schema_rejected and request.output_schema is not None and not in_prompt:
                self._schemaless.add(endpoint.model)
                tried -= 1
                continue
            if not outcome.again or tried == TRIES:
                raise outcome.error
            await self._clock.sleep(self._delay(tried, getattr(outcome.error, "retry_after_s", None)))

    async def _load(self) -> None:
        """Import litellm, which takes seconds, without holding up the event loop."""
        async with self._loading:
            if not self._loaded:
                await asyncio.to_thread(_import_litellm)
                self._loaded = True

    def _delay(self, tried: int, retry_after_s: float | None) -> float:
        """Seconds before the next try: doubling, spread over its upper half, no sooner than the server asked for."""
        backoff = FIRST_DELAY_S * 2.0 ** (tried - 1) * (0.5 + self._jitter() / 2)
        return min(LONGEST_DELAY_S, max(backoff, retry_after_s or 0.0))


def _import_litellm() -> None:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it fetches prices from the network
    import litellm

    litellm.suppress_debug_info = True  # it prints advice to standard output


@lru_cache(maxsize=64)
def _make_known(model: str) -> None:
    """Tell litellm that a model of one's own server has no price: else it looks for one at every call."""
    import litellm

    provider, _, name = model.partition("/")
    if provider == "hosted_vllm" and name not in litellm.model_cost and model not in litellm.model_cost:
        litellm.register_model({model: {"litellm_provider": provider, "mode": "chat", **dict.fromkeys(PRICES, 0.0)}})


def _arguments(request: ModelRequest, endpoint: Endpoint, *, schema_in_prompt: bool) -> dict[str, Any]:
    messages: list[dict[str, str]] = [message.model_dump() for message in request.messages]
    arguments: dict[str, Any] = {
        "model": endpoint.model,
        "messages": messages,
        "timeout": request.timeout_s,
        "num_retries": 0,
        "max_retries": 0,
        **endpoint.extra,
    }
    if request.max_tokens is not None:
        arguments["max_tokens"] = request.max_tokens
    if request.temperature is not None:
        arguments["temperature"] = request.temperature
    if request.stop:
        arguments["stop"] = request.stop
    if endpoint.api_base:
        arguments["api_base"] = endpoint.api_base
    if endpoint.api_key:
        arguments["api_key"] = endpoint.api_key
    if request.output_schema is not None and schema_in_prompt:
        last = messages[-1]
        messages[-1] = {**last, "content": f"{last['content']}\n\n{_schema_text(request)}"}
    elif request.output_schema is not None:
        schema = {"name": request.schema_name, "strict": True, "schema": request.output_schema}
        arguments["response_format"] = {"type": "json_schema", "json_schema": schema}
    return arguments


def _schema_text(request: ModelRequest) -> str:
    import json

    schema = json.dumps(request.output_schema, ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON object and nothing else: a {request.schema_name}, by this JSON schema:\n{schema}"


async def _attempt(
    arguments: dict[str, Any], endpoint: Endpoint, timeout_s: float, on_delta: OnDelta | None
) -> ModelResponse | Failure:
    """One try. The deadline is our own besides the HTTP client's, which starts again with every byte received."""
    import litellm

    try:
        async with asyncio.timeout(timeout_s):
            if on_delta is None:
                return _whole(await litellm.acompletion(**arguments), endpoint)
            return await _streamed(arguments, endpoint, on_delta)
    except Exception as error:
        failure = translate(error, endpoint, timeout_s)
        failure.error.__cause__ = error
        return failure


def _whole(answer: Any, endpoint: Endpoint) -> ModelResponse | Failure:
    if not getattr(answer, "choices", None):
        return Failure(garbage(endpoint, "no choices"))
    choice = answer.choices[0]
    cost = answer._hidden_params.get("response_cost")  # litellm's documented place; None for a model without a price
    return ModelResponse(
        text=choice.message.content or "",
        model=answer.model or endpoint.model,
        finish_reason=choice.finish_reason or "stop",
        usage=_usage(getattr(answer, "usage", None), cost or 0.0),
    )


async def _streamed(arguments: dict[str, Any], endpoint: Endpoint, on_delta: OnDelta) -> ModelResponse | Failure:
    import litellm

    pieces: list[str] = []
    model, finish_reason, usage = endpoint.model, "", None
    chunks: Any = await litellm.acompletion(**arguments, stream=True, stream_options={"include_usage": True})
    async for chunk in chunks:
        model = chunk.model or model
        usage = getattr(chunk, "usage", None) or usage
        if chunk.choices:
            choice = chunk.choices[0]
            finish_reason = choice.finish_reason or finish_reason
            if choice.delta.content:
                pieces.append(choice.delta.content)
                on_delta(choice.delta.content)
    if not pieces and usage is None:  # litellm ends also a stream that never was one with a finish reason
        return Failure(garbage(endpoint, "an empty stream"))
    counted = _usage(usage, 0.0)
    counted.cost_usd = _price(endpoint.model, counted)
    return ModelResponse(text="".join(pieces), model=model, finish_reason=finish_reason or "stop", usage=counted)


def _usage(usage: Any, cost_usd: float) -> Usage:
    details = getattr(usage, "prompt_tokens_details", None)
    return Usage(
        prompt_tokens=getattr(usage, "prompt_tokens", 0) or 0,
        cached_tokens=getattr(details, "cached_tokens", 0) or 0,
        completion_tokens=getattr(usage, "completion_tokens", 0) or 0,
        cost_usd=cost_usd,
    )


def _price(model: str, usage: Usage) -> float:
    """US dollars, as far as litellm knows the model's price; else 0."""
    import litellm

    try:
        prompt, completion = litellm.cost_per_token(
            model=model,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cache_read_input_tokens=usage.cached_tokens,
        )
    except Exception:  # it raises a plain Exception for a model that it does not know
        return 0.0
    return prompt + completion
