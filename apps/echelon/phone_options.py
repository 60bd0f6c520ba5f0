"""Options of the commands for phones, and a task beside their names."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from echelon import options

if TYPE_CHECKING:
    from collections.abc import Callable

GIF = ".gif"
ALIKE = 0.75  # how much a task resembles a command that was misspelt

simulated = click.option(
    "--simulated", is_flag=True, help="With a simulated phone, which is there as long as this takes."
)


def settings(function: Callable[..., Any]) -> Callable[..., Any]:
    """Options of a command for phones; it gets `settings`, of ~/.mai-phone/config.yaml, too."""

    @options.config_option
    @options.verbose
    @functools.wraps(function)
    def configured(*args: Any, config_file: Path | None, **kwargs: Any) -> Any:
        from echelon.mai_phone_config import load

        return function(*args, settings=load({}, config_file)[0], **kwargs)

    return configured


class TaskCommand(click.Command):
    """Carries out a task; its help shows the commands that stand beside it, too."""

    beside: Mapping[str, click.Command] = {}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, _gif(args))
        task = str(ctx.params.get("task"))
        near = difflib.get_close_matches(task, self.beside, n=1, cutoff=ALIKE)
        if near and "--" not in args:
            like = "is a command, whose options come after it"
            if near[0] != task:
                like = f"looks like the command {near[0]}"
            raise click.UsageError(f"{task!r} {like}; a task of that name comes after --", ctx)
        return rest

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.get_short_help_str(limit=80)) for name, each in self.beside.items()])


class TaskGroup(options.Group):
    """Commands, and a task where none of their names comes first."""

    def __init__(self, *args: Any, task: TaskCommand, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.task = task
        task.beside = self.commands

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args and args[0] in self.commands:
            return super().make_context(info_name, args, parent, **extra)
        return self.task.make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        return super().invoke(ctx) if ctx.command is self else ctx.command.invoke(ctx)


def _gif(args: list[str]) -> list[str]:
    """`--gif` takes what follows it only where that is such a file: `--gif "TASK"` has a task."""
    until = args.index("--") if "--" in args else len(args)
    taken = [*args]
    for at in range(until):
        if args[at] == "--gif" and not "".join(args[at + 1 : at + 2]).lower().endswith(GIF):
            taken[at] = "--gif="
    return taken
