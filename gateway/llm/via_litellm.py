"""One try of a model call through litellm, whichever provider serves the model."""

from __future__ import annotations

import asyncio
import os
import threading
from functools import lru_cache
from typing import Any

from gateway.llm.endpoint import Endpoint
from gateway.llm.failures import Failure, garbage, of_litellm
from gateway.llm.model import ModelRequest, ModelResponse, OnDelta, Usage, chat_body

PRICES = (
    "input_cost_per_token",
    "output_cost_per_token",
    "cache_read_input_token_cost",
    "cache_creation_input_token_cost",
)
_loading = threading.Lock()


async def attempt(
    request: ModelRequest, endpoint: Endpoint, *, schema_in_prompt: bool, on_delta: OnDelta | None
) -> ModelResponse | Failure:
    """The answer, or why there is none. The deadline is our own besides the HTTP client's, which starts again with
    every byte received."""
    loaded = _litellm.cache_info().currsize
    litellm = _litellm() if loaded else await asyncio.to_thread(_litellm)  # its import takes seconds
    _make_known(endpoint.model)
    arguments = _arguments(request, endpoint, schema_in_prompt)
    try:
        async with asyncio.timeout(request.timeout_s):
            if on_delta is None:
                return _whole(await litellm.acompletion(**arguments), endpoint)
            return await _streamed(arguments, endpoint, on_delta)
    except Exception as error:
        failure = of_litellm(error, endpoint, request.timeout_s)
        failure.error.__cause__ = error
        return failure


@lru_cache(maxsize=1)
def _litellm() -> Any:
    with _loading:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it fetches prices from the network
        import litellm

        litellm.suppress_debug_info = True  # it prints advice to standard output
        return litellm


def knows_pictures(model: str) -> bool:
    """Whether litellm's table says that the model takes pictures; False for one that is not in it."""
    return bool(_litellm().supports_vision(model=model))


@lru_cache(maxsize=64)
def _make_known(model: str) -> None:
    """Tell litellm that a model of one's own server has no price: else it looks for one at every call."""
    import litellm

    provider, _, name = model.partition("/")
    if provider == "hosted_vllm" and name not in litellm.model_cost and model not in litellm.model_cost:
        litellm.register_model({model: {"litellm_provider": provider, "mode": "chat", **dict.fromkeys(PRICES, 0.0)}})


def _arguments(request: ModelRequest, endpoint: Endpoint, schema_in_prompt: bool) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        **chat_body(request, endpoint.model, schema_in_prompt=schema_in_prompt),
        "timeout": request.timeout_s,
        "num_retries": 0,
        "max_retries": 0,
        **endpoint.extra,
    }
    if endpoint.api_base:
        arguments["api_base"] = endpoint.api_base
    if endpoint.api_key:
        arguments["api_key"] = endpoint.api_key
    return arguments


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
