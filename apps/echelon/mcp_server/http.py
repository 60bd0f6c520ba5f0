"""Serving many clients by streamable HTTP: each owner of a token the tools of a gateway of their own."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterator

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from echelon.mcp_server.server import ToolServer
from echelon.server.listening import CLOSE_S, Ready, unusable
from echelon.server.problem import Problem
from echelon.server.signals import end_asked
from echelon.server.talks import Talks
from echelon.server.users import Open, Users
from gateway import Gateway, Settings

PATH = "/mcp"

Make = Callable[[Gateway], ToolServer]


@contextlib.asynccontextmanager
async def listening(settings: Settings, make: Make, open_gateway: Open = Gateway) -> AsyncIterator[tuple[str, Users]]:
    """A server at `settings.serve`, as its URL and its users; at the end every turn is left to be resumed.

    Raises UsageError where it cannot listen there.
    """
    async with contextlib.AsyncExitStack() as stack:
        users = await stack.enter_async_context(Users(settings, open_gateway))
        listener = stack.enter_context(_bound(settings))
        tools = {talks: make(talks.gateway) for talks in users.all()}
        managers = {talks: StreamableHTTPSessionManager(each.protocol()) for talks, each in tools.items()}
        for manager in managers.values():
            await stack.enter_async_context(manager.run())
        config = uvicorn.Config(
            _App(users, managers), lifespan="off", ws="none", log_config=None, timeout_graceful_shutdown=1
        )
        server = _Uvicorn(config)
        serving = asyncio.create_task(server.serve([listener]))
        host, port = listener.getsockname()[:2]
        try:
            yield f"http://{f'[{host}]' if ':' in host else host}:{port}{PATH}", users
        finally:
            for each in tools.values():
                await each.works.leave()
            server.should_exit = True
            await asyncio.wait([serving], timeout=CLOSE_S)
            server.force_exit = True
            await asyncio.wait([serving])


async def serve(settings: Settings, make: Make, ready: Ready) -> int:
    """Serve until SIGTERM or Ctrl-C; the exit code. `ready` is told the URL and who has a token."""
    asked = end_asked()
    async with listening(settings, make) as (url, users):
        ready(url, users.names)
        return await asked


class _App:
    """Lets requests in, and gives each to its user's server: what one began, another does not find."""

    def __init__(self, users: Users, managers: dict[Talks, StreamableHTTPSessionManager]) -> None:
        self._users = users
        self._managers = managers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        try:
            if request.url.path != PATH:
                raise Problem(404, f"there is no {request.url.path} here, but {PATH}")
            manager = self._managers[self._users.of(request.headers)]
        except Problem as problem:
            await JSONResponse(problem.body(), problem.status, problem.headers)(scope, receive, send)
            return
        await manager.handle_request(scope, receive, send)


class _Uvicorn(uvicorn.Server):
    """Leaves signals to whoever runs it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.contextmanager
def _bound(settings: Settings) -> Iterator[socket.socket]:
    host, port = settings.serve.host, settings.serve.port
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        raise unusable(settings, error) from error
    with listener:
        yield listener
