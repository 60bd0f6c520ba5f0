from __future__ import annotations

import os
import shlex
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from gateway.errors import OutsideWorkspace, ToolError
from gateway.tools.builtin import skill
from gateway.tools.builtin.skill import MAX_TEXT
from gateway.tools.policy import Policy, Verdict
from gateway.tools.registry import Registry, Situation, ToolContext, ToolResult
from gateway.tools.workspace import sha256

Call = Callable[..., Awaitable[ToolResult]]


def make(root: Path, name: str, description: str = "Does things.", **files: str) -> Path:
    """A valid skill; `files` are its scripts, by their names with `_` for the dot."""
    folder = root / "skills" / name
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n")
    for file, text in files.items():
        (folder / "scripts" / file.replace("_", ".")).write_text(text)
    return folder


def read(name: str, file: str = "SKILL.md", next_line: int | None = None) -> dict[str, Any]:
    data = {"name": name, "file": file, "next_line": next_line}
    return {"tool": "skill.read", "args": {}, "ok": True, "text": "", "data": data}


def runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


async def test_a_skill_is_read_in_full(ctx: ToolContext, call: Call) -> None:
    folder = make(ctx.home, "lint", x_py="")
    (folder / "references").mkdir()
    (folder / "references/a.md").write_text("A\nB\n")
    result = await call("skill.read", name="lint")
    text = (folder / "SKILL.md").read_text()
    assert result.text == f"skill lint, SKILL.md; it also has references/a.md, scripts/x.py\n\n{text.rstrip()}"
    assert result.data == {
        "name": "lint",
        "origin": "home",
        "file": "SKILL.md",
        "sha256": sha256(text.encode()),
        "lines": 6,
        "next_line": None,
        "files": ["references/a.md", "scripts/x.py"],
    }
    other = await call("skill.read", name="lint", file="references/../references/a.md")
    assert other.data["file"] == "references/a.md" and other.text.endswith("\n\nA\nB")


async def test_a_long_one_is_read_in_parts(ctx: ToolContext, call: Call) -> None:
    folder = make(ctx.home, "long")
    lines = [f"line {number} {'x' * 90}" for number in range(900)]
    (folder / "big.md").write_text("\n".join(lines))
    got: list[str] = []
    start: Any = 1
    while start:
        part = await call("skill.read", name="long", file="big.md", start_line=start)
        assert len(part.text) < MAX_TEXT + 300
        got += [line for line in part.text.splitlines() if line.startswith("line ")]
        start = part.data["next_line"]
    assert got == lines
    with pytest.raises(ToolError, match="has 900 lines"):
        await call("skill.read", name="long", file="big.md", start_line=901)


async def test_what_is_no_text_or_not_of_the_skill_is_refused(ctx: ToolContext, call: Call) -> None:
    folder = make(ctx.home, "lint")
    (folder / "logo.md").write_bytes(b"\x89PNG\0")
    (ctx.home / "secret").write_text("s")
    (folder / "out.md").symlink_to(ctx.home / "secret")
    with pytest.raises(ToolError, match="is a binary file"):
        await call("skill.read", name="lint", file="logo.md")
    for file in ("out.md", "../../secret", "/etc/passwd"):
        with pytest.raises(OutsideWorkspace):
            await call("skill.read", name="lint", file=file)
    for name in ("../lint", "/etc", "..", "", "lint\0"):
        with pytest.raises(ToolError, match="there is no skill"):
            await call("skill.read", name=name)


def test_reading_is_narrowed_to_the_skills_there_are_the_relevant_first(ctx: ToolContext, registry: Registry) -> None:
    def properties(*results: dict[str, Any]) -> dict[str, Any]:
        situation = Situation("Parse the CSV file", results=results)
        found: dict[str, Any] = registry.get("skill.read").schema(ctx, situation)["properties"]
        return found

    with pytest.raises(ToolError):
        properties()
    make(ctx.home, "alpha")
    folder = make(ctx.home, "csv", x_py="")
    (make(ctx.home, "broken") / "SKILL.md").write_text("")
    assert properties()["name"]["enum"] == ["csv", "alpha"]
    assert list(properties()) == ["name"]
    assert properties(read("csv"))["name"]["enum"] == ["alpha"], "there is nothing more to read"
    (folder / "more.md").write_text("more")
    assert properties(read("csv"))["file"]["enum"] == ["SKILL.md", "more.md"]
    assert properties(read("csv"))["name"]["enum"] == ["csv", "alpha"]
    assert list(properties(read("csv", next_line=9), read("csv", "more.md"))) == ["name", "start_line"]
    assert list(properties(read("csv", next_line=9), read("csv"), read("csv", "more.md"))) == ["name"]
    with pytest.raises(ToolError, match="no skill to read"):
        properties(read("csv"), read("csv", "more.md"), read("alpha"))


def test_running_is_offered_for_skills_that_were_read(ctx: ToolContext, registry: Registry) -> None:
    make(ctx.home, "csv", x_py="", y_sh="")
    make(ctx.home, "plain")
    tool = registry.get("skill.run")
    for results in ((), (read("plain"),)):
        with pytest.raises(ToolError, match="no skill with scripts has been read"):
            tool.schema(ctx, Situation("?", results=results))
    properties = tool.schema(ctx, Situation("?", earlier=(read("csv"),)))["properties"]
    assert (properties["name"]["enum"], properties["script"]["enum"]) == (["csv"], ["x.py", "y.sh"])
    assert "args" in properties


