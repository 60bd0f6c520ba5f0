"""MCP servers at an address: real ones by the SDK over HTTP, and what else may answer there."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from mcp_house import House, until, words

from gateway.engine.state import Status

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def listening(answer: Answer, port: int = 0) -> AsyncIterator[int]:
    app = web.Application(client_max_size=1 << 26)

    async def answered(request: web.Request) -> web.StreamResponse:
        return await answer(request)

    app.router.add_route("*", "/mcp", answered)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


class Site:
    """A server of the older protocol, with sessions; `trouble` answers calls, where it is given."""

    def __init__(self, trouble: Answer | None = None, token: str = "") -> None:
        self.trouble = trouble
        self.token = token
        self.calls = 0
        self.sessions: set[str] = set()

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        if self.token and request.headers.get("authorization") != f"Bearer {self.token}":
            return web.Response(status=401, text="who are you?")
        if request.method != "POST":
            return web.Response(status=405)
        message = await request.json()
        method = message["method"]
        if method == "initialize":
            self.sessions.add(session := f"s{len(self.sessions)}-{id(self)}")
            result = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "s", "version": "1"},
            }
            return self.result(message, result, {"mcp-session-id": session})
        if method == "server/discover":
            return web.json_response(
                {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}
            )
        if request.headers.get("mcp-session-id") not in self.sessions:
            return web.Response(status=404)
        if "id" not in message:
            return web.Response(status=202)
        schema = {"type": "object", "properties": {"text": {"type": "string"}}}
        if method == "tools/list":
            read = {"name": "say", "inputSchema": schema, "annotations": {"readOnlyHint": True}}
            return self.result(message, {"tools": [read, {"name": "spend", "inputSchema": schema}]})
        self.calls += 1
        if self.trouble is not None:
            return await self.trouble(request)
        text = f"{message['params']['name']}: {message['params']['arguments'].get('text')}"
        return self.result(message, {"content": [{"type": "text", "text": text}]})

    def result(self, message: Any, result: Any, headers: dict[str, str] | None = None) -> web.Response:
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": result}, headers=headers)


def at(port: int, **more: Any) -> dict[str, Any]:
    return {"url": f"http://127.0.0.1:{port}/mcp", **more}


async def test_a_server_that_asks_for_a_token_is_called_with_it_and_the_token_reaches_no_file(house: House) -> None:
    token = "a-token-for-this-server"
    async with listening(Site(token=token)) as port:
        async with house.open(web=at(port, headers={"Authorization": f"Bearer {token}"})) as gateway:
            turn = await house.call(gateway, "mcp.web.say", text="hello")
            assert (turn.status, turn.response) == (Status.COMPLETE, "say: hello")
        files = [path for path in house.home.rglob("*") if path.is_file()]
        assert [path for path in files if token.encode() in path.read_bytes()] == []


async def test_without_the_token_it_is_said_what_is_missing(house: House) -> None:
    async with listening(Site(token="x")) as port, house.open(web=at(port)) as gateway:
        _, [warning] = await gateway.toolbox.all()
    assert "it refuses us (HTTP 401)" in warning and "headers" in warning


async def test_an_address_where_nobody_listens_is_told_without_its_secrets(house: House) -> None:
    async with listening(Site()) as port:
        pass
    async with house.open(web={"url": f"http://ada:wordpass@127.0.0.1:{port}/mcp?key=topsecret"}) as gateway:
        _, [warning] = await gateway.toolbox.all()
    assert f"it cannot be reached: Connection refused (http://127.0.0.1:{port}/mcp)" in warning
    assert "wordpass" not in warning and "topsecret" not in warning


async def test_a_server_that_is_down_is_told_and_used_once_it_is_up(house: House) -> None:
    async with listening(Site()) as port:
        pass
    async with house.open(web=at(port)) as gateway:
        _, [warning] = await gateway.toolbox.all()
        assert "cannot be reached" in warning

        async def is_up() -> bool:
            return "mcp.web.say" in (await gateway.toolbox.all())[0]

        async with listening(Site(), port):
            await until(is_up)
            assert (await house.call(gateway, "mcp.web.spend", text="x")).response == "spend: x"


async def test_a_server_that_began_anew_between_two_calls_is_connected_to_again(house: House) -> None:
    async with contextlib.AsyncExitStack() as first:
        port = await first.enter_async_context(listening(Site()))
        async with house.open(web=at(port)) as gateway:
            assert (await house.call(gateway, "mcp.web.spend", text="1")).response == "spend: 1"
            await first.aclose()
            turn = await house.call(gateway, "mcp.web.spend", text="2")  # nobody is there: nothing is in doubt
            assert "cannot be reached" in turn.response
            async with listening(Site(), port):
                assert (await house.call(gateway, "mcp.web.spend", text="3")).response == "spend: 3"


async def test_a_forgotten_session_costs_nothing_also_where_the_call_changes_something(house: House) -> None:
    site = Site()
    async with listening(site) as port, house.open(web=at(port)) as gateway:
        await house.call(gateway, "mcp.web.spend", text="1")
        site.sessions = {"another"}
        assert (await house.call(gateway, "mcp.web.spend", text="2")).response == "spend: 2"
    assert site.calls == 2


async def page(request: web.Request) -> web.StreamResponse:
    return web.Response(text="<h1>Please sign in</h1>", content_type="text/html")


async def broken_json(request: web.Request) -> web.StreamResponse:
    return web.Response(text="{", content_type="application/json")


async def failing(request: web.Request) -> web.StreamResponse:
    return web.Response(status=502, text="bad gateway")


async def large(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "application/json"})
    await response.prepare(request)
    with contextlib.suppress(ConnectionError):
        for _ in range(100):
            await response.write(b" " * (1 << 20))
    return response


async def bomb(request: web.Request) -> web.StreamResponse:
    body = gzip.compress(b" " * (1 << 26))
    return web.Response(body=body, content_type="application/json", headers={"content-encoding": "gzip"})


async def cut(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.close()
    return web.Response()


WRONG = {
    page: "Unexpected content type: text/html",
    broken_json: "cannot be read",
    failing: "HTTP 502",
    large: "more than 16 MB",
    bomb: "compressed",
    cut: "lost in the middle",
}


@pytest.mark.parametrize(("trouble", "said"), WRONG.items(), ids=[each.__name__ for each in WRONG])
async def test_a_wrong_answer_to_a_read_is_a_tool_error_and_to_anything_else_a_doubt(
    house: House, trouble: Answer, said: str
) -> None:
    site = Site(trouble)
    async with listening(site) as port, house.open(web=at(port)) as gateway:
        assert said in words(await house.call(gateway, "mcp.web.say", text="x"))
        calls = site.calls
        turn = await house.call(gateway, "mcp.web.spend", text="x")
        assert turn.status is Status.WAITING and site.calls == calls + 1
        site.trouble = None
        assert (await house.call(gateway, "mcp.web.say", text="well")).response == "say: well"


@pytest.mark.parametrize("answer", [page, broken_json, failing, large, bomb, cut], ids=lambda each: each.__name__)
async def test_an_address_with_no_mcp_server_is_told(house: House, answer: Answer) -> None:
    async with listening(answer) as port, house.open(web=at(port)) as gateway:
        registry, [warning] = await gateway.toolbox.all()
    assert list(registry) == [] and "the MCP server web cannot be used: " in warning


async def test_a_server_that_is_silent_is_a_tool_error_after_its_deadline(house: House) -> None:
    forever = asyncio.Event()

    async def silent(request: web.Request) -> web.StreamResponse:
        await forever.wait()
        return web.Response()

    async with listening(Site(silent)) as port, house.open(web=at(port, deadline_s=0.3)) as gateway:
        assert "did not answer within 0.3 s" in words(await house.call(gateway, "mcp.web.say", text="x"))


async def test_an_event_stream_with_news_is_read_until_the_answer(house: House) -> None:
    async def events(request: web.Request) -> web.StreamResponse:
        message = await request.json()
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        news = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}
        result = {"jsonrpc": "2.0", "id": message["id"], "result": {"content": [{"type": "text", "text": "read"}]}}
        for each in (news, news, result):
            await response.write(f"event: message\ndata: {json.dumps(each)}\n\n".encode())
        return response

    async with listening(Site(events)) as port, house.open(web=at(port)) as gateway:
        assert (await house.call(gateway, "mcp.web.say", text="x")).response == "read"
