"""`echelon eval`: a suite of requests, carried out and judged."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from echelon import options
from echelon.choosing import with_models
from echelon.evaluation import report
from echelon.evaluation.on_phone import BUILTIN, on_phone
from echelon.evaluation.runner import HIERARCHY, Runner
from echelon.evaluation.series import LOG, evaluate
from echelon.evaluation.suite import load_suite, wordings
from echelon.phone_driving import importable
from echelon.terminal import interactive, put, put_json, say
from gateway import Settings
from gateway.errors import UsageError
from gateway.gateway import ROLES
from gateway.phone.agents import loading

FOLDER = Path(".echelon/eval")


def options_of_a_suite(function: Callable[..., Any]) -> Callable[..., Any]:
    """What every command has that evaluates a suite: the arguments of `report_on`, but for the runner."""

    @click.argument("suite", type=click.Path(dir_okay=False, path_type=Path))
    @click.option("--only", metavar="TEXT", default="", help="Requests whose type or name (ID/WORDING) contains this.")
    @click.option("--wording", type=click.IntRange(min=1), metavar="N", help="The N-th wording only.")
    @click.option(
        "--folder",
        type=click.Path(file_okay=False, path_type=Path),
        help=f"Where homes, workspaces and tries are kept.  [default: {FOLDER}/NAME]",
    )
    @click.option("--again", is_flag=True, help="Try also what the folder has a try of.")
    @click.option("--yes", "assume_yes", is_flag=True, help="Pull a missing model.")
    @options.model_option
    @options.api_base_option
    @options.config_option
    @options.as_json
    @options.verbose
    @functools.wraps(function)
    def configured(
        *args: Any, model_name: str | None, api_base: str | None, config_file: Path | None, **kwargs: Any
    ) -> Any:
        given = {"model": model_name, "api_base": api_base}
        return function(*args, settings=Settings.load(given, config_file=config_file), **kwargs)

    return configured


@click.command(
    epilog="""\b
Examples:
  echelon eval evals/turn.yaml
  echelon eval evals/turn.yaml --only memory_op --wording 1
  echelon eval evals/turn.yaml --only code_modify-pager/2 --again
  echelon eval evals/turn.yaml --model openai/NAME --folder /tmp/eval --json
  echelon eval evals/phone.yaml --only alarm

\b
Exit codes: 0 all were done, 1 not all, 2 wrong usage or configuration, 4 no adb, 5 no model, 130 interrupted.
"""
)
@options_of_a_suite
@click.option(
    "--agent", default=BUILTIN, show_default=True, metavar="A", help="Who decides on phones: package.module:Class."
)
def eval(agent: str, **given: Any) -> int:
    """Carry out the requests of SUITE, each in a home and a workspace of its own, and judge what they left behind. A
    task on a phone has a simulated phone of its own.

    Each try is told on standard error and kept in FOLDER/tries.jsonl: interrupted, the same command goes on from there.
    The table of all tries goes to standard output.
    """
    return report_on(None, agent=agent, **given)


def report_on(
    runner: Runner | None,
    *,
    suite: Path,
    only: str,
    wording: int | None,
    folder: Path | None,
    again: bool,
    assume_yes: bool,
    settings: Settings,
    as_json: bool,
    agent: str = BUILTIN,
) -> int:
    """Evaluate, and put the report on standard output; the exit code. Without a runner the gateway is the one: with
    turns, or with tasks on a phone, as the suite says."""
    loaded = load_suite(suite)
    if agent != BUILTIN and not loaded.phone:
        raise UsageError("--agent is for suites of tasks on phones (`phone: true`)")
    if agent != BUILTIN:
        importable(agent, settings.workspace)
        loading.find(agent)
    runner = runner or (on_phone(agent) if loaded.phone else HIERARCHY)
    chosen = wordings(loaded, only, wording)
    if not chosen:
        ids = ", ".join(each.id for each in loaded.requests)
        raise UsageError("the suite has no such requests or wordings", hint=f"its requests: {ids}")
    loaded.check_corpus()
    folder = folder or FOLDER / loaded.name
    if runner.role is not None:
        roles = ROLES if runner.role in ROLES else (runner.role,)
        settings = with_models(settings, assume_yes=assume_yes, no_input=not interactive(), roles=roles)
    say(f"{len(chosen)} tries, kept in {folder / LOG}")
    tries = evaluate(loaded, chosen, runner, settings, folder, again=again, told=lambda each: say(report.line(each)))
    if as_json:
        put_json(report.as_data(loaded.name, tries))
    else:
        put(report.table(tries))
    return 0 if all(each.done for each in tries) else 1