async def test_a_script_runs_in_the_workspace_without_a_shell_without_input_and_without_secrets(
    ctx: ToolContext, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "s3cret")
    make(
        ctx.home, "lint", show_py="import os, sys; print(os.getcwd(), sys.argv[1:], os.environ, repr(sys.stdin.read()))"
    )
    result = await call("skill.run", name="lint", script="show.py", args=["$HOME; ls", "a b"])
    assert result.ok and result.text.startswith(f"lint/show.py ended with code 0\n{ctx.workspace} ['$HOME; ls', 'a b']")
    assert "s3cret" not in result.text and result.text.endswith(" ''")
    assert result.data == {"name": "lint", "origin": "home", "script": "show.py", "code": 0}


async def test_how_a_script_is_run_follows_from_its_suffix_or_its_first_line(ctx: ToolContext, call: Call) -> None:
    folder = make(ctx.home, "lint", a_sh="echo shell $1; exit 3", b="#!/bin/sh\necho line", c="echo no", d_rb="puts 1")
    result = await call("skill.run", name="lint", script="scripts/a.sh", args=["x"])
    assert (result.ok, result.data["code"], result.text) == (False, 3, "lint/a.sh ended with code 3\nshell x")
    with pytest.raises(ToolError, match="not known how b is run"):
        await call("skill.run", name="lint", script="b")
    for name in ("b", "c"):
        (folder / "scripts" / name).chmod(0o755)
    assert "line" in (await call("skill.run", name="lint", script="b")).text
    for name in ("c", "d.rb"):
        with pytest.raises(ToolError, match="not known how"):
            await call("skill.run", name="lint", script=name)


async def test_an_interpreter_that_is_not_there_is_named(
    ctx: ToolContext, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(ctx.home, "lint", a_js="1")
    monkeypatch.setenv("PATH", str(ctx.home))
    with pytest.raises(ToolError, match=r"a\.js needs node, which is not installed"):
        await call("skill.run", name="lint", script="a.js")


async def test_a_script_that_forks_and_hangs_is_ended_with_what_it_started(
    ctx: ToolContext, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(skill, "_SCRIPT_S", 2.0)
    pid = ctx.workspace / "pid"
    make(ctx.home, "lint", hang_sh=f"sleep 600 & echo $! > {shlex.quote(str(pid))}; echo begun; wait")
    result = await call("skill.run", name="lint", script="hang.sh")
    assert not result.ok and result.data["code"] is None
    assert result.text == "lint/hang.sh did not end within 2 s and was stopped\nbegun"
    assert not runs(pid.read_text().strip())


async def test_a_flood_is_cut_in_its_middle(ctx: ToolContext, call: Call) -> None:
    make(ctx.home, "lint", flood_py="print('begin'); print('x' * 5_000_000); print('end')")
    result = await call("skill.run", name="lint", script="flood.py")
    assert "begin" in result.text and result.text.endswith("end") and "bytes left out" in result.text
    assert len(result.text) < 50_000


async def test_only_scripts_are_run(ctx: ToolContext, call: Call) -> None:
    folder = make(ctx.home, "lint")
    (folder / "other.py").write_text("")
    (folder / "scripts/link.py").symlink_to(folder / "other.py")
    for script in ("../other.py", "link.py", "../../../x.py", "/bin/sh"):
        with pytest.raises(OutsideWorkspace):
            await call("skill.run", name="lint", script=script)
    with pytest.raises(ValidationError, match="NUL"):
        await call("skill.run", name="lint", script="x.py", args=["\0"])


def test_the_policy_sees_one_name_for_one_script_and_whose_it_is(ctx: ToolContext, registry: Registry) -> None:
    tool = registry.get("skill.run")
    assert tool.subject is not None and tool.ask

    def subject(script: str, *args: str) -> str:
        assert tool.subject is not None
        return tool.subject(tool.args(name="lint", script=script, args=list(args)), ctx)

    make(ctx.home, "lint", x_py="")
    assert subject("x.py") == subject("scripts/x.py") == subject("./a/../x.py") == "lint/x.py"
    assert subject("x.py", "a b", "--c") == "lint/x.py 'a b' --c"
    policy = Policy({"policy": {"skill.run": {"allow": ["lint/x.py*"]}}})
    args = {"name": "lint", "script": "x.py", "args": []}
    assert policy.verdict(tool, args, ctx) is Verdict.ALLOW
    make(ctx.workspace, "lint", "Comes with the project and shadows mine.", x_py="")
    assert subject("x.py") == "workspace:lint/x.py"
    assert policy.verdict(tool, args, ctx) is Verdict.ASK, "what is allowed is one's own, not a project's"


def test_allowed_tools_allow_nothing(ctx: ToolContext, registry: Registry) -> None:
    folder = make(ctx.home, "lint", x_py="")
    front = "name: lint\ndescription: d\nallowed-tools: skill.run shell.run Bash(*)"
    (folder / "SKILL.md").write_text(f"---\n{front}\n---\n\n# Lint\n")
    args = {"name": "lint", "script": "x.py", "args": []}
    assert Policy({}).verdict(registry.get("skill.run"), args, ctx) is Verdict.ASK
    assert Policy({"deny": ["skill.*"]}).verdict(registry.get("skill.run"), args, ctx) is Verdict.DENY


async def test_a_skill_that_cannot_be_entered_is_an_error_of_the_tool(ctx: ToolContext, call: Call) -> None:
    folder = make(ctx.home, "lint")
    (folder / "SKILL.md").unlink()
    os.mkfifo(folder / "SKILL.md")
    with pytest.raises(ToolError, match="the skill lint is not valid"):
        await call("skill.read", name="lint")
