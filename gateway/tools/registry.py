"""A tool is one function: `@tool` turns it into something that the Coordinator can offer, check and run.

    @tool("text.count", effect=Effect.READ)
    async def count(text: Annotated[str, "the text whose words are counted"], ctx: ToolContext) -> str:
        '''Count the words of a text.'''
        return f"{len(text.split())} words"

The docstring's first paragraph is what models are told; the parameters with their type hints are the schema of its
arguments. Where these need more than that (checks, narrowing), the first parameter is a pydantic model of them all. The
context is passed to the parameter of its type, if there is one. What is not a ToolResult becomes one (`as_result`).
"""

from __future__ import annotations

import asyncio
import difflib
import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

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
    """Where a tool runs. Paths are absolute; `settings` is the configuration as plain data.

    `call` is the same for every try of one call, and another one for each call.
    """

    workspace: Path
    home: Path
    artifacts: Artifacts
    session: str = "default"
    turn: int = 0
    now: float = 0.0
    settings: Mapping[str, Json] = field(default_factory=dict)
    call: str = ""


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


class Touches(StrEnum):
    """What a tool reads or changes."""

    WORKSPACE = "workspace"
    HOME = "home"
    PROGRAMS = "programs"  # starts them: they may touch whatever the user may
    NETWORK = "network"  # what comes from there was written by strangers


Schema = dict[str, Any]
Run = Callable[[Any, ToolContext], Awaitable[ToolResult]]
Subject = Callable[[Any, ToolContext], str]


@dataclass(frozen=True)
class Tool:
    """A registered tool. `effect` is a value, or a function of the parsed arguments.

    `ask`: a person is asked before each call, unless the configuration allows it. `subject` gives the text that the
    configuration's patterns are matched with; by default the first argument. It must be canonical: `./a` and `a` one.
    """

    name: str
    description: str
    args: type[BaseModel]
    run: Run
    effect: Effect | Callable[[Any], Effect]
    deadline_s: float = 30.0
    touches: tuple[Touches, ...] = ()
    ask: bool = False
    subject: Subject | None = None
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
    touches: tuple[Touches, ...] = (),
    ask: bool = False,
    subject: Subject | None = None,
    narrow: Callable[[Schema, ToolContext, Situation], Schema] | None = None,
    undo: Callable[[Any, ToolResult, ToolContext], Awaitable[None]] | None = None,
    reconcile: Callable[[Any, ToolContext], Awaitable[Reconciliation]] | None = None,
) -> Callable[[Callable[..., Any]], Tool]:
    """Declare a tool: see the module's example."""

    def declare(run: Callable[..., Any]) -> Tool:
        description = inspect.cleandoc(run.__doc__ or "").split("\n\n")[0].replace("\n", " ")
        if not description:
            raise ConfigError(f"tool {name} has no docstring: models are told what it does from there")
        args, adapted = _adapted(name, run)
        return Tool(
            name, description, args, adapted, effect, deadline_s, touches, ask, subject, narrow, undo, reconcile
        )

    return declare


def _adapted(name: str, run: Callable[..., Any]) -> tuple[type[BaseModel], Run]:
    """The model of the function's arguments, and the function with a tool's face."""
    hints = get_type_hints(run, include_extras=True)
    parameters = [
        each for each in inspect.signature(run).parameters.values() if hints.get(each.name) is not ToolContext
    ]
    context = next((each for each, hint in hints.items() if hint is ToolContext and each != "return"), None)
    first = hints.get(parameters[0].name) if parameters else None
    whole = isinstance(first, type) and issubclass(first, BaseModel)
    fields: dict[str, Any] = {}
    for each in () if whole else parameters:
        if each.name not in hints:
            raise ConfigError(f"tool {name}: its parameter {each.name} has no type hint, which its schema is made from")
        fields[each.name] = (_described(hints[each.name]), ... if each.default is each.empty else each.default)
    args: type[BaseModel] = first if whole else create_model("Arguments", **fields)  # type: ignore[assignment]

    async def adapted(given: BaseModel, ctx: ToolContext) -> ToolResult:
        values: dict[str, Any] = {key: getattr(given, key) for key in fields}
        if whole:
            values[parameters[0].name] = given
        if context is not None:
            values[context] = ctx
        if inspect.iscoroutinefunction(run):
            return as_result(await run(**values))
        return as_result(await asyncio.to_thread(run, **values))

    return args, adapted


def _described(hint: Any) -> Any:
    """`Annotated[str, "what it is"]` with the text as the field's description."""
    if get_origin(hint) is not Annotated:
        return hint
    base, *notes = get_args(hint)
    said = [Field(description=note) if isinstance(note, str) else note for note in notes]
    return Annotated[base, *said] if said else base


def as_result(value: Any) -> ToolResult:
    """A text is the result's text; other plain data is shown as JSON, and is `data` where it is a mapping."""
    if isinstance(value, ToolResult):
        return value
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    if isinstance(value, str) or value is None:
        return ToolResult(text=value or "done")
    text = json.dumps(value, ensure_ascii=False, indent=1, default=str)
    return ToolResult(text=text, data=json.loads(text) if isinstance(value, dict) else {})


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
