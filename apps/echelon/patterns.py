"""`echelon patterns`: the task types, and whether their patterns compile."""

from __future__ import annotations

import asyncio
import re
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from echelon import options
from echelon.terminal import put, put_json, put_table, say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from echelon.output.pattern import PatternProblems
    from gateway import Settings
    from gateway.tools.registry import Registry
    from gateway.turn.patterns.check import Diagnostic
    from gateway.turn.patterns.library import PatternFile

MEANT = re.compile(r"Did you mean '?(.+?)'?\?")  # in a problem's message


@click.group(cls=options.Group, epilog="\b\nExamples:\n  echelon patterns list\n  echelon patterns check\n")
def patterns() -> None:
    """Task types: list, show and check their patterns.

    They are looked for in .echelon/prompts/patterns of the workspace, in $ECHELON_HOME/prompts/patterns, and among
    those that are shipped; the first file of a name counts.
    """


@patterns.command("list", epilog="\b\nExamples:\n  echelon patterns list\n  echelon patterns list --json\n")
@options.as_json
@options.model
def list_patterns(settings: Settings, as_json: bool) -> None:
    """List the task types, and where each comes from."""
    from echelon.output.pattern import PatternRow
    from gateway import Gateway

    with closing(Gateway(settings)) as gateway:
        files = list(gateway.patterns())
    if as_json:
        put_json([PatternRow(**_facts(file)) for file in files])
        return
    rows = []
    for file in files:
        steps = "" if file.program is None else str(file.program.max_steps)
        rows.append([file.task_type, file.origin, steps, _description(file)])
    put_table(["task type", "origin", "max steps", "description"], rows)


@patterns.command(epilog="\b\nExamples:\n  echelon patterns show code_modify\n")
@click.argument("task_type", metavar="TYPE")
@options.as_json
@options.model
def show(settings: Settings, task_type: str, as_json: bool) -> int:
    """Show a task type's pattern, as the model and the compiler read it."""
    from echelon.output.pattern import PatternShown
    from gateway import Gateway

    with closing(Gateway(settings)) as gateway:
        library = gateway.patterns()
    file = next((file for file in library if file.task_type == task_type), None)
    if file is None:
        library.get(task_type)  # raises, and names the nearest one
        raise AssertionError
    if as_json:
        put_json(PatternShown(**_facts(file), text=file.text))
    else:
        say(f"{file.path} ({file.origin})")
        put(file.text.rstrip("\n"))
    if file.error is not None:
        say(f"error: unavailable: {file.error}")
        return file.error.exit_code
    return 0


@patterns.command(
    epilog="""\b
Examples:
  echelon patterns check
  echelon patterns check .echelon/prompts/patterns/release.md
  echelon patterns check --json
"""
)
@click.argument("files", metavar="[FILE…]", nargs=-1, type=click.Path(path_type=Path))
@options.as_json
@options.model
def check(settings: Settings, files: tuple[Path, ...], as_json: bool) -> int:
    """Report every problem of the given files, else of all task types, with file and line."""
    from gateway import Gateway
    from gateway.errors import ConfigError

    with closing(Gateway(settings)) as gateway:
        found = list(files) or [file.path for file in gateway.patterns()]
    problems, warnings = problems_of(settings, found)
    for each in warnings:
        say(f"warning: {each}")
    if as_json:
        put_json(_as_data(found, problems))
    else:
        for problem in problems:
            put(str(problem))
    many = "" if len(found) == 1 else "s"
    say(f"{len(found)} pattern{many}, {len(problems) or 'no'} problem{'' if len(problems) == 1 else 's'}")
    return ConfigError.exit_code if problems else 0


def problems_of(settings: Settings, files: Iterable[Path]) -> tuple[list[Diagnostic], list[str]]:
    """Every problem of these files; and what is to be said about MCP servers whose tools are not known now. Raises
    ConfigError for a file that cannot be read."""
    from gateway.errors import ConfigError
    from gateway.turn.patterns.check import check_pattern

    every, warnings, servers = asyncio.run(_tools(settings))
    tools, undoable = [tool.name for tool in every], [tool.name for tool in every if tool.undo is not None]
    problems: list[Diagnostic] = []
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path}: cannot be read: {error}") from error
        problems += check_pattern(text, file=str(path), tools=tools, undoable=undoable, servers=servers)
    return problems, warnings


async def _tools(settings: Settings) -> tuple[Registry, list[str], list[str]]:
    from gateway import Gateway

    async with Gateway(settings) as gateway:
        return *(await gateway.toolbox.all()), gateway.toolbox.server_labels()


def _description(file: PatternFile) -> str:
    if file.program is not None:
        return file.program.description
    return f"unavailable: {file.error}"


def _as_data(files: list[Path], problems: list[Diagnostic]) -> PatternProblems:
    from echelon.output.pattern import PatternProblem, PatternProblems

    told = []
    for each in problems:
        meant = MEANT.search(each.message)
        told.append(
            PatternProblem(
                file=each.file, line=each.line, message=each.message, suggestion=meant.group(1) if meant else None
            )
        )
    return PatternProblems(files=tuple(str(path) for path in files), problems=tuple(told))


def _facts(file: PatternFile) -> dict[str, Any]:
    """What a list and a pattern that is shown have in common."""
    return {
        "task_type": file.task_type,
        "origin": file.origin,
        "path": str(file.path),
        "available": file.program is not None,
        "description": file.program.description if file.program is not None else None,
        "max_steps": file.program.max_steps if file.program is not None else None,
        "error": str(file.error) if file.error is not None else None,
    }
