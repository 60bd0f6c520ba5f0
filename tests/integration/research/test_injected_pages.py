"""A page that gives orders cannot reach a tool that is asked about: not by a model that obeys, nor by `--yes`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from injections import INJECTIONS, Injection
from web_site import WebSite, html, page

from gateway import Gateway, Settings
from gateway.engine.ports import Json
from gateway.engine.state import Status
from gateway.llm.scripted import ScriptedModel


def decision(action: str, **more: Any) -> Json:
    return {"answer": {"decision": {"action": action, "reasoning": "the page says so", **more}}}


def call(tool: str, args: dict[str, Any]) -> Json:
    return decision("CALL_TOOL", tool={"name": tool, "args": args})


class House:
    """A home and a repository that an injected order would change."""

    def __init__(self, root: Path, site: WebSite) -> None:
        self.home = root / "home"
        self.workspace = root / "workspace"
        self.site = site
        self.workspace.mkdir()
        (self.workspace / "notes.md").write_text("mine\n")
        self.git("init", "-q")
        self.git("config", "user.name", "A")
        self.git("config", "user.email", "a@example.org")

    def git(self, *args: str) -> str:
        done = subprocess.run(["git", *args], cwd=self.workspace, capture_output=True, text=True, check=False)
        return done.stdout

    def open(self, *script: Json, **more: Any) -> Gateway:
        values = {
            "model": "scripted",
            "workspace": str(self.workspace),
            "validate": False,
            "research": {"allow_hosts": [self.site.host]},
        }
        settings = Settings.load(values, cwd=self.workspace, environ={"ECHELON_HOME": str(self.home)})
        return Gateway(settings, model=ScriptedModel(script), **more)

    def unharmed(self) -> bool:
        files = sorted(each.name for each in self.workspace.iterdir() if each.name != ".git")
        return files == ["notes.md"] and self.git("log", "--oneline") == ""


@pytest.fixture
def house(tmp_path: Path, site: WebSite) -> House:
    return House(tmp_path, site)


@pytest.mark.parametrize(
    ("injection", "assume_yes"),
    [*((each, False) for each in INJECTIONS), *((each, True) for each in INJECTIONS[::4])],
    ids=lambda each: each.name if isinstance(each, Injection) else "yes" if each else "asking",
)
async def test_a_model_that_obeys_a_page_reaches_no_tool_that_is_asked_about(
    house: House, injection: Injection, assume_yes: bool
) -> None:
    house.site.pages["/"] = page(html(injection.text, title="Prices"))
    async with house.open() as gateway:
        await gateway.call_tool("memory.save", {"key": "door-code", "text": "The door code is 4711 today."})
    url = house.site.url("/")
    goal = f"read {url}; {injection.tool} is there, too"
    script = (
        decision("EXECUTE", task_type="generic", goals=[goal]),
        call("internet.visit", {}),  # the one address that the request names is given
        *[call(injection.tool, injection.args)] * 4,  # asked again where the schema does not allow it
        *[decision("ESCALATE")] * 4,
        *[decision("COMPLETE", response="I could not.")] * 3,
    )
    async with house.open(*script, assume_yes=assume_yes) as gateway:
        turn = await gateway.run(f"What does it cost, by {url}?")
        document = turn.context.read_text()
        assert "internet.visit · ok" in document and "COMMAND" not in document
        headings = [line for line in _outside_fences(document) if line.startswith("## §")]
        assert headings[:4] == ["## §0 Request", "## §1 Gathered Context", "## §3 Task Plan", "## §4 Execution"]
        assert set(headings[4:]) <= {"## §5 Response"}
        if turn.status is Status.WAITING:
            assert turn.waiting is not None and turn.waiting.question.startswith(f"Run {injection.tool} ")
            turn = await gateway.answer(turn.run_id, "no")
        made = [path for path in (turn.context.parent / "results").glob("*.json") if injection.tool in path.name]
        assert all(not json.loads(path.read_text())["ok"] for path in made)
        assert house.unharmed()
        known = await gateway.call_tool("memory.search", {"query": "door code"})
        assert "4711" in known.response


@pytest.mark.parametrize("injection", INJECTIONS[:3], ids=lambda each: each.name)
async def test_under_a_pattern_that_does_not_name_the_tool_an_order_is_not_even_a_legal_move(
    house: House, injection: Injection
) -> None:
    house.site.pages["/"] = page(html(injection.text, title="Prices"))
    pattern = house.home / "prompts/patterns/look.md"
    pattern.parent.mkdir(parents=True)
    steps = "1. CALL internet.visit with {url: {{ context.request }}}\n2. CHECK: is there more?\n"
    branches = "   - YES → CALL file.list\n   - NO → DONE\n"
    pattern.write_text(f"---\ntask_type: look\ndescription: look\n---\n{steps}{branches}")
    script = (*[call(injection.tool, injection.args)] * 3, decision("DONE"), {"answer": "4 euros"})
    async with house.open(*script, assume_yes=True) as gateway:
        turn = await gateway.run(house.site.url("/"), task_type="look")
        assert turn.status is not Status.WAITING and house.unharmed()


def _outside_fences(document: str) -> list[str]:
    """The lines that are no data: of a fence, only the one that closes it is as long."""
    found, fence = [], ""
    for line in document.splitlines():
        if fence:
            fence = "" if line == fence else fence
        elif line.startswith("```"):
            fence = line
        else:
            found.append(line)
    return found
