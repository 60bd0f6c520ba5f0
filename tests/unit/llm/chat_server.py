"""A chat completion server on loopback that answers each request with the next of the replies that a test queues."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass
class Reply:
    """What the server does with one request. `text` is a model's answer, `body` anything else; `hang_s` comes first."""

    text: str = '{"a": 1}'
    status: int = 200
    body: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    hang_s: float = 0.0
    finish_reason: str = "stop"
    cut: bool = False
    drip_s: float = 0.0


@dataclass
class ChatServer:
    base: str = ""
    replies: list[Reply] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    peers: list[int] = field(default_factory=list)  # the port of each request's client
    abandoned: asyncio.Event = field(default_factory=asyncio.Event)  # set when a client goes away in the middle

    async def handle(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        self.requests.append(asked)
        self.headers.append(dict(request.headers))
        self.peers.append(request.transport.get_extra_info("peername")[1] if request.transport else 0)
        reply = self.replies.pop(0) if self.replies else Reply()
        try:
            await asyncio.sleep(reply.hang_s)
        except asyncio.CancelledError:
            self.abandoned.set()
            raise
        if reply.cut:
            response = web.StreamResponse()
            response.content_length = 1000
            await response.prepare(request)
            await response.write(b'{"id":')
            assert request.transport is not None
            request.transport.close()
            return response
        if reply.body is not None or reply.status != 200:
            body = reply.body if reply.body is not None else json.dumps({"error": {"message": "no"}})
            return web.Response(text=body, status=reply.status, headers=reply.headers, content_type="application/json")
        if asked.get("stream"):
            return await self._stream(request, reply)
        message = {"role": "assistant", "content": reply.text}
        choice = {"index": 0, "finish_reason": reply.finish_reason, "message": message}
        return web.json_response({**envelope("chat.completion"), "choices": [choice], "usage": USAGE})

    async def _stream(self, request: web.Request, reply: Reply) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        deltas: list[tuple[dict[str, str], str | None]] = [({"content": letter}, None) for letter in reply.text]
        for delta, finish in [*deltas, ({}, reply.finish_reason)]:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            chunk = {**envelope("chat.completion.chunk"), "choices": [choice]}
            await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
            await asyncio.sleep(reply.drip_s)
        last = {**envelope("chat.completion.chunk"), "choices": [], "usage": USAGE}
        await response.write(f"data: {json.dumps(last)}\n\ndata: [DONE]\n\n".encode())
        return response


USAGE = {
    "prompt_tokens": 10,
    "completion_tokens": 3,
    "total_tokens": 13,
    "prompt_tokens_details": {"cached_tokens": 7},
}


def envelope(kind: str) -> dict[str, Any]:
    return {"id": "1", "object": kind, "created": 1, "model": "stub"}


@asynccontextmanager
async def chat_server() -> AsyncIterator[ChatServer]:
    server = ChatServer()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", server.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    server.base = f"http://127.0.0.1:{port}/v1"
    try:
        yield server
    finally:
        await runner.cleanup()
