"""A server from its first to its last moment: it listens, says where, and ends so that turns can be gone on with."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from echelon.server.app import Api, Say
from echelon.server.signals import end_asked
from echelon.server.users import Open, Users
from gateway import Gateway, Settings
from gateway.errors import UsageError

LEAVE_S = 2.0  # for turns to be left, once the server ends
CLOSE_S = 0.3  # for connections to be closed after that

Ready = Callable[[str, list[str]], None]


@asynccontextmanager
async def listening(settings: Settings, say: Say, open_gateway: Open = Gateway) -> AsyncIterator[tuple[str, Users]]:
    """A server at `settings.serve`, as its base URL and its users; at the end every turn is left to be resumed.

    Raises UsageError where it cannot listen there.
    """
    async with Users(settings, open_gateway) as users:
        api = Api(users, say)
        runner = web.AppRunner(api.app(), access_log=None, handler_cancellation=True, shutdown_timeout=CLOSE_S)
        await runner.setup()
        try:
            site = web.TCPSite(runner, settings.serve.host, settings.serve.port)
            try:
                await site.start()
            except OSError as error:
                raise unusable(settings, error) from error
            host, port = runner.addresses[0][:2]
            try:
                yield f"http://{f'[{host}]' if ':' in host else host}:{port}/v1", users
            finally:
                api.ending = True
                await site.stop()
                await _leave(users)
        finally:
            await runner.cleanup()


async def serve(settings: Settings, say: Say, ready: Ready) -> int:
    """Serve until SIGTERM or Ctrl-C; the exit code. `ready` is told the base URL and who has a token."""
    ended = end_asked()
    async with listening(settings, say) as (base, users):
        ready(base, users.names)
        code = await ended
    return code


async def _leave(users: Users) -> None:
    """Interrupt what is under way; who asked for it is told."""
    works = [work for talks in users.all() for work in talks.works()]
    for work in works:
        work.interrupt()
    if works:
        await asyncio.wait([work.task for work in works], timeout=LEAVE_S)
        await asyncio.sleep(0.05)  # so that their last words are sent before the connections are closed


def unusable(settings: Settings, error: OSError) -> UsageError:
    """Why it cannot listen at `settings.serve`, and what to do about that."""
    where = f"{settings.serve.host}:{settings.serve.port}"
    if error.errno == errno.EADDRINUSE:
        return UsageError(
            f"{where} is in use by another program", hint="choose another port with --port; 0 takes any free one"
        )
    return UsageError(f"cannot listen on {where}: {error.strerror or error}", hint="choose others: --host, --port")
