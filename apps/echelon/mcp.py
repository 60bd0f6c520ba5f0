"""`echelon mcp`: the tools for MCP clients, until they leave or it is ended."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from echelon import options
from echelon.cli import Invocation
from echelon.terminal import put, say

if TYPE_CHECKING:
    from gateway import Settings

HOST, PORT = "127.0.0.1", 8701


@click.command(
    epilog="""\b
Examples:
  echelon mcp --workspace ~/projects/pager --print-config
  echelon mcp --only 'file.*' --only 'memory.*' --except file.write
  echelon mcp --only '*'
  echelon mcp --http --port 8701
  ECHELON_SERVE__TOKENS='{"ada": "a long random text"}' echelon mcp --http --host 0.0.0.0

\b
A client that starts servers itself has this in its configuration:
  {"mcpServers": {"echelon": {"command": "echelon", "args": ["mcp", "--workspace", "/home/ada/pager"]}}}
and one that is to reach a running server:
  {"mcpServers": {"echelon": {"type": "http", "url": "http://127.0.0.1:8701/mcp"}}}

\b
Exit codes: 0 the client has left, or ended by SIGTERM, 2 wrong usage or configuration, 130 ended by Ctrl-C.
"""
)
@click.option("--http", is_flag=True, help="Listen for clients, instead of speaking to the one that has started it.")
@click.option("--host", metavar="H", help=f"With --http; others than this machine need a token.  [default: {HOST}]")
@click.option(
    "--port", type=click.IntRange(0, 65535), metavar="P", help=f"With --http; 0 takes any free one.  [default: {PORT}]"
)
@click.option(
    "--only", metavar="GLOB", multiple=True, help="Only these tools; again for more.  [default: all but mcp.*]"
)
@click.option("--except", "besides", metavar="GLOB", multiple=True, help="Not these tools; again for more.")
@click.option("--session", metavar="S", default="mcp", show_default=True, help="The session that calls belong to.")
@click.option("--print-config", is_flag=True, help="Print what a client's configuration needs, and end.")
@options.model
@options.corpus_option
def mcp(
    http: bool,
    host: str | None,
    port: int | None,
    only: tuple[str, ...],
    besides: tuple[str, ...],
    session: str,
    print_config: bool,
    settings: Settings,
    corpus: Path | None,
) -> int:
    """Serve the tools to MCP clients, over standard input and output or HTTP.

    Each call is a turn: journaled, under the policy, shown by `echelon turns list`. What has to be approved is asked
    through the client, where it can ask; else the call fails and says which command answers. With a model configured
    there is also `echelon_run`, which carries out a whole request. Names have underscores: `file_read` is file.read.
    """
    from echelon.mcp_server.offer import Selection
    from gateway.errors import UsageError

    http = http or host is not None or port is not None
    where = {"host": host or HOST, "port": PORT if port is None else port}
    settings = options.with_corpus(settings, corpus)
    settings = settings.model_copy(update={"serve": settings.serve.model_copy(update=where)})
    if settings.workspace == Path(settings.workspace.anchor):
        raise UsageError(
            f"the workspace would be {settings.workspace}, all files of this machine",
            hint="name a folder with --workspace: clients start servers in whichever folder they are in",
        )
    if print_config:
        _warn_of_nothing(settings, Selection(only, besides))
        _print_config(settings, http)
        return 0
    if click.get_current_context().ensure_object(Invocation).verbose:
        import logging

        logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    return asyncio.run(_serve(settings, http, session, Selection(only, besides)))


async def _serve(settings: Settings, http: bool, session: str, selection: Any) -> int:
    from echelon.mcp_server.server import ToolServer
    from gateway import Gateway

    def make(gateway: Gateway) -> ToolServer:
        return ToolServer(gateway, session, selection, say)

    if http:
        from echelon.mcp_server import http as transport

        code = await transport.serve(settings, make, _ready)
    else:
        from echelon.mcp_server import stdio

        async with Gateway(settings) as gateway:
            tools = make(gateway)
            if sys.stdin.isatty():
                say("speaking MCP with standard input, for a client to start; --print-config shows how; Ctrl-C ends it")
            code = await stdio.serve(tools)
    sys.stderr.flush()
    os._exit(code)  # what threads still compute, or read, is not waited for: turns have been left already


def _ready(url: str, names: list[str]) -> None:
    say(f"serving {url} to {', '.join(names) if names else 'every program on this machine'}; Ctrl-C ends it")


def _warn_of_nothing(settings: Settings, selection: Any) -> None:
    """A configuration is printed all the same: the tools may be there where the server is started."""
    from contextlib import closing

    from echelon.mcp_server.offer import Offer
    from gateway import Gateway
    from gateway.errors import UsageError

    with closing(Gateway(settings)) as gateway:
        try:
            Offer(gateway, selection, say)
        except UsageError as error:
            say(f"warning: {error}: {error.hint}")


def _print_config(settings: Settings, http: bool) -> None:
    from echelon.mcp_server import snippet

    if http:
        found = snippet.reached_by_client(settings)
    else:
        found = snippet.started_by_client(settings, list(_given(click.get_current_context())))
    put(json.dumps(found, indent=2))


def _given(ctx: click.Context) -> Iterator[str]:
    """The options of the command line that hold for a server wherever it is started."""
    for option in ctx.command.params:
        name = str(option.name)
        if name in ("workspace", "print_config") or ctx.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        values = ctx.params[name] if option.multiple else [ctx.params[name]]
        for value in values:
            yield from (option.opts[0], str(value.absolute() if isinstance(value, Path) else value))
