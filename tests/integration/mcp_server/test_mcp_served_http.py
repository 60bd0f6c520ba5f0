"""The tools by streamable HTTP: who is let in, that users do not see each other, clients that vanish."""

from __future__ import annotations

import asyncio
import contextlib
import re
import signal
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from served_tools import LEGACY, MODERN, MODES, Person, Served, data, text, until

from echelon.mcp_server.http import listening
from echelon.mcp_server.offer import Selection
from echelon.mcp_server.server import ToolServer
from gateway import Gateway, Settings
from gateway.errors import UsageError

TOKENS = {"ada": "token-of-ada", "bob": "token-of-bob"}


@contextlib.asynccontextmanager
async def serving(served: Served, **settings: Any) -> AsyncIterator[str]:
    values = {"serve": {"port": 0, **settings.pop("serve", {})}, **settings}
    loaded = Settings.load(values, environ=served.environment, cwd=served.workspace)

    def make(gateway: Gateway) -> ToolServer:
        return ToolServer(gateway, "mcp", Selection(), served.said.append)

    async with listening(loaded, make) as (url, _):
        yield url


@contextlib.asynccontextmanager
async def client(url: str, mode: str, token: str = "", **more: Any) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        create_mcp_http_client(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, **more) as found,
    ):
        yield found


@pytest.mark.parametrize("mode", MODES)
async def test_tools_are_listed_and_called_and_questions_are_put(served: Served, mode: str) -> None:
    person, lines = Person(), list[str]()

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        lines.append(message or "")

    async with (
        serving(served, tools={"approve": ["memory.save"]}) as url,
        client(url, mode, elicitation_callback=person) as one,
    ):
        assert "file_list" in {tool.name for tool in (await one.list_tools()).tools}
        listed = await one.call_tool("file_list", {"glob": "*"}, progress_callback=progressed)
        saved = await one.call_tool("memory_save", {"text": "the boiler is new"})
    assert "total" in data(listed) and text(saved) == "remembered: the boiler is new"
    assert len(person.asked) == 1 and any("file.list" in line for line in lines)
    assert len(served.turns()) == 2


@pytest.mark.parametrize("mode", MODES)
async def test_each_owner_of_a_token_has_a_home(served: Served, mode: str) -> None:
    async with (
        serving(served, serve={"tokens": TOKENS}) as url,
        client(url, mode, TOKENS["ada"]) as ada,
        client(url, mode, TOKENS["bob"]) as bob,
    ):
        await asyncio.gather(
            ada.call_tool("memory_save", {"text": "the server is called heron"}),
            bob.call_tool("memory_save", {"text": "the server is called egret"}),
        )
        found = [text(await each.call_tool("memory_search", {"query": "server"})) for each in (ada, bob)]
    assert "heron" in found[0] and "egret" not in found[0]
    assert "egret" in found[1] and "heron" not in found[1]
    assert not any(token in line for token in TOKENS.values() for line in served.said)
    assert all((served.home / "users" / name / "echelon.db").exists() for name in TOKENS)


INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "evil.example"}, 403),
        ({"Host": "127.0.0.1.evil.example:8701"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Content-Type": "text/plain"}, 400),
    ],
)
async def test_web_pages_are_not_let_in(served: Served, headers: dict[str, str], status: int) -> None:
    async with serving(served) as url, httpx2.AsyncClient() as http:
        got = await http.post(url, json=INITIALIZE, headers=ACCEPT | headers)
        assert got.status_code == status
        assert (await http.post(f"{url}/x", json=INITIALIZE, headers=ACCEPT)).status_code == 404


async def test_what_one_user_began_another_does_not_find(served: Served) -> None:
    async with serving(served, serve={"tokens": TOKENS}) as url, httpx2.AsyncClient() as http:
        ada, bob = ({"Authorization": f"Bearer {token}"} for token in TOKENS.values())
        began = await http.post(url, json=INITIALIZE, headers=ACCEPT | ada)
        session = {"Mcp-Session-Id": began.headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-11-25"}
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        for user, status in ((ada, 200), (bob, 404), ({}, 401), ({"Authorization": "Bearer nope"}, 401)):
            assert (await http.post(url, json=ping, headers=ACCEPT | session | user)).status_code == status


async def test_a_call_whose_client_vanishes_is_left_or_goes_on(served: Served) -> None:
    """By the newer revision, going away cancels. By the older ones the call goes on: only the line may be broken."""
    slow = served.slow()
    async with serving(served) as url:
        for mode, status in ((MODERN, "stopped"), (LEGACY, "complete")):
            (served.workspace / "began").unlink(missing_ok=True)
            task = asyncio.create_task(_calls_and_waits(url, mode))
            await slow.began()
            task.cancel()
            await asyncio.wait([task])
            if mode == LEGACY:
                slow.let_go()
            await until(lambda status=status: served.turns()[-1][1] == status)  # type: ignore[misc]


async def _calls_and_waits(url: str, mode: str) -> None:
    """A client that says nothing when it goes."""
    headers = ACCEPT | {"MCP-Protocol-Version": mode if mode == MODERN else "2025-11-25"}
    params: dict[str, Any] = {"name": "test_run", "arguments": {}}
    async with httpx2.AsyncClient(timeout=60) as http:
        if mode == MODERN:
            headers |= {"Mcp-Method": "tools/call", "Mcp-Name": "test_run"}
            prefix = "io.modelcontextprotocol"
            params["_meta"] = {f"{prefix}/protocolVersion": MODERN, f"{prefix}/clientCapabilities": {}}
        else:
            began = await http.post(url, json=INITIALIZE, headers=ACCEPT)
            headers["Mcp-Session-Id"] = began.headers["Mcp-Session-Id"]
            ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            await http.post(url, json=ready, headers=headers)
        await http.post(
            url, json={"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}, headers=headers
        )


async def test_two_clients_at_once(served: Served) -> None:
    async with serving(served) as url, client(url, LEGACY) as one, client(url, MODERN) as two:
        calls = [each.call_tool("memory_save", {"text": f"fact {n}"}) for n, each in enumerate((one, two) * 5)]
        assert not any(result.is_error for result in await asyncio.gather(*calls))
    assert [status for _, status, _ in served.turns()] == ["complete"] * 10


async def test_a_port_that_is_taken_is_said(served: Served) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(UsageError, match="is in use"):
        async with serving(served, serve={"port": taken.getsockname()[1]}):
            pass


async def test_a_server_that_is_ended_leaves_what_is_under_way(served: Served, tmp_path: Path) -> None:
    slow = served.slow()
    process = served.start("--http", "--port", "0")
    assert process.stderr is not None
    found = re.match(r"serving (\S+) to every program on this machine", process.stderr.readline().decode())
    assert found is not None
    task = asyncio.create_task(_calls_and_waits(found[1], LEGACY))
    await slow.began()
    process.send_signal(signal.SIGTERM)
    assert await asyncio.to_thread(process.wait, 20) == 0
    await asyncio.wait([task])
    assert [turn[1] for turn in served.turns()] == ["stopped"]
