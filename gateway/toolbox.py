"""The tools of a configuration: built-in ones, the user's own, those of MCP servers; and what is to be said of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from gateway.config import Settings
from gateway.errors import ToolError, UsageError
from gateway.redact import redactor
from gateway.tools.policy import Policy
from gateway.tools.registry import Registry, Tool

if TYPE_CHECKING:
    from gateway.tools.mcp.servers import Servers
    from gateway.turn.parts import Texts

PHONE = ("gateway.phone.tools.navigate", "gateway.phone.tools.acts")  # the modules that declare the phone's tools
LOOP = ("gateway.loop.tools.check",)


class Toolbox:
    """What turns of one home and configuration can call. `make` gives the tools that are no MCP server's; None: those
    that ship and the user's own."""

    def __init__(self, settings: Settings, make: Callable[[], Registry] | None = None) -> None:
        self._settings = settings
        self._make = make
        self._opened: Servers | None = None
        self._said = False  # what is wrong with the user's tools

    async def close(self) -> None:
        """End the connections to MCP servers."""
        if self._opened is not None:
            await self._opened.close()

    @cached_property
    def registry(self) -> Registry:
        """The tools that there are, without those of MCP servers."""
        if self._make is not None:
            return self._make()
        from gateway.tools.discovery import builtin_registry

        return builtin_registry(self._settings.home, *PHONE, *LOOP)

    async def all(self, name: str | None = None) -> tuple[Registry, list[str]]:
        """The tools that a turn which begins now has; and what is to be said about those that it has not: MCP servers
        that cannot be used, files whose tools cannot be loaded. Servers are asked where it is not known what they
        offer; where only the tool of that `name` is wanted, its server alone."""
        from gateway.turn.parts import PlainTexts

        offered, warnings = await self.offered(name)
        return self.pinned(PlainTexts(offered)), [*self.unsaid(), *warnings]

    async def offered(self, tool: str | None = None) -> tuple[dict[str, bytes], list[str]]:
        """What a run pins of the MCP servers, and what is to be said to the user."""
        if not self._settings.tools.mcp_servers or (tool is not None and not tool.startswith("mcp.")):
            return {}, []
        return await self._servers().pins(tool)

    def pinned(self, pins: Texts) -> Registry:
        """The tools of a run: the MCP servers' as they were when it began."""
        if not any(name.startswith("mcp/") for name in pins.names()):
            return self.registry
        return self._servers().registry(self.registry, pins)

    def find(self, registry: Registry, name: str, warnings: Sequence[str] = ()) -> Tool:
        """The tool of that name in what `all` gave. Raises UsageError, which says what may be the reason."""
        try:
            return registry.get(name)
        except ToolError as error:
            if label := self.unknown_server(name):
                raise UsageError(
                    f"there is no tool {name!r}: no MCP server `{label}` is configured",
                    hint=f"add tools.mcp_servers.{label}",
                ) from None
            raise UsageError("; ".join([*warnings, str(error)]), hint=error.hint) from None

    def unknown_server(self, tool: str) -> str | None:
        """The MCP server that a tool of that name would come from, where the configuration does not have it."""
        if not tool.startswith("mcp."):
            return None
        label = tool.split(".")[1]
        return None if not label or label in self.server_labels() else label

    def server_labels(self) -> list[str]:
        """What the tools of each configured MCP server have after `mcp.` in their names."""
        return self._servers().labels() if self._settings.tools.mcp_servers else []

    def unsaid(self) -> list[str]:
        """What is wrong with the user's own tools, and with what the configuration says about tools, once: of all that
        a command does, one thing says it."""
        said, self._said = self._said, True
        if said:
            return []
        policy = Policy(self._settings.public()["tools"])
        missing = [f"{each}; its tools are missing" for each in self.registry.left_out]
        return [*missing, *policy.misspelt(self.registry.names())]

    def _servers(self) -> Servers:
        if self._opened is None:
            from gateway.tools.mcp.servers import Servers

            configured = self._settings.tools.mcp_servers
            self._opened = Servers(configured, self._settings.home, redactor(self._settings, os.environ))
        return self._opened
