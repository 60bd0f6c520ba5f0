"""What operations make of tools: questions that a look decides, counters, tools that begin runs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gateway.engine.artifacts import MemoryArtifacts
from gateway.engine.ports import Effect, Operation, Scope
from gateway.engine.scripted import Recorder, ScriptedClock
from gateway.errors import ConfigError
from gateway.tools.approval import approval
from gateway.tools.child import Caller, ChildEnd, ChildRun, child_tool
from gateway.tools.operations import context_of, tool_operations
from gateway.tools.registry import Registry, ToolContext, ToolResult, tool


async def is_sharp(args: Any, ctx: ToolContext) -> bool:
    return str(args.what) == "knife"


@tool("kitchen.take", effect=Effect.ONCE, asks=is_sharp, spends=("hands",))
async def take(what: str) -> str:
    """Take something."""
    return what


def operations(tmp_path: Path, **tools: Any) -> dict[str, Operation]:
    def told(scope: Scope) -> ToolContext:
        return context_of(scope, workspace=tmp_path, home=tmp_path, settings={"tools": tools})

    return {each.name: each for each in tool_operations(Registry([take]), told)}


def called(operation: Operation, args: Any) -> Any:
    async def run() -> Any:
        return await operation.run(args, Scope("r", "c", {}, MemoryArtifacts(), ScriptedClock(), Recorder().progress))

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("what", "policy", "verdict"),
    [
        ("spoon", {}, "allow"),
        ("knife", {}, "ask"),
        ("knife", {"kitchen.*": {"allow": ["knife"]}}, "allow"),
        ("spoon", {"kitchen.*": {"ask": ["spoon"]}}, "ask"),
        ("knife", {"kitchen.*": {"deny": ["knife"]}}, "deny"),
    ],
)
def test_a_tool_that_looks_first_is_asked_about_unless_a_pattern_has_settled_it(
    tmp_path: Path, what: str, policy: Any, verdict: str
) -> None:
    asked = {"tool": "kitchen.take", "args": {"what": what}}
    assert called(operations(tmp_path, policy=policy)["tools.policy"], asked) == verdict


def test_a_call_adds_to_the_counters_that_the_tool_names(tmp_path: Path) -> None:
    operation = operations(tmp_path)["tool.kitchen.take"]
    assert operation.spends == ("hands",) and operation.charge is not None
    assert operation.charge(called(operation, {"what": "spoon"})) == {"hands": 1}


async def ended(end: ChildEnd, ctx: ToolContext) -> ToolResult:
    return ToolResult()


def test_a_tool_that_begins_runs_declares_its_arguments_and_what_it_does() -> None:
    async def begin(args: str, ctx: ToolContext, caller: Caller) -> ChildRun:
        """Begin."""
        raise AssertionError("not called")

    with pytest.raises(ConfigError, match="needs a docstring, and a pydantic model"):
        child_tool("kitchen.party", ended=ended)(begin)  # type: ignore[arg-type]


def test_a_question_shows_long_arguments_below_their_names() -> None:
    assert approval("a.b", {"x": 1}) == 'Run a.b {"x": 1}?'
    assert approval("a.b", {"text": "one\n" * 60}).startswith("Run a.b with these arguments?\ntext:\n  one\n  one")
