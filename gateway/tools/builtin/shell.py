"""shell.run: one program with its arguments, without a shell."""

from __future__ import annotations

import shlex

from pydantic import BaseModel, Field

from gateway.engine.ports import Effect
from gateway.tools.code.command_line import words
from gateway.tools.registry import ToolContext, ToolResult, Touches, tool
from gateway.tools.sandbox import run_program
from gateway.tools.workspace import Workspace

DEADLINE_S = 120.0
_PROGRAM_S = 110.0  # what the program gets of it; the rest is for ending it
_OUTPUT_BYTES = 30_000
_PLAIN = {"TERM": "dumb", "NO_COLOR": "1", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}


class ShellArgs(BaseModel):
    command: str = Field(description="one program with its arguments; no pipes, redirections, globs or variables")


def _command(args: ShellArgs, ctx: ToolContext) -> str:
    return shlex.join(words(args.command))


@tool(
    "shell.run",
    effect=Effect.ONCE,
    deadline_s=DEADLINE_S,
    touches=(Touches.WORKSPACE, Touches.PROGRAMS),
    ask=True,
    subject=_command,
)
async def shell_run(args: ShellArgs, ctx: ToolContext) -> ToolResult:
    """Run one program in the workspace's folder, without a shell, and return what it prints.

    It has nothing on its standard input, and none of the gateway's environment but what programs need to run.
    ok: it ended with code 0. data: {command: as it was understood, exit_code: null if the deadline ended it, negative
    for the signal that did, output: standard output and error together, its middle left out if it was long}.
    """
    command = words(args.command)
    root = Workspace(ctx.workspace).root
    finished = await run_program(command, cwd=root, deadline_s=_PROGRAM_S, env=_PLAIN, output_bytes=_OUTPUT_BYTES)
    data = {"command": shlex.join(command), "exit_code": finished.code, "output": finished.output}
    return ToolResult(ok=finished.code == 0, text=f"{_ending(finished.code)}\n{finished.output}".rstrip(), data=data)


def _ending(code: int | None) -> str:
    if code is None:
        return f"it did not end within {_PROGRAM_S:g} s and was stopped"
    return f"exit code {code}" if code >= 0 else f"ended by signal {-code}"
