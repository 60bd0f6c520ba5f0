"""The tools as the SDK's client sees them: listed, called, journaled, under the policy."""

from __future__ import annotations

import asyncio
import json
import re
import sys

import jsonschema
import pytest
from mcp.shared.exceptions import MCPError
from served_tools import LEGACY, MODERN, MODES, Served, data, gone, text

from gateway import Settings


@pytest.mark.parametrize("mode", MODES)
async def test_tools_are_listed_with_what_they_do_and_called(served: Served, mode: str) -> None:
    async with served.client(mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        written = await client.call_tool("file_write", {"path": "a.txt", "content": "one\n"})
        listed = await client.call_tool("file_list", {"glob": "*.txt"})
        saved = await client.call_tool("memory_save", {"text": "the deploy server is called heron"})
        found = await client.call_tool("memory_search", {"query": "deploy server"})
        missing = await client.call_tool("file_read", {"path": "b.txt"})
    for name, tool in tools.items():
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) and tool.description and tool.annotations is not None
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        assert tool.input_schema["type"] == "object"
    reading, writing = tools["file_read"].annotations, tools["file_write"].annotations
    assert reading is not None and reading.read_only_hint and reading.title == "file.read"
    assert writing is not None and writing.idempotent_hint and not writing.read_only_hint
    assert "echelon_run" not in tools  # there is no model
    assert (served.workspace / "a.txt").read_text() == "one\n" and not written.is_error
    assert data(listed) == {"files": ["a.txt"], "total": 1} and "a.txt" in text(listed)
    assert "heron" in text(saved) and "heron" in text(found)
    assert missing.is_error and "there is no file b.txt" in text(missing)
    assert [turn[:2] for turn in served.turns()] == [("mcp", "complete")] * 4 + [("mcp", "failed")]
    assert served.turns()[1][2] == 'file.list {"glob": "*.txt"}'


@pytest.mark.parametrize("mode", MODES)
async def test_what_cannot_be_called_is_said_and_leaves_no_turn(served: Served, mode: str) -> None:
    served.environment["ECHELON_TOOLS__DENY"] = '["memory.*"]'
    async with served.inside(mode) as client:
        with pytest.raises(MCPError, match="did you mean file_read"):
            await client.call_tool("file_raed", {})
        with pytest.raises(MCPError, match="there is no tool 'memory_save'"):
            await client.call_tool("memory_save", {"text": "x"})
        wrong = await client.call_tool("file_read", {})
        other = await client.call_tool("file_read", {"path": 3})
    assert wrong.is_error and "file.read: path: Field required" in text(wrong)
    assert other.is_error and "path" in text(other)
    assert served.turns() == []


async def test_only_some_tools_are_served(served: Served) -> None:
    options = ("--only", "file.*", "--only", "memory.search", "--except", "file.write", "--session", "desk")
    async with served.client(MODERN, *options) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        await client.call_tool("file_list", {})
    assert {"file_read", "memory_search"} <= names and not names & {"file_write", "memory_save"}
    assert [session for session, _, _ in served.turns()] == ["desk"]


async def test_a_whole_turn_tells_its_progress_and_its_answer(served: Served) -> None:
    decisions = [
        {"action": "EXECUTE", "task_type": "memory_op", "goals": ["save it"]},
        {"action": "CALL_TOOL", "tool": {"name": "memory.save", "args": {}}},
    ]
    script = [{"answer": {"decision": {"reasoning": "because", **each}}} for each in decisions]
    (served.workspace / "model.yaml").write_text(json.dumps([*script, {"answer": "I have saved that."}]))
    lines: list[tuple[float, str]] = []

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        lines.append((progress, message or ""))

    async with served.client(LEGACY, "--model", "scripted:model.yaml") as client:
        ran = await client.call_tool("echelon_run", {"request": "Remember the heron"}, progress_callback=progressed)
        wrong = await client.call_tool("echelon_run", {})
    assert not ran.is_error and text(ran).startswith("I have saved that.")
    assert data(ran)["session"] == "mcp" and data(ran)["turn"] == 1
    assert any(line.startswith("Plan: EXECUTE memory_op") for _, line in lines)
    assert any("✓ memory.save" in line for _, line in lines)
    assert [number for number, _ in lines] == list(range(1, len(lines) + 1))
    assert wrong.is_error and "request" in text(wrong)


async def test_a_long_call_holds_up_no_other(served: Served) -> None:
    slow = served.slow()
    async with served.client(LEGACY) as client, served.client(MODERN) as other:
        await client.list_tools()  # which the SDK would do between two calls
        running = asyncio.create_task(client.call_tool("test_run", {}))
        await slow.began()
        assert not (await client.call_tool("file_list", {})).is_error
        assert not (await other.call_tool("file_list", {})).is_error
        assert not running.done()
        slow.let_go()
        assert not (await running).is_error
    sessions = [(session, request.split(" ")[0]) for session, _, request in served.turns()]
    assert sorted(sessions) == [("mcp", "test.run"), ("mcp-2", "file.list"), ("mcp-2", "file.list")]


@pytest.mark.parametrize("mode", MODES)
async def test_a_call_that_the_client_cancels_is_ended_and_can_be_resumed(served: Served, mode: str) -> None:
    slow = served.slow()
    async with served.client(mode) as client:
        running = asyncio.create_task(client.call_tool("test_run", {}))
        pid = await slow.began()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        after = await client.call_tool("file_list", {})
    assert not after.is_error
    assert [turn[1] for turn in served.turns()] == ["stopped", "complete"] and gone(pid)


async def test_the_tools_of_other_servers_are_served_only_where_that_is_asked_for(served: Served) -> None:
    time = {"command": sys.executable, "args": ["-m", "mcp_server_time", "--local-timezone", "UTC"]}
    served.environment["ECHELON_TOOLS__MCP_SERVERS"] = json.dumps({"time": time})
    async with served.client(LEGACY) as client:
        assert not [tool for tool in (await client.list_tools()).tools if tool.name.startswith("mcp_")]
    async with served.client(LEGACY, "--only", "mcp.*") as client:
        tools = (await client.list_tools()).tools
        told = await client.call_tool("mcp_time_get_current_time", {"timezone": "Asia/Tokyo"})
    assert {tool.title for tool in tools} == {"mcp.time.get_current_time", "mcp.time.convert_time"}
    assert not told.is_error and "Asia/Tokyo" in text(told)
    assert [turn[:2] for turn in served.turns()] == [("mcp", "complete")]


async def test_an_argument_that_there_is_not_is_the_calls_error(served: Served) -> None:
    async with served.inside(MODERN) as client:
        refused = await client.call_tool("file_list", {"globb": "*.py"})
    assert refused.is_error and "file.list has no argument 'globb'; did you mean glob?" in text(refused)


async def test_a_file_of_tools_that_is_wrong_is_told_once_and_leaves_the_others(served: Served) -> None:
    folder = Settings.load({}, environ=served.environment, cwd=served.workspace).home / "tools"
    folder.mkdir(parents=True)
    (folder / "broken.py").write_text("import nothing_of_that_name\n")
    async with served.inside(MODERN) as client:
        for _ in range(2):
            assert "file_list" in [tool.name for tool in (await client.list_tools()).tools]
            await client.call_tool("file_list", {})
    assert len([line for line in served.said if "broken.py: ModuleNotFoundError" in line]) == 1
