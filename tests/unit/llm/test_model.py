"""The port against a real server on loopback, by both of its ways: `openai/` goes through litellm."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, Reply, chat_server

from gateway.engine.ports import Effect
from gateway.errors import (
    ContextTooLong,
    ModelError,
    ModelOverloaded,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
)
from gateway.llm.client import ModelClient
from gateway.llm.endpoint import Endpoint
from gateway.llm.model import ModelRequest, ModelResponse, model_operation

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
PROVIDERS = ["hosted_vllm", "openai"]


class SleepLog:
    """A clock that notes what it was asked to sleep and returns at once."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def now(self) -> float:
        return 0.0

    def monotonic(self) -> float:
        return sum(self.slept)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    async with chat_server() as running:
        yield running


@pytest.fixture
def clock() -> SleepLog:
    return SleepLog()


def port(server: ChatServer, clock: SleepLog, provider: str = "hosted_vllm", **changes: Any) -> ModelClient:
    async def resolve(name: str) -> Endpoint:
        return Endpoint(**{"model": f"{provider}/{name}", "api_base": server.base, "api_key": "sk-secret", **changes})

    return ModelClient(resolve, clock=clock, jitter=lambda: 1.0)


def request(**changes: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": "hi"}]
    fields = {"role": "planner", "model": "m", "messages": messages, "timeout_s": 60.0, **changes}
    return ModelRequest(**fields).model_dump()


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_an_answer_comes_with_usage_and_cached_tokens(server: ChatServer, clock: SleepLog, provider: str) -> None:
    response = ModelResponse.model_validate(await port(server, clock, provider).complete(request(max_tokens=9)))
    assert (response.text, response.finish_reason, response.model) == ('{"a": 1}', "stop", "stub")
    assert response.usage.model_dump() == {
        "prompt_tokens": 10,
        "cached_tokens": 7,
        "completion_tokens": 3,
        "cost_usd": 0.0,
    }
    assert server.requests[0]["max_tokens"] == 9
    assert "stream" not in server.requests[0]


async def test_the_schema_is_sent_as_a_strict_response_format(server: ChatServer, clock: SleepLog) -> None:
    await port(server, clock).complete(request(output_schema=SCHEMA, schema_name="PLANNER_DECISION"))
    sent = server.requests[0]["response_format"]
    assert sent == {
        "type": "json_schema",
        "json_schema": {"name": "PLANNER_DECISION", "strict": True, "schema": SCHEMA},
    }


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_provider_that_rejects_schemas_gets_it_in_the_prompt_from_then_on(
    server: ChatServer, clock: SleepLog, provider: str
) -> None:
    rejection = json.dumps({"error": {"message": "response_format is not supported"}})
    server.replies = [Reply(status=400, body=rejection)]
    model = port(server, clock, provider)
    response = await model.complete(request(output_schema=SCHEMA, schema_name="X"))
    assert response["schema_in_prompt"] and clock.slept == []
    assert json.dumps(SCHEMA, separators=(",", ":")) in server.requests[1]["messages"][-1]["content"]
    await model.complete(request(output_schema=SCHEMA))
    assert len(server.requests) == 3 and "response_format" not in server.requests[2]


async def test_an_endpoint_without_schema_support_is_never_sent_one(server: ChatServer, clock: SleepLog) -> None:
    response = await port(server, clock, supports_schema=False).complete(request(output_schema=SCHEMA))
    assert response["schema_in_prompt"] and "response_format" not in server.requests[0]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_429_waits_as_long_as_the_server_asks(server: ChatServer, clock: SleepLog, provider: str) -> None:
    server.replies = [Reply(status=429, headers={"Retry-After": "7"})]
    response = await port(server, clock, provider).complete(request())
    assert clock.slept == [7.0] and response["text"] == '{"a": 1}'
    assert response["ms"] == 7000


async def test_retry_after_may_be_a_date_and_is_bounded(server: ChatServer, clock: SleepLog) -> None:
    dates = {"Retry-After": "Sat, 21 Nov 2026 10:00:05 GMT", "Date": "Sat, 21 Nov 2026 10:00:00 GMT"}
    server.replies = [Reply(status=429, headers=dates), Reply(status=429, headers={"Retry-After": "9999"})]
    await port(server, clock).complete(request())
    assert clock.slept == [5.0, 30.0]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_500_is_tried_again_with_growing_delays(server: ChatServer, clock: SleepLog, provider: str) -> None:
    server.replies = [Reply(status=500), Reply(status=503)]
    await port(server, clock, provider).complete(request())
    assert clock.slept == [0.5, 1.0]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_three_failures_in_a_row_are_an_overload(server: ChatServer, clock: SleepLog, provider: str) -> None:
    server.replies = [Reply(status=429, headers={"Retry-After": "2"})] * 4
    with pytest.raises(ModelOverloaded) as caught:
        await port(server, clock, provider).complete(request())
    assert caught.value.retry_after_s == 2.0 and len(server.requests) == 3


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("body", ["<html>welcome</html>", '{"hello": 1}', ""])
async def test_a_garbage_body_is_said_to_be_no_completion(
    server: ChatServer, clock: SleepLog, provider: str, body: str
) -> None:
    server.replies = [Reply(body=body)]
    with pytest.raises(ModelError, match="chat completion") as caught:
        await port(server, clock, provider).complete(request())
    assert "/v1" in caught.value.hint and len(server.requests) == 1


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_refused_connection_asks_whether_the_server_is_running(
    clock: SleepLog, provider: str, streaming: bool
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        base = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    model = port(ChatServer(base=base), clock, provider)
    with pytest.raises(ModelUnavailable) as caught:
        await (model.stream(request(), lambda text: None) if streaming else model.complete(request()))
    assert len(clock.slept) == 2
    assert "is the server running?" in caught.value.hint
    assert base in str(caught.value)
    assert provider != "hosted_vllm" or str(caught.value).endswith("cannot be reached: Connection refused")


def test_an_endpoint_shows_neither_credentials_nor_key() -> None:
    endpoint = Endpoint("openai/m", "https://user:pw@host:8443/v1?key=1", "sk-secret")
    assert endpoint.place == "https://host:8443/v1" and "sk-secret" not in repr(endpoint)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_connection_lost_in_the_middle_is_tried_again(
    server: ChatServer, clock: SleepLog, provider: str
) -> None:
    server.replies = [Reply(cut=True)]
    assert (await port(server, clock, provider).complete(request()))["text"] == '{"a": 1}'


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_server_that_hangs_is_a_timeout_and_not_tried_again(
    server: ChatServer, clock: SleepLog, provider: str
) -> None:
    model = port(server, clock, provider)
    await model.complete(request())  # the client loads much of itself with its first call
    server.replies = [Reply(hang_s=30)]
    with pytest.raises(ModelTimeout):
        await model.complete(request(timeout_s=1.0))
    assert clock.slept == [] and len(server.requests) == 2


async def test_a_stream_that_drips_for_ever_is_a_timeout(server: ChatServer, clock: SleepLog) -> None:
    server.replies = [Reply(text="x" * 100, drip_s=0.02)]
    with pytest.raises(ModelTimeout):
        await port(server, clock).stream(request(timeout_s=0.2), lambda text: None)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "words",
    [
        "the request exceeds the available context size",
        "This model's maximum context length is 4096 tokens, however you requested 5000",
    ],
)
async def test_a_prompt_over_the_context_window_is_its_own_error(
    server: ChatServer, clock: SleepLog, provider: str, words: str
) -> None:
    server.replies = [Reply(status=400, body=json.dumps({"error": {"message": words}}))]
    with pytest.raises(ContextTooLong):
        await port(server, clock, provider).complete(request())
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_refusal_is_not_tried_again_and_does_not_show_the_key(
    server: ChatServer, clock: SleepLog, provider: str, status: int
) -> None:
    server.replies = [Reply(status=status, body=json.dumps({"error": {"message": "bad key sk-secret"}}))]
    with pytest.raises(ModelRefused) as caught:
        await port(server, clock, provider).complete(request())
    assert len(server.requests) == 1 and "sk-secret" not in str(caught.value)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_stream_gives_the_pieces_and_the_same_answer(
    server: ChatServer, clock: SleepLog, provider: str
) -> None:
    pieces: list[str] = []
    server.replies = [Reply(finish_reason="length")]
    response = await port(server, clock, provider).stream(request(), pieces.append)
    assert "".join(pieces) == response["text"] == '{"a": 1}' and len(pieces) > 1
    assert response["finish_reason"] == "length"
    assert response["usage"]["cached_tokens"] == 7 and response["usage"]["completion_tokens"] == 3


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("body", ["<html>", "", "data: {not JSON\n\n"])
async def test_an_empty_or_broken_stream_is_garbage(
    server: ChatServer, clock: SleepLog, provider: str, body: str
) -> None:
    server.replies = [Reply(body=body)]
    with pytest.raises(ModelError, match="chat completion"):
        await port(server, clock, provider).stream(request(), lambda text: None)


async def test_an_error_in_the_middle_of_a_stream_is_tried_again(server: ChatServer, clock: SleepLog) -> None:
    server.replies = [Reply(body='data: {"error": {"message": "out of memory"}}\n\n')]
    response = await port(server, clock).stream(request(), lambda text: None)
    assert response["text"] == '{"a": 1}' and len(clock.slept) == 1


async def test_a_call_that_is_given_up_closes_its_connection(server: ChatServer, clock: SleepLog) -> None:
    model = port(server, clock)
    await model.complete(request())
    server.replies = [Reply(hang_s=30)]
    with pytest.raises(ModelTimeout):
        await model.complete(request(timeout_s=1.0))
    await asyncio.wait_for(server.abandoned.wait(), 60)


async def test_a_connection_is_kept_for_the_next_call_until_the_end(server: ChatServer, clock: SleepLog) -> None:
    model = port(server, clock)
    for _ in range(3):
        await model.complete(request())
    assert len(set(server.peers)) == 1
    await model.close()
    await model.complete(request())
    assert len(set(server.peers)) == 2, "a closed client opens another"
    await model.close()


async def test_a_connection_that_the_server_has_closed_meanwhile_is_no_failure(
    server: ChatServer, clock: SleepLog
) -> None:
    model = port(server, clock)
    server.replies = [Reply(headers={"Connection": "close"}, body='{"choices": [{"message": {"content": "1"}}]}')]
    assert [(await model.complete(request()))["text"] for _ in range(2)] == ["1", '{"a": 1}']
    assert len(set(server.peers)) == 2 and clock.slept == []


async def test_an_address_that_is_none_is_said_so_at_once(clock: SleepLog) -> None:
    with pytest.raises(ModelUnavailable, match="is no URL"):
        await port(ChatServer(base="not a url"), clock).complete(request())
    assert clock.slept == []


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_texts_that_end_an_answer_are_sent(server: ChatServer, clock: SleepLog, provider: str) -> None:
    await port(server, clock, provider).complete(request(stop=["\n```\n"]))
    assert server.requests[0]["stop"] == ["\n```\n"]


@pytest.mark.parametrize("streaming", [False, True])
async def test_the_price_of_a_known_model_is_counted(server: ChatServer, clock: SleepLog, streaming: bool) -> None:
    model = port(server, clock, "openai", model="openai/gpt-4o-mini")
    response = await (model.stream(request(), lambda text: None) if streaming else model.complete(request()))
    assert 0 < response["usage"]["cost_usd"] < 0.001


async def test_no_model_is_a_clear_error(clock: SleepLog) -> None:
    with pytest.raises(ModelUnavailable, match="no model is configured"):
        await ModelClient(clock=clock).complete(request(model=""))


async def test_the_operation_streams_only_to_somebody_who_watches(server: ChatServer, clock: SleepLog) -> None:
    told: list[tuple[str, Any]] = []

    class Scope:
        watched = False

        def progress(self, kind: str, data: Any) -> None:
            told.append((kind, data))

    scope: Any = Scope()
    plain = model_operation(port(server, clock))
    assert (plain.name, plain.effect) == ("model.complete", Effect.READ)
    assert plain.spends == ("model_calls", "tokens", "cost_usd")
    await plain.run(request(), scope)
    assert told == []
    scope.watched = True
    await plain.run(request(), scope)
    assert told[0] == ("model.delta", {"role": "planner", "text": "{"})


def test_importing_the_port_loads_neither_litellm_nor_its_like() -> None:
    heavy = ["litellm", "tiktoken", "jsonschema", "httpx", "openai", "aiohttp"]
    modules = ["model", "client", "scripted", "decisions", "recipes", "packer", "tokens"]
    imports = ", ".join(f"gateway.llm.{name}" for name in modules)
    code = f"import sys, {imports}; print([name for name in {heavy} if name in sys.modules])"
    root = Path(__file__).parents[3]
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=True)
    assert out.stdout.strip() == "[]"
