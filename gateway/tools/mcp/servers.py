"""The MCP servers of a configuration, and their tools as a run knows them: those that it began with."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

from gateway.config import McpServer
from gateway.engine.ports import Json
from gateway.errors import ToolError
from gateway.tools.mcp.connection import START_S
from gateway.tools.mcp.declared import Declaration, Declared, fitting, tool_of
from gateway.tools.mcp.result import result_of
from gateway.tools.mcp.server import Server
from gateway.tools.registry import Registry, Tool, ToolContext, ToolResult

PIN = "mcp/"  # begins the names under which a run pins what the servers offer
MAX_LABEL = 32


class Texts(Protocol):
    """Texts by name: what a run has pinned, or is about to."""

    def names(self) -> list[str]: ...

    def text(self, name: str) -> str: ...


class Servers:
    """Nothing is started before it is needed. `close` leaves no process behind."""

    def __init__(
        self, configured: Mapping[str, McpServer], home: Path, redact: Callable[[str], str] = lambda text: text
    ) -> None:
        self._servers: dict[str, Server] = {}
        labels: set[str] = set()
        for name in sorted(configured, key=lambda name: (fitting(name) != name, name)):
            label = fitting(name, labels, MAX_LABEL)
            labels.add(label)
            self._servers[name] = Server(name, label, configured[name], home / "mcp", redact)

    def labels(self) -> list[str]:
        """What tools' names have after `mcp.`, for each server."""
        return [each.label for each in self._servers.values()]

    async def pins(self, tool: str | None = None) -> tuple[dict[str, bytes], list[str]]:
        """What a run pins, by name; and what is to be said to the user: servers that cannot be used, tools that are
        left out. Where a run is for one `tool` only, what its server offers.
        """
        wanted = [each for each in self._servers.values() if tool is None or tool.startswith(f"mcp.{each.label}.")]
        found = await asyncio.gather(*(self._declared(each) for each in wanted))
        pins: dict[str, bytes] = {}
        warnings: list[str] = []
        for server, declared in zip(wanted, found, strict=True):
            if isinstance(declared, ToolError):
                hint = f" ({declared.hint})" if declared.hint else ""
                warnings.append(f"{declared}: its tools are missing{hint}")
                continue
            pins[f"{PIN}{server.label}.json"] = declared.text().encode()
            warnings += [f"mcp.{server.label}: a tool is left out: {each}" for each in declared.left_out]
        return pins, warnings

    async def ask(self, name: str) -> Declared:
        """What the server of that name offers, by its own word now. Raises ToolError."""
        return await self._servers[name].ask()

    async def close(self) -> None:
        await asyncio.gather(*(each.close() for each in self._servers.values()))

    def registry(self, base: Registry, pinned: Texts) -> Registry:
        """The tools of a run: `base`, and those that its servers offered when it began."""
        names = [name for name in pinned.names() if name.startswith(PIN)]
        if not names:
            return base
        theirs = (tool for name in names for tool in self._tools(pinned.text(name)))
        return Registry([*base, *(tool for tool in theirs if tool.name not in base)], base.left_out)

    def _tools(self, text: str) -> Iterator[Tool]:
        declared = Declared.model_validate_json(text)
        server = self._servers.get(declared.server)

        async def call(declaration: Declaration, args: Mapping[str, Json], ctx: ToolContext) -> ToolResult:
            if server is None:
                raise ToolError(
                    f"the MCP server {declared.server} is not in the configuration any more",
                    hint=f"add tools.mcp_servers.{declared.server}",
                )
            sent = json.loads(json.dumps(args, ensure_ascii=False).encode("utf-8", "replace"))
            result = await server.call(declaration, sent)
            return await asyncio.to_thread(result_of, result, ctx.artifacts)

        deadline_s = START_S + (server.config.deadline_s if server is not None else 0)
        return (tool_of(each, call, deadline_s) for each in declared.tools)

    async def _declared(self, server: Server) -> Declared | ToolError:
        try:
            return await server.declared()
        except ToolError as error:
            return error
