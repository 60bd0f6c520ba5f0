"""Gateways with MCP servers, on one home."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from gateway import Gateway, Settings, Turn
from gateway.engine.ports import Json
from gateway.llm.scripted import ScriptedModel
from gateway.stream import Notice, TurnEvent
from gateway.tools.registry import Registry

STRANGER = Path(__file__).with_name("stranger.py")
DEADLINE_S = 60.0  # a machine under load must not turn a wait into a failure


class House:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.workspace = root / "workspace"
        self.folder = root / "stranger"
        for each in (self.workspace, self.folder):
            each.mkdir()
        self.heard: list[TurnEvent] = []

    def stranger(self, mode: str = "good", **more: Any) -> dict[str, Any]:
        return {"command": sys.executable, "args": ["-S", "-E", str(STRANGER), str(self.folder), mode], **more}

    def open(self, *script: Json, assume_yes: bool = True, **servers: Any) -> Gateway:
        values = {
            "model": "scripted",
            "workspace": str(self.workspace),
            "validate": False,
            "tools": {"mcp_servers": servers},
        }
        settings = Settings.load(values, cwd=self.workspace, environ={"ECHELON_HOME": str(self.home)})
        model = ScriptedModel(script)
        return Gateway(settings, model=model, registry=Registry, assume_yes=assume_yes)

    async def call(self, gateway: Gateway, tool: str, **args: Any) -> Turn:
        async with asyncio.timeout(DEADLINE_S):
            return await gateway.call_tool(tool, args, on_event=self.heard.append)

    def notices(self) -> str:
        return "\n".join(each.text for each in self.heard if isinstance(each, Notice))

    def count(self, name: str) -> int:
        path = self.folder / name
        return len(path.read_text().splitlines()) if path.exists() else 0

    def pids(self) -> list[int]:
        return [int(each) for each in (self.folder / "starts").read_text().split()]

    def log(self, name: str = "s") -> Path:
        return self.home / "mcp" / f"{name}.log"


def running(pid: int) -> bool:
    """Whether there is such a process that is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Returns once it does."""
    async with asyncio.timeout(DEADLINE_S):
        while not await holds():  # noqa: ASYNC110  # another process, which cannot be waited for
            await asyncio.sleep(0.01)


async def ended(pid: int) -> None:
    """Returns once the process has ended."""

    async def has_ended() -> bool:
        return not running(pid)

    await until(has_ended)


def kill(pid: int) -> None:
    os.kill(pid, 9)


def words(turn: Turn) -> str:
    """What came of it, well or not."""
    return f"{turn.response}\n{turn.error}"
