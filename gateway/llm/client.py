"""The port that calls real models: by HTTP where a server speaks OpenAI's protocol, else through litellm."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from gateway.engine.ports import Clock, Json, SystemClock
from gateway.errors import ModelUnavailable
from gateway.llm import via_http, via_litellm
from gateway.llm.endpoint import Endpoint, Resolve, direct
from gateway.llm.failures import Failure
from gateway.llm.model import ModelRequest, ModelResponse, OnDelta

TRIES = 3
FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 30.0  # of a server's Retry-After, too: a run that should wait longer is better stopped and resumed


class ModelClient:
    """Any provider that litellm knows; servers of one's own (`hosted_vllm/NAME`, with an API base) without litellm.

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
        self._connections = via_http.Connections()

    async def close(self) -> None:
        """Let go of connections; the client may be used again."""
        await self._connections.close()

    async def complete(self, request: Json) -> Json:
        return await self._answer(ModelRequest.model_validate(request), None)

    async def stream(self, request: Json, on_delta: OnDelta) -> Json:
        return await self._answer(ModelRequest.model_validate(request), on_delta)

    async def _answer(self, request: ModelRequest, on_delta: OnDelta | None) -> Json:
        if not request.model:
            raise ModelUnavailable("no model is configured", hint="name one with --model or ECHELON_MODEL")
        started = self._clock.monotonic()
        tried = 0
        while True:
            tried += 1
            endpoint = await self._resolve(request.model)
            in_prompt = not endpoint.supports_schema or endpoint.model in self._schemaless
            outcome = await self._attempt(request, endpoint, in_prompt, on_delta)
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

    async def _attempt(
        self, request: ModelRequest, endpoint: Endpoint, schema_in_prompt: bool, on_delta: OnDelta | None
    ) -> ModelResponse | Failure:
        how: dict[str, Any] = {"schema_in_prompt": schema_in_prompt, "on_delta": on_delta}
        if via_http.speaks(endpoint):
            return await via_http.attempt(request, endpoint, self._connections, **how)
        return await via_litellm.attempt(request, endpoint, **how)

    def _delay(self, tried: int, retry_after_s: float | None) -> float:
        """Seconds before the next try: doubling, spread over its upper half, no sooner than the server asked for."""
        backoff = FIRST_DELAY_S * 2.0 ** (tried - 1) * (0.5 + self._jitter() / 2)
        return min(LONGEST_DELAY_S, max(backoff, retry_after_s or 0.0))
