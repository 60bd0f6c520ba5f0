"""The entry: which commands there are, and how errors become words and exit codes.

A command's module is imported when the command is used: `echelon --help` needs nothing but click.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

import click

from gateway.errors import EchelonError

INTERRUPTED = 130

COMMANDS = {
    "run": "Carry out a request.",
    "serve": "Serve an OpenAI-compatible chat API.",
    "mcp": "Serve the tools to MCP clients.",
    "chat": "Carry out requests one after the other, in one session.",
    "turns": "Turns: list them, show one, compare two.",
    "sessions": "Sessions: list them, give one a title, forget one.",
    "runs": "Runs: list, show, resume, cancel, answer, replay.",
    "patterns": "Task types: list, show and check their patterns.",
    "recipes": "Recipes: list, show and check what model calls are made of.",
    "tools": "Tools: list them, show one with its arguments, call one.",
    "skills": "Skills: list and show them, go back to an earlier version.",
    "memory": "What is remembered: list it, search it, forget something.",
    "eval": "Carry out a suite of requests, and judge what they left behind.",
    "models": "Models that run on this machine: list, pull, serve.",
    "phone": "Carry out a task on an Android phone; list phones, check one.",
    "loop": "Let an agent work by itself: start, watch, extend, pause, resume, stop.",
    "simphone": "A simulated Android phone for adb.",
    "doctor": "Check what Echelon needs, and say what to do about it.",
    "schema": "The shapes of what commands print with --json, as JSON schemas.",
}


@dataclass
class Invocation:
    """What the options of a command tell those who handle its errors."""

    verbose: bool = False


class LazyGroup(click.Group):
    """Commands by name, from modules of the same name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(f"echelon.{cmd_name}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  echelon run "Remember that my deploy server is called heron"
  echelon run "Fix the failing test" --workspace ~/projects/pager
  echelon turns show last
  echelon doctor
""",
)
@click.version_option(package_name="echelon-gateway", prog_name="echelon")
def echelon() -> None:
    """Carries out requests in plain language with tools: resumable, replayable, and readable afterwards.

    Every turn leaves a context.md that says what was decided, called and seen. State lives in $ECHELON_HOME
    (default ~/.echelon).
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and end the process with its exit code."""
    sys.exit(start(arguments))


def start(arguments: Sequence[str] | None = None, command: click.Command = echelon, name: str = "echelon") -> int:
    """The command's exit code. What goes wrong is told in one or two lines; with -v the traceback, too."""
    invocation = Invocation()
    try:
        code = command.main(arguments, prog_name=name, standalone_mode=False, obj=invocation)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        context = error.ctx if isinstance(error, click.UsageError) else None
        hint = f"see: {context.command_path} --help" if context is not None else ""
        return _explain(invocation, error, error.format_message(), hint, error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        _say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # whoever read the output has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except EchelonError as error:
        return _explain(invocation, error, str(error), error.hint, error.exit_code)
    except Exception as error:
        hint = "this is a defect of Echelon; -v shows where"
        return _explain(invocation, error, f"{type(error).__name__}: {error}", hint, 1)


def _explain(invocation: Invocation, error: Exception, message: str, hint: str, code: int) -> int:
    if invocation.verbose:
        import traceback

        traceback.print_exception(error)
    _say(f"error: {message}")
    if hint:
        _say(f"  {hint}")
    return code


def _say(text: str) -> None:
    from echelon.terminal import harmless

    click.echo(harmless(text), err=True)
