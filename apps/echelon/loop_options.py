"""What `echelon loop start` is told: a configuration with options over it, the exit conditions, and the limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from echelon import options
from echelon.terminal import say

if TYPE_CHECKING:
    from gateway import Settings
    from gateway.loop.state import Limits, LoopOptions

Function = Callable[..., Any]


class Positive(click.FloatRange):
    """A number above 0, and one that ends: `nan` and `inf` are none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is no number to count to", param, ctx)
        return number


POSITIVE = Positive(min=0, min_open=True)
WHOLE = click.IntRange(min=1)

REACHED = (
    click.option(
        "--exit", "exits", multiple=True, metavar="CONDITION", help="What has to hold in the end.  (Repeatable)"
    ),
)
HOW = (
    click.option("--workspace", type=options.FOLDER, help="The folder that is worked in.  [default: .]"),
    click.option(
        "--agent", metavar="A", help='Who works: turn, phone, or command:"PROGRAM ARGUMENTS".  [default: turn]'
    ),
    click.option("--agent-env", multiple=True, metavar="NAME", help="A variable that the command gets.  (Repeatable)"),
    click.option("--task-type", metavar="T", help="Fix the task type of turns.  (See: echelon patterns list)"),
    click.option("--name", metavar="N", help="The agent's name.  [default: its workspace]"),
    options.model_option,
    options.api_base_option,
)
LIMITED = (
    click.option("--max-iterations", type=WHOLE, metavar="N", help="End after so many iterations.  [at first: 50]"),
    click.option("--max-time", type=POSITIVE, metavar="S", help="End after so many seconds of work."),
    click.option("--max-tokens", type=WHOLE, metavar="N", help="End after so many tokens."),
    click.option("--max-cost", type=POSITIVE, metavar="USD", help="End after so much money."),
)
SLOW = (
    click.option("--iteration-timeout", type=POSITIVE, metavar="S", help="Seconds for an iteration.  [default: 1800]"),
    click.option("--patience", type=WHOLE, metavar="K", help="End after K iterations without progress.  [default: 3]"),
)
SAVED = (
    click.option("--checkpoint-every", type=WHOLE, metavar="N", help="Iterations between checkpoints.  [default: 5]"),
    click.option("--checkpoint-seconds", type=POSITIVE, metavar="T", help="A checkpoint after so many seconds, too."),
)
CHECKED = (
    click.option(
        "--check", "checks", multiple=True, metavar='CONDITION="P"', help="What is run for a condition.  (Repeatable)"
    ),
    click.option(
        "--timeout",
        "timeouts",
        multiple=True,
        metavar="CONDITION=S",
        help="Seconds for a condition.  [default: 600]",
    ),
    click.option("--protect", multiple=True, metavar="PATH", help="What no iteration may change.  (Repeatable)"),
    click.option("--notify-command", metavar="P", help="A program that is told of warnings, questions and the end."),
    click.option("--notify-webhook", metavar="URL", help="An address that is told of them."),
)


identifier = click.argument("run_id", metavar="ID")


def beginning(function: Function) -> Function:
    """The options of a session that begins, in the order in which --help lists them."""
    for each in reversed((*REACHED, *LIMITED, *SLOW, *SAVED, *HOW, *CHECKED)):
        function = each(function)
    return function


def extending(function: Function) -> Function:
    """The limits that can be raised."""
    for each in reversed(LIMITED):
        function = each(function)
    return function


@dataclass(frozen=True)
class Beginning:
    """What a session begins with."""

    settings: Settings
    exits: tuple[str, ...]
    options: LoopOptions
    limits: Limits
    name: str | None


