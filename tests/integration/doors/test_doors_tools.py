"""Tools that go wrong, and paths that lead out of the workspace, through each door."""

from __future__ import annotations

import asyncio

import pytest
from pydantic import BaseModel

from gateway.engine.ports import Effect
from gateway.tools.builtin.file import file_list, file_read, file_write
from gateway.tools.registry import Registry, ToolContext, ToolResult, tool

from .door import Door
from .house import House
from .stub import Stub, call, complete, done, plan

MEGABYTES = 50 << 20


class Args(BaseModel):
    pass


@tool("test.raise", effect=Effect.READ)
async def fail(args: Args, ctx: ToolContext) -> ToolResult:
    """Fail as no tool should."""
    raise ZeroDivisionError("as no tool should")


@tool("test.hang", effect=Effect.READ, deadline_s=0.05)
async def hang(args: Args, ctx: ToolContext) -> ToolResult:
    """Never end."""
    await asyncio.sleep(60)
    return ToolResult()


@tool("test.flood", effect=Effect.READ)
async def flood(args: Args, ctx: ToolContext) -> ToolResult:
    """Give far too much."""
    return ToolResult(text="first" + "x" * MEGABYTES + "last", data={"all": "y" * MEGABYTES})


@pytest.fixture(autouse=True)
def tools(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry((fail, hang, flood, file_list, file_read, file_write))
    monkeypatch.setattr("gateway.tools.discovery.builtin_registry", lambda home, *more: registry)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("test.raise", "ZeroDivisionError: as no tool should"),
        ("test.hang", "did not end within 0.05 s"),
        ("test.flood", "firstxxx"),
    ],
)
def test_a_tool_that_goes_wrong_is_a_result_and_the_turn_goes_on(
    door: Door, house: House, model: Stub, name: str, says: str
) -> None:
    model.answers = [plan(), call(name), done(), "I could not do it."]
    ended = door.ask("Do it")
    assert (ended.status, ended.response, ended.code) == ("complete", "I could not do it.", door.code(0, 200))
    assert says in str(model.asked[2]["messages"]) and len(str(model.asked[2])) < 50_000
    assert sum(path.stat().st_size for path in house.home.rglob("*") if path.is_file()) < 5_000_000
    model.answers = [complete()]
    assert door.ask("And now?").turn == 2


@pytest.mark.parametrize("name", ["file.read", "file.write"])
@pytest.mark.parametrize("path", ["../outside.txt", "{root}/outside.txt", "link/outside.txt"])
def test_no_path_leads_out_of_the_workspace(door: Door, house: House, model: Stub, name: str, path: str) -> None:
    outside = house.root / "outside.txt"
    outside.write_text("not yours")
    (house.workspace / "link").symlink_to(house.root)
    args = "{path: {{ '" + path.replace("{root}", str(house.root)) + "' }}, content: {{ 'mine' }}}"
    if name == "file.read":
        args = args.replace(", content: {{ 'mine' }}", "")
    house.own("prompts/patterns/out.md", f"---\ntask_type: out\ndescription: d\n---\n1. CALL {name} with {args}\n")
    model.answers = [plan("out"), "I could not do it."]
    ended = door.ask("Do it")
    assert ended.response == "I could not do it."
    assert outside.read_text() == "not yours" and "not yours" not in str(model.asked)
    assert "outside the workspace" in str(model.asked[-1]["messages"])
