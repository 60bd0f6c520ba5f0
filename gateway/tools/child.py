"""A tool whose call is a run of its own: resumed where its caller is, asked about through it, paid from its budgets.

@child_tool("phone.navigate", ended=told)
async def navigate(args: Task, ctx: ToolContext, caller: Caller) -> ChildRun:
    '''Do a task on the phone.'''
    return ChildRun("phone", context, state, title=args.task, limits={"steps": 50}, pins={})
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, get_type_hints

from pydantic import BaseModel

from gateway.engine import budget
from gateway.engine.ports import Effect, Json, Operation, Scope
from gateway.engine.state import RunState
from gateway.errors import ConfigError, ToolError
from gateway.tools.registry import Schema, Situation, Subject, Tool, ToolContext, ToolResult, Touches

USED = "used"


@dataclass(frozen=True)
class ChildRun:
    """The run that a call begins: the kind, what it is given, its own limits by counter, and what it pins."""

    graph: str
    context: BaseModel
    data: BaseModel
    title: str
    limits: Mapping[str, float | None]
    pins: Mapping[str, bytes]
    session: str | None = None
    """Where runs of its kind follow each other in sessions: the one that it belongs to."""


@dataclass(frozen=True)
class Caller:
    """Who begins it. `run_id` is the new run's own; `folder` is where the caller keeps documents, `pins` what it has
    pinned; `strangers`: it has read what others wrote, which may be what asks for this; `assume_yes`: approve what
    would be asked."""

    run_id: str
    folder: Path
    pins: Mapping[str, bytes]
    strangers: bool = False
    assume_yes: bool = False


@dataclass(frozen=True)
class ChildEnd:
    """How it ended; `hint` is what whoever failed it said could be done."""

    caller: Caller
    state: RunState
    hint: str = ""


Begin = Callable[[Any, ToolContext, Caller], Awaitable[ChildRun]]
Ended = Callable[[ChildEnd, ToolContext], Awaitable[ToolResult]]


@dataclass(frozen=True)
class Child:
    """How arguments become a run, and its end a result. `begin` is asked again when the run is resumed, and `ended`
    only once it has ended: complete, failed or stopped."""

    begin: Begin
    ended: Ended


class Runs(Protocol):
    """Where runs are, as `gateway.engine.runs.Runs`."""

    async def child(
        self,
        scope: Scope,
        graph: str,
        context: BaseModel,
        data: BaseModel,
        *,
        title: str,
        limits: Mapping[str, float | None],
        pins: Mapping[str, bytes],
        session: str | None = None,
    ) -> RunState: ...

    def hint(self, run_id: str) -> str: ...


@dataclass(frozen=True)
class Parent:
    """What a run gives those that its calls begin."""

    runs: Runs
    folder: Path
    pins: Callable[[], Mapping[str, bytes]]
    assume_yes: bool = False


def child_tool(
    name: str,
    *,
    ended: Ended,
    touches: tuple[Touches, ...] = (),
    ask: bool = False,
    subject: Subject | None = None,
    narrow: Callable[[Schema, ToolContext, Situation], Schema] | None = None,
) -> Callable[[Begin], Tool]:
    """Declare a tool that begins a run: see the module's example."""

    def declare(begin: Begin) -> Tool:
        description = inspect.cleandoc(begin.__doc__ or "").split("\n\n")[0].replace("\n", " ")
        args = next(iter(get_type_hints(begin).values()), None)
        if not description or not (isinstance(args, type) and issubclass(args, BaseModel)):
            raise ConfigError(
                f"tool {name} needs a docstring, and a pydantic model of its arguments as first parameter"
            )

        async def run(args: Any, ctx: ToolContext) -> ToolResult:
            raise ToolError(f"{name} is a run of its own, which only a run can begin")

        child = Child(begin, ended)
        rules = {"touches": touches, "ask": ask, "subject": subject, "narrow": narrow}
        return Tool(name, description, args, run, Effect.CHILD, **rules, child=child)  # type: ignore[arg-type]

    return declare


def child_args(args: Mapping[str, Json], *, strangers: bool) -> Json:
    """What the operation of such a tool is given."""
    return {"args": args, "strangers": strangers}


def child_operation(tool: Tool, told: Callable[[Scope], ToolContext], parent: Parent) -> Operation:
    """Its result is a tool's, with what the run has `used`, which the caller is charged."""
    child = tool.child
    assert child is not None

    async def run(given: Json, scope: Scope) -> Json:
        ctx = told(scope)
        assume_yes = parent.assume_yes and not given["strangers"]
        caller = Caller(scope.child_id, parent.folder, parent.pins(), given["strangers"], assume_yes)
        new = await child.begin(tool.parse(given["args"]), ctx, caller)
        state = await parent.runs.child(
            scope,
            new.graph,
            new.context,
            new.data,
            title=new.title,
            limits=new.limits,
            pins=new.pins,
            session=new.session,
        )
        hint = parent.runs.hint(scope.child_id) if state.error is not None else ""
        result = await child.ended(ChildEnd(caller, state, hint), ctx)
        return {**result.model_dump(), USED: budget.shared(state.counters)}

    return Operation(f"tool.{tool.name}", run, Effect.CHILD, charge=lambda result: result[USED])
