"""Serving one client on standard input and output, until it leaves."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
from mcp.server.stdio import stdio_server

from echelon.mcp_server.server import ToolServer
from echelon.server.signals import end_asked

LAST_WORDS_S = 0.05  # so that the answers of what was left are written


async def serve(tools: ToolServer) -> int:
    """Serve until standard input ends, SIGTERM or Ctrl-C; the exit code. Turns under way can be resumed.

    The thread that reads standard input is not waited for: the caller has to end the process.
    """
    asked = end_asked()
    talk = asyncio.create_task(_talk(tools))
    either: set[asyncio.Future[Any]] = {talk, asked}
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    await tools.works.leave()
    if talk.done():
        talk.result()
        return 0
    await asyncio.sleep(LAST_WORDS_S)
    return asked.result()


async def _talk(tools: ToolServer) -> None:
    server = tools.protocol()
    try:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())
    except* (BrokenPipeError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # nobody reads any more, which is as good as leaving
