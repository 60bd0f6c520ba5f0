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
import contextvars
import difflib
import inspect
import json
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from gateway.engine.ports import Artifacts, Effect, Json, Reconciliation
from gateway.errors import ConfigError, ToolError

if TYPE_CHECKING:
    from gateway.tools.child import Child


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

    `call` is the same for every try of one call, and another one for each call. `progress` tells whoever waits how far
    a long call is, in a line; it may be called from any thread.
    """

    workspace: Path
    home: Path
    artifacts: Artifacts
    session: str = "default"
    turn: int = 0
    now: float = 0.0
    settings: Mapping[str, Json] = field(default_factory=dict)
    call: str = ""
    progress: Callable[[str], None] = lambda line: None


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
    NETWORK = "network"
    PHONE = "phone"


STRANGERS = frozenset({Touches.NETWORK, Touches.PHONE})  # what comes from there was written by others


Schema = dict[str, Any]
Run = Callable[[Any, ToolContext], Awaitable[ToolResult]]
Subject = Callable[[Any, ToolContext], str]


@dataclass(frozen=True)
class Tool:
    """A registered tool. `effect` is a value, or a function of the parsed arguments.

    `ask`: a person is asked before each call, unless the configuration allows it. `subject` gives the text that the
    configuration's patterns are matched with; by default the first argument. It must be canonical: `./a` and `a` one.
    `preview` says what a call would do where its arguments alone do not: it is part of the question. `asks` looks
    whether a person has to be asked about this very call. `spends` are the counters to which each call adds one.
    `child`: each call is a run of its own (`gateway.tools.child`).
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
    preview: Callable[[Any, ToolContext], Awaitable[str]] | None = None
    narrow: Callable[[Schema, ToolContext, Situation], Schema] | None = None
    undo: Callable[[Any, ToolResult, ToolContext], Awaitable[None]] | None = None
    reconcile: Callable[[Any, ToolContext], Awaitable[Reconciliation]] | None = None
    spends: tuple[str, ...] = ()
    asks: Callable[[Any, ToolContext], Awaitable[bool]] | None = None
    child: Child | None = None

    @property
    def reads_strangers(self) -> bool:
        """Whether what it gives was written by others, who may want something of whoever reads it."""
        return not STRANGERS.isdisjoint(self.touches)

    def schema(self, ctx: ToolContext | None = None, situation: Situation | None = None) -> Schema:
        """JSON schema of the arguments; narrowed to what there is, where the situation is given."""
        schema: Schema = json.loads(_schema_of(self.args))  # a new one each time, since narrowing may change it
        if self.narrow is not None and ctx is not None and situation is not None:
            schema = self.narrow(schema, ctx, situation)
        return schema

    def parse(self, args: Mapping[str, Any]) -> BaseModel:
        """The arguments, checked. Raises ToolError, also for a name that there is not: what was meant by it would be
        silently left undone."""
        if self.args.model_config.get("extra") != "allow":  # else its own schema decides
            known = [field.alias or name for name, field in self.args.model_fields.items()]
            for name in args:
                if name not in known:
                    raise ToolError(f"{self.name} has no argument {name[:80]!r}; {_meant(name, known)}")
        try:
            return self.args.model_validate(args)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise ToolError(f"{self.name}: {place or 'arguments'}: {first['msg']}") from error

    def effect_of(self, args: BaseModel) -> Effect:
        return self.effect if isinstance(self.effect, Effect) else self.effect(args)


def _meant(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"did you mean {near[0]}?"
    return f"it has: {', '.join(known)}" if known else "it has none"


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
    preview: Callable[[Any, ToolContext], Awaitable[str]] | None = None,
    narrow: Callable[[Schema, ToolContext, Situation], Schema] | None = None,
    undo: Callable[[Any, ToolResult, ToolContext], Awaitable[None]] | None = None,
    reconcile: Callable[[Any, ToolContext], Awaitable[Reconciliation]] | None = None,
    spends: tuple[str, ...] = (),
    asks: Callable[[Any, ToolContext], Awaitable[bool]] | None = None,
) -> Callable[[Callable[..., Any]], Tool]:
    """Declare a tool: see the module's example.

    An `async` function can be stopped, at its deadline and where the user leaves. A plain one runs in a thread, which
    cannot: it is not waited for any longer, but goes on until it returns or the program ends.
    """

    def declare(run: Callable[..., Any]) -> Tool:
        description = inspect.cleandoc(run.__doc__ or "").split("\n\n")[0].replace("\n", " ")
        if not description:
            raise ConfigError(f"tool {name} has no docstring: models are told what it does from there")
        args, adapted = _adapted(name, run)
        declared = (effect, deadline_s, touches, ask, subject, preview, narrow, undo, reconcile, spends, asks)
        return Tool(name, description, args, adapted, *declared)

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
        return as_result(await in_thread(partial(run, **values)))

    return args, adapted


async def in_thread(run: Callable[[], Any]) -> Any:
    """What it gives, computed in a thread that the end of the program does not wait for, as it would for those of
    `asyncio.to_thread`."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, error: Exception | None) -> None:
        if done.done():  # nobody waits any more
            return
        if error is None:
            done.set_result(value)
        else:
            done.set_exception(error)

    def work() -> None:
        value: Any = None
        failed: Exception | None = None
        try:
            value = run()
        except StopIteration as error:  # a future does not take it
            failed = RuntimeError(repr(error))
        except Exception as error:
            failed = error
        except BaseException as error:  # `sys.exit` ends its tool only
            failed = RuntimeError(repr(error))
        with suppress(RuntimeError):  # the loop has been closed
            loop.call_soon_threadsafe(settle, value, failed)

    threading.Thread(target=contextvars.copy_context().run, args=(work,), name="tool", daemon=True).start()
    return await done


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
    """The tools that there are, by name; `left_out` says which could not be had, and why."""

    def __init__(self, tools: Iterable[Tool] = (), left_out: Sequence[str] = ()) -> None:
        self.left_out = list(left_out)
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
