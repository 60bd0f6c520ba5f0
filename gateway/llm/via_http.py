"""One try of a model call by HTTP, to a server of one's own that speaks OpenAI's protocol.

Nothing stands between: no library that takes seconds to import, and a call that is given up closes its connection, so
that the server stops generating.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from gateway.llm.endpoint import Endpoint
from gateway.llm.failures import Failure, garbage, of_status, timed_out, unreachable
from gateway.llm.model import ModelRequest, ModelResponse, OnDelta, Usage, chat_body

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession

PREFIX = "hosted_vllm/"  # litellm's name for such a server
KEPT_S = 4.0  # shorter than servers keep a connection: llama.cpp's closes it after 5
MAX_EVENT = 8 * 2**20  # bytes of one line of a stream


def speaks(endpoint: Endpoint) -> bool:
    """Whether the endpoint is called from here."""
    return endpoint.model.startswith(PREFIX) and bool(endpoint.api_base) and not endpoint.extra


class Connections:
    """Connections that are kept for the next call; `close` them at the end. For one event loop at a time."""

    def __init__(self) -> None:
        self._session: ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def session(self) -> ClientSession:
        import aiohttp

        loop = asyncio.get_running_loop()
        if self._session is None or self._session.closed or self._loop is not loop:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEPT_S),
                timeout=aiohttp.ClientTimeout(total=None),
                read_bufsize=MAX_EVENT,
            )
            self._loop = loop
        return self._session

    async def close(self) -> None:
        if self._session is not None and self._loop is asyncio.get_running_loop():
            await self._session.close()
        self._session = None


async def attempt(
    request: ModelRequest,
    endpoint: Endpoint,
    connections: Connections,
    *,
    schema_in_prompt: bool,
    on_delta: OnDelta | None,
) -> ModelResponse | Failure:
    """The answer, or why there is none; `timeout_s` is from the request to the last byte."""
    import aiohttp

    body = chat_body(request, endpoint.model.removeprefix(PREFIX), schema_in_prompt=schema_in_prompt)
    if on_delta is not None:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    headers = {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
    url = f"{str(endpoint.api_base).rstrip('/')}/chat/completions"
    try:
        async with (
            asyncio.timeout(request.timeout_s),
            connections.session.post(url, json=body, headers=headers) as response,
        ):
            if response.status != 200:
                words = _words(await response.text(errors="replace"))
                return of_status(response.status, words, response.headers, endpoint)
            if on_delta is None:
                return _whole(await response.read(), endpoint)
            return await _streamed(response, endpoint, on_delta)
    except TimeoutError as error:
        return timed_out(endpoint, request.timeout_s, error)
    except aiohttp.InvalidURL as error:
        return unreachable(endpoint, f"{error} is no URL", error, again=False)
    except (aiohttp.ClientError, OSError) as error:
        return unreachable(endpoint, _reason(error), error)


DONE = "[DONE]"  # the data of the event that ends a stream


def _reason(error: Exception) -> str:
    """In the words of the operating system where it has some."""
    cause = getattr(error, "os_error", None) or error
    number = getattr(cause, "errno", None)  # asyncio puts words of its own into `strerror`
    if isinstance(number, int) and number > 0:
        return os.strerror(number)
    return getattr(cause, "strerror", None) or str(cause) or type(error).__name__


def _words(body: str) -> str:
    """What an error's body says, in OpenAI's form or any other."""
    try:
        said = json.loads(body)
    except ValueError:
        return body
    error = said.get("error", said) if isinstance(said, dict) else said
    message = error.get("message", error) if isinstance(error, dict) else error
    return message if isinstance(message, str) else json.dumps(message)


def _whole(body: bytes, endpoint: Endpoint) -> ModelResponse | Failure:
    try:
        answer = json.loads(body)
        choice = answer["choices"][0]
        return ModelResponse(
            text=choice["message"].get("content") or "",
            model=answer.get("model") or endpoint.model,
            finish_reason=choice.get("finish_reason") or "stop",
            usage=_usage(answer.get("usage")),
        )
    except (ValueError, LookupError, TypeError, AttributeError):
        shown = " ".join(body[:80].decode(errors="replace").split())
        return Failure(garbage(endpoint, repr(shown) if shown else "nothing"))


async def _streamed(response: ClientResponse, endpoint: Endpoint, on_delta: OnDelta) -> ModelResponse | Failure:
    pieces: list[str] = []
    model, finish_reason, usage, ended = endpoint.model, "", None, False
    async for data in _events(response):
        if data == DONE:
            ended = True
            break
        try:
            chunk = json.loads(data)
            if "error" in chunk:
                return of_status(500, _words(data), {}, endpoint)
            model, usage = chunk.get("model") or model, chunk.get("usage") or usage
            for choice in chunk.get("choices") or ():
                finish_reason = choice.get("finish_reason") or finish_reason
                if text := choice.get("delta", {}).get("content"):
                    pieces.append(text)
                    on_delta(text)
        except (ValueError, LookupError, TypeError, AttributeError):
            return Failure(garbage(endpoint, f"a stream with {data[:80]!r} in it"))
    if not pieces and usage is None:
        return Failure(garbage(endpoint, "an empty stream"))
    if not ended and not finish_reason:  # a connection without a length ends like this when its server dies
        return unreachable(endpoint, "the stream ended in the middle", ConnectionError())
    return ModelResponse(text="".join(pieces), model=model, finish_reason=finish_reason or "stop", usage=_usage(usage))


async def _events(response: ClientResponse) -> AsyncIterator[str]:
    """The data of each server-sent event."""
    async for line in response.content:
        if line.startswith(b"data:"):
            yield line[5:].strip().decode(errors="replace")


def _usage(usage: Any) -> Usage:
    told = usage if isinstance(usage, dict) else {}
    return Usage(
        prompt_tokens=told.get("prompt_tokens") or 0,
        cached_tokens=(told.get("prompt_tokens_details") or {}).get("cached_tokens") or 0,
        completion_tokens=told.get("completion_tokens") or 0,
    )
