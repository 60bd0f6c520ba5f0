"""MCP servers from the command line."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from mcp_house import DEADLINE_S, House

from echelon.cli import start
from gateway.tools.mcp.declared import Declared, declare
from gateway.tools.mcp.servers import Servers


@pytest.fixture
def configured(house: House, echelon_home: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    servers = {"s": house.stranger(), "gone": {"command": "no-such-command"}}
    echelon_home.mkdir(exist_ok=True)
    (echelon_home / "config.yaml").write_text(json.dumps({"tools": {"mcp_servers": servers}}))
    monkeypatch.chdir(house.workspace)
    return house


def run(*arguments: str) -> tuple[int, str]:
    """The exit code, and all that it says."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        code = start(arguments)
    return code, said.getvalue()


def test_their_tools_are_listed_shown_and_called(configured: House) -> None:
    code, output = run("tools", "list")
    assert code == 0 and "mcp.s.say" in output
    assert "warning: the MCP server gone cannot be used: there is no command no-such-command" in output
    code, output = run("tools", "show", "mcp.s.spend")
    assert code == 0 and "ONCE" in output and "asks first" in output and "gone" not in output
    code, output = run("tools", "call", "mcp.s.say", '{"text": "hello"}', "--no-input")
    assert code == 0 and "say: hello" in output


def test_the_doctor_looks_at_each(configured: House) -> None:
    _, output = run("doctor")
    assert f"s: {sys.executable} offers 18 tools" in output
    assert "FAIL  mcp            the MCP server gone cannot be used: there is no command no-such-command" in output


def test_the_doctor_asks_all_at_once(configured: House, monkeypatch: pytest.MonkeyPatch) -> None:
    both = asyncio.Barrier(2)

    async def ask(servers: Servers, name: str) -> Declared:
        async with asyncio.timeout(DEADLINE_S):
            await both.wait()
        return declare(name, name, [{"name": "only", "inputSchema": {"type": "object"}}])

    monkeypatch.setattr(Servers, "ask", ask)
    _, output = run("doctor")
    assert f"s: {sys.executable} offers 1 tool\n" in output and "gone: no-such-command offers 1 tool\n" in output


def test_a_server_that_is_not_configured_is_named(configured: House) -> None:
    for asked in (("tools", "show", "mcp.time.now"), ("tools", "call", "mcp.time.now")):
        code, output = run(*asked)
        assert code == 2 and "there is no tool 'mcp.time.now': no MCP server `time` is configured" in output
    file = configured.workspace / "clock.md"
    file.write_text("---\ntask_type: clock\ndescription: d\n---\n1. CALL any of {mcp.time.now, mcp.gone.x}\n")
    code, output = run("patterns", "check", str(file))
    assert code == 2 and "there is no tool 'mcp.time.now': no MCP server `time` is configured" in output
    assert "there is no tool 'mcp.gone.x'." in output


def test_a_pattern_that_names_them_is_checked(configured: House) -> None:
    file = configured.workspace / "clock.md"
    head = "---\ntask_type: clock\ndescription: d\n---\n"
    file.write_text(f"{head}1. CALL mcp.s.say\n2. CALL any of {{mcp.s.*}}\n")
    assert run("patterns", "check", str(file))[0] == 0
    file.write_text(f"{head}1. CALL mcp.s.sy\n")
    code, output = run("patterns", "check", str(file))
    assert code == 2 and "there is no tool 'mcp.s.sy'. Did you mean mcp.s.say?" in output
