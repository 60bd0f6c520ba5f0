"""Tools as operations of a journal, for every kind of run that calls them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from gateway.engine.ports import Effect, Json, Operation, Reconciliation, Scope
from gateway.tools.child import Parent, child_operation
from gateway.tools.policy import Policy, Verdict
from gateway.tools.registry import Registry, Tool, ToolContext, ToolResult

MAX_TEXT = 200_000  # characters of a result's text, as much as of a program's output
MAX_DATA = 1_000_000  # characters of a result's data, as JSON

POLICY_S = 90.0  # where a tool looks at a phone for it

Told = Callable[[Scope], ToolContext]


def tool_operations(registry: Registry, told: Told, parent: Parent | None = None) -> Iterator[Operation]:
    """`tools.policy`, `tools.preview`, and `tool.<name>` for each tool; those that begin runs only for a `parent`.
    `told` says what tools are told about the run."""
    yield policy_operation(registry, told)
    yield preview_operation(registry, told)
    for tool in registry:
        if tool.child is None:
            yield tool_operation(tool, told)
        elif parent is not None:
            yield child_operation(tool, told, parent)


def context_of(
    scope: Scope, *, workspace: Path, home: Path, settings: Mapping[str, Json], session: str = "default", turn: int = 0
) -> ToolContext:
    """What a tool is told about the call `scope`; its progress goes to whoever watches the run."""
    loop = asyncio.get_running_loop()

    def progress(line: str) -> None:
        loop.call_soon_threadsafe(scope.progress, "tool.progress", {"line": line})

    return ToolContext(
        workspace=workspace,
        home=home,
        artifacts=scope.artifacts,
        session=session,
        turn=turn,
        now=scope.clock.now(),
        settings=settings,
        call=scope.call_id,
        progress=progress,
    )


def policy_operation(registry: Registry, told: Told) -> Operation:
    async def verdict(args: Json, scope: Scope) -> Json:
        """Whether a call may be made, "allow", "ask" or "deny": what its paths lead to decides, too."""
        tool = registry.get(args["tool"])
        parsed, context = tool.parse(args["args"]), told(scope)
        given = {**parsed.model_dump(mode="json"), **args["args"]}  # as they were given, where they were
        policy = Policy(context.settings.get("tools", {}))
        ruled = await asyncio.to_thread(policy.ruled, tool, given, context)
        general = policy.in_general(tool)
        if ruled is None and general is Verdict.ALLOW and tool.asks is not None and await tool.asks(parsed, context):
            general = Verdict.ASK
        return (general if general is Verdict.DENY else ruled or general).value

    return Operation("tools.policy", verdict, Effect.READ, deadline_s=POLICY_S)


def preview_operation(registry: Registry, told: Told) -> Operation:
    async def preview(args: Json, scope: Scope) -> Json:
        """What a call would do, where its arguments alone do not say it. Raises ToolError for one that could not be
        made at all: nobody need be asked about that."""
        tool = registry.get(args["tool"])
        parsed, context = tool.parse(args["args"]), told(scope)
        if tool.subject is not None:
            await asyncio.to_thread(tool.subject, parsed, context)
        return "" if tool.preview is None else await tool.preview(parsed, context)

    return Operation("tools.preview", preview, Effect.READ, deadline_s=30)


def tool_operation(tool: Tool, told: Told) -> Operation:
    """A call of it; its result is a `ToolResult` as plain data, of a bounded size."""

    async def run(args: Json, scope: Scope) -> Json:
        return _bounded(await tool.run(tool.parse(args), told(scope))).model_dump()

    reconcile = None
    if tool.reconcile is not None:
        look = tool.reconcile

        async def reconcile(args: Json, scope: Scope) -> Reconciliation:
            return await look(tool.args.model_validate(args), told(scope))

    effect = tool.effect if isinstance(tool.effect, Effect) else Effect.ONCE
    spends = dict.fromkeys(tool.spends, 1.0)
    charge = (lambda _: spends) if spends else None
    return Operation(f"tool.{tool.name}", run, effect, tool.deadline_s, reconcile, tool.spends, charge)


def _bounded(result: ToolResult) -> ToolResult:
    """A result of a size that can be kept, searched for secrets and shown again after every step."""
    text, data = result.text, result.data
    if len(text) > MAX_TEXT:
        text = f"{text[: MAX_TEXT // 2]}\n[… {len(text) - MAX_TEXT} characters cut …]\n{text[-MAX_TEXT // 2 :]}"
    size = len(json.dumps(data, default=str))
    if size > MAX_DATA:
        text, data = f"{text}\n[… its data, {size} characters, left out]", {}
    return result.model_copy(update={"text": text, "data": data})
