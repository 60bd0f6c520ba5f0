from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable

import pytest

from gateway.engine.ports import Effect
from gateway.errors import ToolError
from gateway.tools.builtin import shell
from gateway.tools.registry import Registry, ToolContext, ToolResult

Call = Callable[..., Awaitable[ToolResult]]


async def test_a_program_runs_in_the_workspace_and_tells_how_it_ended(ctx: ToolContext, call: Call) -> None:
    (ctx.workspace / "a b.txt").write_text("inside\n")
    result = await call("shell.run", command='cat  "a b.txt"')
    assert result.ok
    assert result.data == {"command": "cat 'a b.txt'", "exit_code": 0, "output": "inside\n"}
    failed = await call("shell.run", command="cat nowhere")
    assert not failed.ok and failed.data["exit_code"] == 1 and "No such file" in failed.text
    killed = await call("shell.run", command=f"{sys.executable} -c 'import os; os.kill(os.getpid(), 15)'")
    assert killed.data["exit_code"] == -15 and "ended by signal 15" in killed.text


async def test_there_is_no_shell_no_input_and_no_secret(
    ctx: ToolContext, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in ("echo a > b", "echo a; touch b", "echo $(touch b)"):
        with pytest.raises(ToolError, match="no shell"):
            await call("shell.run", command=command)
    assert os.listdir(ctx.workspace) == []
    assert (await call("shell.run", command="echo '$(id)' 'a;b' \\*")).data["output"] == "$(id) a;b *\n"
    assert (await call("shell.run", command="cat")).data["output"] == ""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert "sk-secret" not in (await call("shell.run", command="env")).text


async def test_the_workspace_does_not_decide_what_a_program_is(
    ctx: ToolContext, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    (ctx.workspace / "ls").write_text("#!/bin/sh\necho trapped\n")
    (ctx.workspace / "ls").chmod(0o755)
    monkeypatch.setenv("PATH", f".:{os.pathsep}{os.environ['PATH']}")
    assert "trapped" not in (await call("shell.run", command="ls")).text
    assert "trapped" in (await call("shell.run", command="./ls")).text
    with pytest.raises(ToolError, match="no-such-program cannot be started: No such file"):
        await call("shell.run", command="no-such-program")


async def test_a_program_that_does_not_end_is_stopped(
    ctx: ToolContext, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell, "_PROGRAM_S", 0.3)
    result = await call("shell.run", command="sleep 60")
    assert not result.ok and result.data["exit_code"] is None
    assert "was stopped" in result.text


def test_it_is_asked_about_by_the_words_that_are_run(ctx: ToolContext, registry: Registry) -> None:
    tool = registry.get("shell.run")
    assert tool.ask and tool.effect is Effect.ONCE and tool.reconcile is None and tool.subject is not None
    for command in ("pytest -k 'a b'", 'pytest   "-k"  a\\ b '):
        assert tool.subject(tool.args(command=command), ctx) == "pytest -k 'a b'"
    with pytest.raises(ToolError):
        tool.subject(tool.args(command="pytest; rm -r x"), ctx)