def read(
    *,
    config_file: Path | None,
    workspace: Path | None,
    agent: str | None,
    agent_env: Sequence[str],
    task_type: str | None,
    name: str | None,
    model_name: str | None,
    api_base: str | None,
    max_iterations: int | None,
    max_time: float | None,
    max_tokens: int | None,
    max_cost: float | None,
    iteration_timeout: float | None,
    patience: int | None,
    checkpoint_every: int | None,
    checkpoint_seconds: float | None,
    exits: Sequence[str],
    checks: Sequence[str],
    timeouts: Sequence[str],
    protect: Sequence[str],
    notify_command: str | None,
    notify_webhook: str | None,
) -> Beginning:
    """Options over the configuration. What is repeatable is added to it. Raises UsageError and ConfigError."""
    from gateway.config import Settings
    from gateway.loop.beginning import limits_of, options_of
    from gateway.loop.conditions.evaluation import check_names
    from gateway.loop.workspace.protection import missing

    conditions = _conditions(checks, timeouts)
    check_names([*exits, *conditions])
    loop = {
        "agent": agent,
        "max_iterations": max_iterations,
        "iteration_timeout_s": iteration_timeout,
        "checkpoint_every": checkpoint_every,
        "checkpoint_s": checkpoint_seconds,
        "patience": patience,
        "conditions": conditions,
        "notify": {"command": notify_command, "webhook": notify_webhook},
    }
    given = {"workspace": workspace, "model": model_name, "api_base": api_base, "loop": loop}
    settings = Settings.load(given, config_file=config_file)
    chosen = options_of(settings)
    chosen = chosen.with_(
        agent_env=_united(chosen.agent_env, agent_env), protect=_united(chosen.protect, protect), task_type=task_type
    )
    limits = limits_of(settings).with_(time_s=max_time, tokens=max_tokens, cost_usd=max_cost)
    if not exits:
        raise _nothing_to_reach(settings, chosen)
    _check_agent(settings.workspace, chosen)
    _check_notified(notify_command)
    for each in missing(settings.workspace, chosen.protect):
        say(f"warning: nothing in {settings.workspace} is called {each}, which is to be protected")
    return Beginning(settings, tuple(dict.fromkeys(exits)), chosen, limits, name)


def _check_agent(workspace: Path, chosen: LoopOptions) -> None:
    """Said before the conditions are evaluated for the first time, which may take long."""
    from gateway.errors import ToolError, UsageError
    from gateway.loop.command import is_there, program_of
    from gateway.loop.state import COMMAND

    if not chosen.agent.startswith(COMMAND):
        return
    try:
        program = program_of(chosen.agent)[0]
    except ToolError as error:
        raise UsageError(f"the agent {chosen.agent!r}: {error}", hint=error.hint) from None
    if not is_there(program, workspace):
        hint = "name a program that may be executed: from the workspace on (./mend.sh), or on PATH"
        raise UsageError(f"the agent {chosen.agent!r}: {program} is not there, or cannot be started", hint=hint)


def _check_notified(command: str | None) -> None:
    from gateway.errors import UsageError
    from gateway.loop.command import is_there
    from gateway.tools.code.command_line import words

    if command is not None and not is_there(words(command)[0], Path.home()):
        hint = "name a program on PATH, or by its whole path: it is not run in the workspace"
        raise UsageError(f"--notify-command {command}: it is not there, or cannot be started", hint=hint)


def _united(configured: Sequence[str], given: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*configured, *given]))


def _conditions(checks: Sequence[str], timeouts: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Settings of conditions by their names, as the configuration has them."""
    found: dict[str, dict[str, Any]] = {}
    for each in checks:
        name, command = _pair(each.partition("="), "--check", 'all_tests_pass="make test"')
        found.setdefault(name, {})["command"] = command
    for each in timeouts:  # a command may have an = of its own
        name, seconds = _pair(each.rpartition("="), "--timeout", "all_tests_pass=120")
        try:
            found.setdefault(name, {})["timeout_s"] = float(seconds)
        except ValueError:
            raise click.BadParameter(f"{seconds!r} are no seconds", param_hint="--timeout") from None
    return found


def _pair(parts: tuple[str, str, str], option: str, example: str) -> tuple[str, str]:
    name, _, value = parts
    if not (name.strip() and value.strip()):
        raise click.BadParameter(f"takes a condition and a value, as in {example}", param_hint=option)
    return name.strip(), value.strip()


def _nothing_to_reach(settings: Settings, chosen: LoopOptions) -> Exception:
    """What a session is for is said by whoever starts it: conditions that were only found would be run unasked, and
    decide when the work is done."""
    from gateway.errors import UsageError

    found = found_conditions(settings.workspace, chosen)
    hint = "; ".join(f"--exit {name} ({command})" for name, command in found.items())
    some = f"here there are: {hint}" if found else 'for example --exit command:"PROGRAM", met when it exits with 0'
    return UsageError("a session needs at least one exit condition", hint=some)


def found_conditions(workspace: Path, chosen: LoopOptions) -> Mapping[str, str]:
    """The conditions that the workspace has something for, with what would be run."""
    from gateway.loop.conditions.evaluation import planned
    from gateway.loop.state import BUILTIN_CONDITIONS, ConditionSetting

    plans = {
        name: planned(name, workspace, chosen.conditions.get(name, ConditionSetting())) for name in BUILTIN_CONDITIONS
    }
    return {name: plan.command for name, plan in plans.items() if plan.command}


def meant(run_id: str) -> str:
    """A folder stands for the agent that works in it."""
    folder = Path(run_id)
    return str(folder.resolve()) if run_id != "last" and folder.is_dir() else run_id
