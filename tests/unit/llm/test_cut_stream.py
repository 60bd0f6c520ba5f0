"""A connection that ends in the middle of a stream, without a length that would tell."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gateway.engine.scripted import ScriptedClock
from gateway.errors import ModelUnavailable
from gateway.llm.client import ModelClient
from gateway.llm.endpoint import Endpoint

HEAD = "HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
PIECE = 'data: {"choices": [{"delta": {"content": "I have sav"}}]}\n\n'
LAST = 'data: {"choices": [{"delta": {"content": "ed it."}, "finish_reason": "stop"}]}\n\n'


async def streamed(*answers: str) -> tuple[Any, int]:
    """What is told of an answer whose server sends these, one for each connection; how often it was asked."""
    left = list(answers)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write((HEAD + left.pop(0)).encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    async def resolve(model: str) -> Endpoint:
        return Endpoint("hosted_vllm/any", f"http://127.0.0.1:{port}/v1", "key")

    client = ModelClient(resolve, clock=ScriptedClock())
    request = {"role": "responder", "model": "any", "messages": [{"role": "user", "content": "Hi"}], "timeout_s": 60}
    try:
        return await client.stream(request, lambda text: None), len(answers) - len(left)
    finally:
        await client.close()
        server.close()


@pytest.mark.parametrize("whole", [PIECE + LAST, PIECE + "data: [DONE]\n\n"])
async def test_half_an_answer_is_none_and_is_asked_for_again(whole: str) -> None:
    response, asked = await streamed(PIECE, whole)
    assert response["text"].startswith("I have sav") and asked == 2


async def test_a_server_that_never_ends_its_answer_cannot_be_used() -> None:
    with pytest.raises(ModelUnavailable, match="the stream ended in the middle"):
        await streamed(*[PIECE] * 10)
