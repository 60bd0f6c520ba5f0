"""Options that several commands have."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from echelon.cli import Invocation

if TYPE_CHECKING:
    from gateway import Settings

Function = Callable[..., Any]

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


class Group(click.Group):
    """Commands in the order in which they are written."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


def _verbose(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.ensure_object(Invocation).verbose = True


verbose = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    expose_value=False,
    callback=_verbose,
    help="Tell more, and show a traceback where something goes wrong.",
)
config_option = click.option(
    "--config",
    "config_file",
    type=click.Path(path_type=Path),
    help="A configuration file, besides ./echelon.yaml and $ECHELON_HOME/config.yaml.",
)
model_option = click.option(
    "--model", "model_name", metavar="M", help="A litellm model string, local/NAME, or scripted:FILE."
)
api_base_option = click.option("--api-base", metavar="URL", help="Where an OpenAI-compatible server answers.")
as_json = click.option("--json", "as_json", is_flag=True, help="Machine-readable, on standard output.")
session_option = click.option("--session", metavar="S", help="Of this session only.")
no_input = click.option("--no-input", is_flag=True, help="Never ask: end with exit code 6 where an answer is needed.")


corpus_option = click.option("--corpus", type=FOLDER, help="Research in this folder of HTML, Markdown or text files.")


def with_corpus(settings: Settings, corpus: Path | None) -> Settings:
    """The settings with the folder to research in, where one is given."""
    if corpus is None:
        return settings
    where = {"provider": "corpus", "corpus_dir": corpus.absolute()}
    return settings.model_copy(update={"research": settings.research.model_copy(update=where)})


def home(function: Function) -> Function:
    """Options of a command that works with what there is; it gets `settings`."""

    @config_option
    @verbose
    @functools.wraps(function)
    def configured(*args: Any, config_file: Path | None, **kwargs: Any) -> Any:
        from gateway.config import Settings

        return function(*args, settings=Settings.load({}, config_file=config_file), **kwargs)

    return configured


def workspace(function: Function) -> Function:
    """As `home`, of a command that works with what there is in a folder, too."""

    @click.option("--workspace", type=FOLDER, help="The folder that is worked in.  [default: .]")
    @config_option
    @verbose
    @functools.wraps(function)
    def configured(*args: Any, workspace: Path | None, config_file: Path | None, **kwargs: Any) -> Any:
        from gateway.config import Settings

        return function(*args, settings=Settings.load({"workspace": workspace}, config_file=config_file), **kwargs)

    return configured


def model(function: Function) -> Function:
    """Options of a command that may call a model; it gets `settings`."""

    @click.option("--workspace", type=FOLDER, help="The folder that file and test tools may not leave.  [default: .]")
    @model_option
    @api_base_option
    @config_option
    @verbose
    @functools.wraps(function)
    def configured(
        *args: Any,
        workspace: Path | None,
        model_name: str | None,
        api_base: str | None,
        config_file: Path | None,
        **kwargs: Any,
    ) -> Any:
        from gateway.config import Settings

        given = {"workspace": workspace, "model": model_name, "api_base": api_base}
        return function(*args, settings=Settings.load(given, config_file=config_file), **kwargs)

    return configured
