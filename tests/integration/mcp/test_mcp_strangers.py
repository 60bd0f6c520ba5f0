"""Servers that nobody here wrote, each used for something real, as they are published."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from filelock import FileLock
from mcp_house import House, ended, kill, words
from test_mcp_http import listening

from gateway.engine.state import Status

ROOT = Path(__file__).parents[3]
# The newest of these servers speak the newest protocol, with the SDK that we use. The one for SQLite was written for
# the SDK before it and does not run with this one: it gets an environment of its own, and shows that we speak both.
OLDER = ("mcp-server-sqlite==2025.4.25", "mcp<2")


def installed(name: str) -> dict[str, Any]:
    return {"command": str(Path(sys.executable).with_name(name))}


@pytest.fixture(scope="session")
def sqlite_server() -> str:
    """The path of its program, in an environment that is made once and kept."""
    folder = ROOT / ".cache" / "mcp-sqlite"
    program = folder / "bin" / "mcp-server-sqlite"
    folder.parent.mkdir(exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not (folder / "complete").exists():
            made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], capture_output=True)
            if made.returncode == 0:
                pip = [str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", *OLDER]
                made = subprocess.run(pip, capture_output=True)
            if made.returncode != 0:
                pytest.skip(f"the SQLite server cannot be installed: {made.stderr.decode()[-300:]}")
            (folder / "complete").touch()
    return str(program)


async def test_time(house: House) -> None:
    async with house.open(time=installed("mcp-server-time")) as gateway:
        args = {"source_timezone": "Europe/Berlin", "time": "12:00", "target_timezone": "Asia/Tokyo"}
        turn = await house.call(gateway, "mcp.time.convert_time", **args)
        assert turn.status is Status.COMPLETE
        assert json.loads(turn.response)["target"]["timezone"] == "Asia/Tokyo"
        turn = await house.call(gateway, "mcp.time.get_current_time", timezone="Nowhere/Land")
        assert turn.status is Status.FAILED and "Nowhere/Land" in words(turn)


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=T", "-c", "user.email=t@example.org", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


async def test_git(house: House) -> None:
    git(house.workspace, "init", "-q")
    (house.workspace / "boiler.txt").write_text("repaired in May\n")
    git(house.workspace, "add", ".")
    git(house.workspace, "commit", "-q", "-m", "The boiler")
    (house.workspace / "boiler.txt").write_text("repaired in June\n")
    where = str(house.workspace)
    server = {**installed("mcp-server-git"), "args": ["--repository", where]}
    async with house.open(git=server, assume_yes=False) as gateway:
        assert "The boiler" in words(await house.call(gateway, "mcp.git.git_log", repo_path=where))
        turn = await house.call(gateway, "mcp.git.git_diff_unstaged", repo_path=where)
        assert "+repaired in June" in turn.response
        turn = await house.call(gateway, "mcp.git.git_add", repo_path=where, files=["boiler.txt"])
        assert turn.status is Status.WAITING  # it changes something: the person is asked
        turn = await gateway.answer(turn.run_id, "yes")
        assert turn.status is Status.COMPLETE
    assert git(house.workspace, "diff", "--staged", "--name-only") == "boiler.txt\n"


async def test_fetch(house: House) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(
            text="<html><body><h1>Heron</h1><p>Deploys at noon.</p></body></html>", content_type="text/html"
        )

    server = {**installed("mcp-server-fetch"), "args": ["--ignore-robots-txt", "--allow-private-ips"]}
    async with listening(answer) as port, house.open(fetch=server) as gateway:
        turn = await house.call(gateway, "mcp.fetch.fetch", url=f"http://127.0.0.1:{port}/mcp", raw=True)
        assert turn.status is Status.COMPLETE, words(turn)
        assert "Deploys at noon." in turn.response


async def test_sqlite(house: House, sqlite_server: str) -> None:
    file = house.workspace / "cats.db"
    async with house.open(db={"command": sqlite_server, "args": ["--db-path", str(file)]}) as gateway:
        for tool, query in (
            ("create_table", "CREATE TABLE cats (name TEXT)"),
            ("write_query", "INSERT INTO cats VALUES ('Minka')"),
        ):
            turn = await house.call(gateway, f"mcp.db.{tool}", query=query)
            assert turn.status is Status.COMPLETE, words(turn)
        turn = await house.call(gateway, "mcp.db.read_query", query="SELECT name FROM cats")
        assert "Minka" in turn.response
    assert sqlite3.connect(file).execute("SELECT name FROM cats").fetchall() == [("Minka",)]


async def test_a_server_is_used_in_a_turn_by_the_generic_pattern_and_started_again_after_it_was_killed(
    house: House,
) -> None:
    def decision(action: str, **more: Any) -> dict[str, Any]:
        return {"answer": {"decision": {"action": action, "reasoning": "because", **more}}}

    tool = {"name": "mcp.time.get_current_time", "args": {"timezone": "Europe/Berlin"}}
    script = [
        decision("EXECUTE", task_type="generic", goals=["tell the time"]),
        decision("CALL_TOOL", tool=tool),
        decision("DONE"),
        {"answer": "It is late."},
    ]
    async with house.open(*script, *script, time=installed("mcp-server-time")) as gateway:
        for _ in range(2):
            turn = await gateway.run("What time is it in Berlin?")
            assert (turn.status, turn.response) == (Status.COMPLETE, "It is late.")
            assert "Europe/Berlin" in turn.context.read_text()
            replayed = await gateway.replay(turn.run_id)
            assert replayed.finished and replayed.differing == []
            [pid] = children("mcp-server-time")
            kill(pid)
            await ended(pid)


def children(name: str) -> list[int]:
    """The processes that this one has started, by a part of their command."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            command = (folder / "cmdline").read_text()
        except OSError:
            continue
        if parent == str(os.getpid()) and name in command:
            found.append(int(folder.name))
    return found
