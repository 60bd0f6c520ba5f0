"""A tool is one function: `@tool` turns it into something that the Coordinator can offer, check and run.

    class Args(BaseModel):
        path: str = Field(description="file to read, relative to the workspace")

    @tool("file.read", effect=Effect.READ, deadline_s=10)
    async def file_read(args: Args, ctx: ToolContext) -> ToolResult:
        '''Read a file of the workspace.'''

The docstring's first paragraph is what models are told; the pydantic model is the schema of its arguments.
"""

from __future__ import annotations

import difflib
import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict

from gateway.engine.ports import Artifacts, Effect, Json, Reconciliation
from gateway.errors import ConfigError, ToolError


class ToolResult(BaseModel):
    """What a tool gives back.

    `text` is what a model or a person reads (data, never an order); `data` is what code reads: small, plain, and named
    in the tool's docstring. `ok` is False where the tool ran but did not reach its purpose (a failing test).
    """

    model_config = ConfigDict(extra="forbid")

    ok: bool = True
    text: str = ""
    data: dict[str, Json] = {}


@dataclass(frozen=True)
class ToolContext:
    """Where a tool runs. Paths are absolute; `settings` is the configuration as plain data."""

    workspace: Path
    home: Path
    artifacts: Artifacts
    session: str = "default"
    turn: int = 0
    now: float = 0.0
    settings: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class Situation:
    """What a tool may look at to narrow its own schema: the request, the goals, and this task's results so far.

    Each result is `{"tool", "args", "ok", "text", "data"}`, oldest first. In a TRY, `candidate` counts from 1.
    What candidates gave that were undone is not among `results`, but among `tried`. `earlier` are the results of the
    tasks before this one; `whole`: this task is all that the request asks for. `chosen` are arguments that have been
    chosen for this call already.
    """

    request: str
    goals: tuple[str, ...] = ()
    results: tuple[Mapping[str, Json], ...] = ()
    candidate: int = 0
    tried: tuple[Mapping[str, Json], ...] = ()
    earlier: tuple[Mapping[str, Json], ...] = ()
    whole: bool = True
    chosen: Mapping[str, Json] = field(default_factory=dict)

    @property
    def wanted(self) -> str:
        """What is to be done, in the user's words; where that is more than this task, in the Planner's."""
        return self.request if self.whole else "; ".join(self.goals)


Schema = dict[str, Any]
Run = Callable[[Any, ToolContext], Awaitable[ToolResult]]


@dataclass(frozen=True)
class Tool:
    """A registered tool. `effect` is a value, or a function of the parsed arguments."""

    name: str
    description: str
    args: type[BaseModel]
    run: Run
    effect: Effect | Callable[[Any], Effect]
    deadline_s: float = 30.0
    approve: bool = False
    narrow: Callable[[Schema, ToolContext, Situation], Schema] | None = None
    undo: Callable[[Any, ToolResult, ToolContext], Awaitable[None]] | None = None
    reconcile: Callable[[Any, ToolContext], Awaitable[Reconciliation]] | None = None

    def schema(self, ctx: ToolContext | None = None, situation: Situation | None = None) -> Schema:
        """JSON schema of the arguments; narrowed to what there is, where the situation is given."""
        schema: Schema = json.loads(_schema_of(self.args))  # a new one each time, since narrowing may change it
        if self.narrow is not None and ctx is not None and situation is not None:
            schema = self.narrow(schema, ctx, situation)
        return schema

    def effect_of(self, args: BaseModel) -> Effect:
        return self.effect if isinstance(self.effect, Effect) else self.effect(args)


@cache
def _schema_of(args: type[BaseModel]) -> str:
    """Kept as text: pydantic takes long to make it."""
    return json.dumps({"properties": {}, **args.model_json_schema(), "additionalProperties": False})


def tool(
    name: str,
    *,
    effect: Effect | Callable[[Any], Effect],
    deadline_s: float = 30.0,
    approve: bool = False,
    narrow: Callable[[Schema, ToolContext, Situation], Schema] | None = None,
    undo: Callable[[Any, ToolResult, ToolContext], Awaitable[None]] | None = None,
    reconcile: Callable[[Any, ToolContext], Awaitable[Reconciliation]] | None = None,
) -> Callable[[Run], Tool]:
    """Declare a tool: see the module's example."""

    def declare(run: Run) -> Tool:
        hints = get_type_hints(run)
        first = next(iter(inspect.signature(run).parameters))
        description = inspect.cleandoc(run.__doc__ or "").split("\n\n")[0].replace("\n", " ")
        if not description:
            raise ConfigError(f"tool {name} has no docstring: models are told what it does from there")
        return Tool(name, description, hints[first], run, effect, deadline_s, approve, narrow, undo, reconcile)

    return declare


class Registry:
    """The tools that there are, by name."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for each in tools:
            self.add(each)

    def add(self, new: Tool) -> None:
        if new.name in self._tools:
            raise ConfigError(f"two tools are called {new.name}")
        self._tools[new.name] = new

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._tools))

    def get(self, name: str) -> Tool:
        """The tool, or a ToolError that names the nearest known ones."""
        found = self._tools.get(name)
        if found is None:
            near = difflib.get_close_matches(name, self._tools, n=1)
            meant = f" Did you mean {near[0]}?" if near else ""
            raise ToolError(f"there is no tool {name!r}.{meant} Known tools: {', '.join(self.names())}")
        return found
