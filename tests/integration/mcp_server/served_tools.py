"""`echelon mcp` with a home and a workspace of its own, as a process that the SDK's client or a test starts."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mcp_types as types
import quick_pytest
from mcp import Client, StdioServerParameters

from echelon.mcp_server.offer import Selection
from echelon.mcp_server.server import ToolServer
from gateway import Gateway, Settings

LEGACY, MODERN = "legacy", "2026-07-28"
MODES = (LEGACY, MODERN)  # the handshake up to 2025-11-25, and the revision without one

# A test of the workspace that goes on until it is let go.
SLOW = """
import os, pathlib, time
HERE = pathlib.Path(__file__).parent
def test_slow():
    (HERE / "began").write_text(str(os.getpid()))
    while not (HERE / "go").exists():
        time.sleep(0.02)
"""


class Served:
    """A folder with a home and a workspace."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.environment = {"ECHELON_HOME": str(self.home), "ECHELON_VALIDATE": "false"}
        if "PYTHONPATH" in os.environ:  # clients pass only little on
            self.environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
        self.said: list[str] = []
        self._started: list[subprocess.Popen[bytes]] = []

    def client(self, mode: str = MODERN, *options: str, **more: Any) -> Client:
        """The SDK's client, which starts a server."""
        arguments = ["-m", "echelon", "mcp", "--workspace", str(self.workspace), *options]
        server = StdioServerParameters(
            command=sys.executable, args=arguments, env=self.environment, cwd=str(self.workspace)
        )
        return Client(server, mode=mode, **more)

    @asynccontextmanager
    async def inside(self, mode: str, **more: Any) -> AsyncIterator[Client]:
        """The SDK's client of a server in this process: what is not about processes is faster so."""
        settings = Settings.load({}, environ=self.environment, cwd=self.workspace)
        async with Gateway(settings) as gateway:
            tools = ToolServer(gateway, "mcp", Selection(), self.said.append)
            async with Client(tools.protocol(), mode=mode, **more) as client:
                yield client

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        """A server that the test speaks to itself."""
        process = subprocess.Popen(
            [sys.executable, "-m", "echelon", "mcp", "--workspace", str(self.workspace), *options],
            cwd=self.workspace,
            env=os.environ | self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._started.append(process)
        return process

    def turns(self) -> list[tuple[str, str, str]]:
        """(session, status, request) of each, the oldest first, as `echelon turns list` has them."""
        gateway = Gateway(Settings.load({}, environ=self.environment, cwd=self.workspace))
        try:
            rows = [(str(row.session), gateway.runs.status(row), row.title) for row in gateway.turns()]
        finally:
            gateway.close()
        return rows[::-1]

    def slow(self) -> SlowTest:
        (self.workspace / "test_slow.py").write_text(SLOW)
        (self.workspace / "pytest.ini").write_text(quick_pytest.INI)
        return SlowTest(self.workspace)

    def close(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.communicate()


@dataclass(frozen=True)
class SlowTest:
    """What the slow test of the workspace does; called by `test_run`."""

    workspace: Path

    async def began(self) -> int:
        """Its process, once it runs."""
        await until(lambda: (self.workspace / "began").exists() and bool((self.workspace / "began").read_text()))
        return int((self.workspace / "began").read_text())

    def let_go(self) -> None:
        (self.workspace / "go").touch()


async def until(holds: Callable[[], bool]) -> None:
    """Other processes tell nobody that something holds now."""
    async with asyncio.timeout(120):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


def gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"


@dataclass
class Person:
    """Answers what a client is asked to show, and keeps what it was."""

    action: str = "accept"
    answer: object = "yes"
    asked: list[types.ElicitRequestFormParams] = field(default_factory=list)
    meanwhile: Callable[[], object] = lambda: None

    async def __call__(self, context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        assert isinstance(params, types.ElicitRequestFormParams)
        self.asked.append(params)
        self.meanwhile()
        content = {"answer": self.answer} if self.action == "accept" else None
        return types.ElicitResult.model_validate({"action": self.action, "content": content})


def text(result: types.CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, types.TextContent)
    assert result.structured_content["text"] == content.text and result.structured_content["ok"] is not result.is_error
    return content.text


def data(result: types.CallToolResult) -> dict[str, Any]:
    found: dict[str, Any] = result.structured_content["data"]
    return found


def message(method: str, id: int | None = None, **params: Any) -> bytes:
    """A line of the protocol."""
    whole: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(whole | ({} if id is None else {"id": id})).encode() + b"\n"


def hello() -> bytes:
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    return message("initialize", 0, **client) + message("notifications/initialized")
