"""What is offered to an MCP client: the gateway's tools under names that every client takes, and a whole turn."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import mcp_types as types
from pydantic import BaseModel, ConfigDict, Field

from gateway import Gateway
from gateway.engine.ports import Effect
from gateway.errors import UsageError
from gateway.gateway import ROLES
from gateway.tools.policy import Policy
from gateway.tools.registry import Registry, Tool, ToolResult, Touches

RUN = "echelon_run"
LONGEST = 64  # characters of a name: some clients, and the model APIs behind them, take no more, and no dots
OTHERS = "mcp.*"  # the tools of other MCP servers


@dataclass(frozen=True)
class Selection:
    """Which tools, by patterns of the gateway's names (`file.*`).

    Without `only`, all but those of other MCP servers: a client can have these itself, under their own names, and a
    server that serves us ours would not end.
    """

    only: tuple[str, ...] = ()
    besides: tuple[str, ...] = ()

    def has(self, name: str) -> bool:
        wanted = _any(name, self.only) if self.only else not fnmatchcase(name, OTHERS)
        return wanted and not _any(name, self.besides)

    @property
    def others(self) -> bool:
        """Whether a tool of another MCP server can be among them: only then these are started."""
        starts = [re.split(r"[*?\[]", glob)[0] for glob in self.only]
        return any(start.startswith("mcp.") or "mcp.".startswith(start) for start in starts)


class RunArguments(BaseModel):
    model_config = ConfigDict(extra="forbid")

    request: str = Field(description="what is to be done, in plain language")


class Offer:
    """The tools that a client of one gateway may call; `say` is told of servers whose tools there are not now.

    Raises UsageError where there are none.
    """

    def __init__(self, gateway: Gateway, selection: Selection, say: Callable[[str], None]) -> None:
        self._gateway = gateway
        self._selection = selection
        self._say = say
        settings = gateway.settings
        self._policy = Policy(settings.public()["tools"])
        modelled = all(settings.model_for(role) for role in ROLES)  # type: ignore[arg-type]
        self._run = modelled and selection.has(RUN)
        self._others = bool(settings.tools.mcp_servers) and selection.others
        self._known = self._of(gateway.toolbox.registry)
        for each in gateway.toolbox.unsaid():
            say(each)
        if not (self._known or self._run or self._others):
            raise UsageError("no tool is left to serve", hint="see --only and --except, and `echelon tools list`")

    async def listed(self) -> list[types.Tool]:
        """As `tools/list` gives them, by name."""
        found = [_described(name, tool) for name, tool in (await self._tools()).items()]
        return found + ([_whole_turn()] if self._run else [])

    async def tool(self, name: str) -> str:
        """The gateway's name of an offered tool, or RUN. Raises KeyError, with what a client is told."""
        if name == RUN and self._run:
            return RUN
        tools = await self._tools()
        if name in tools:
            return tools[name].name
        near = difflib.get_close_matches(name, [*tools, *([RUN] if self._run else [])], n=1)
        raise KeyError(f"there is no tool {name!r} here" + (f"; did you mean {near[0]}?" if near else ""))

    def schema(self, name: str) -> dict[str, Any] | None:
        """The schema of an offered tool's arguments, as it was when the tools were last looked at; None for one that
        there is not."""
        if name == RUN:
            return RunArguments.model_json_schema()
        return self._known[name].schema() if name in self._known else None

    async def _tools(self) -> dict[str, Tool]:
        """By the names that clients call them by."""
        if self._others:
            registry, warnings = await self._gateway.toolbox.all()
            for warning in warnings:
                self._say(warning)
            self._known = self._of(registry)
        return self._known

    def _of(self, registry: Registry) -> dict[str, Tool]:
        chosen = {
            tool.name: tool
            for tool in registry
            if self._selection.has(tool.name) and not self._policy.denies(tool.name)
        }
        return {offered: chosen[name] for name, offered in offered_names(chosen).items()}


def offered_names(names: Iterable[str]) -> dict[str, str]:
    """Each tool's name for clients: `file_read` for `file.read`. All differ, are the same in every process with these
    tools, and consist of at most 64 letters, digits, underscores and dashes."""
    found: dict[str, str] = {}
    taken = {RUN}
    for name in sorted(names):
        plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)
        if len(plain) > LONGEST or plain in taken:
            mark = hashlib.sha256(name.encode()).hexdigest()[:8]
            plain = f"{plain[: LONGEST - len(mark) - 1]}_{mark}"
        taken.add(plain)
        found[name] = plain
    return found


def hints(tool: Tool) -> types.ToolAnnotations:
    """What clients are told about the effect: a hint by which they decide what to ask their user. One that depends on
    the arguments counts as ONCE, as it does after a crash."""
    effect = tool.effect if isinstance(tool.effect, Effect) else Effect.ONCE
    return types.ToolAnnotations(
        title=tool.name,
        read_only_hint=effect is Effect.READ,
        idempotent_hint=effect in (Effect.READ, Effect.IDEMPOTENT),
        # For an idempotent tool nothing is said: it may replace a file, or only add to a list.
        destructive_hint={Effect.READ: False, Effect.ONCE: True, Effect.CHILD: True}.get(effect),
        # A program may reach whatever the user may, and so may a phone.
        open_world_hint=not {Touches.NETWORK, Touches.PROGRAMS, Touches.PHONE}.isdisjoint(tool.touches),
    )


def _described(name: str, tool: Tool) -> types.Tool:
    return types.Tool(
        name=name,
        title=tool.name,
        description=tool.description,
        input_schema=tool.schema(),
        output_schema=ToolResult.model_json_schema(),
        annotations=hints(tool),
    )


def _whole_turn() -> types.Tool:
    return types.Tool(
        name=RUN,
        title="echelon run",
        description=(
            "Carry out a request in plain language: Echelon plans it, calls its own tools, and answers. "
            "It knows of the requests before. It takes longer than a single tool: seconds to minutes."
        ),
        input_schema=RunArguments.model_json_schema(),
        output_schema=ToolResult.model_json_schema(),
        annotations=types.ToolAnnotations(
            title="echelon run",
            read_only_hint=False,
            idempotent_hint=False,
            destructive_hint=True,
            open_world_hint=True,
        ),
    )


def _any(name: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)
