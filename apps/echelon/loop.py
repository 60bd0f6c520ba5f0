"""`echelon loop`: autonomous sessions. One is named by its id, by how that begins, by its agent's name, or `last`."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from echelon import loop_options, loop_orders, options
from echelon.terminal import ago, one_line, put_json, put_table

if TYPE_CHECKING:
    from gateway import Settings

SHOWN = 120  # characters of a task in a list


@click.group(
    cls=options.Group,
    epilog="""\b
Examples:
  echelon loop start "Make the tests pass" --exit all_tests_pass
  echelon loop watch last
  echelon loop extend last --max-iterations 200
""",
)
def loop() -> None:
    """Autonomous sessions: an agent works by itself until its exit conditions hold, or a limit is reached.

    ID is a session's id, the beginning of one, the name of its agent, or `last`.
    """


@loop.command(
    epilog="""\b
Examples:
  echelon loop start "Make the tests pass and the linter silent" --exit all_tests_pass --exit linting_clean
  echelon loop start "Mend it" --exit all_tests_pass --agent command:"./mend.sh" --protect tests/
  echelon loop start "Mend it" --exit 'command:make check' --max-iterations 20 --max-time 3600

\b
Exit conditions: all_tests_pass, build_succeeds, linting_clean, security_scan_clean, and
command:"PROGRAM", which is met when the program exits with 0. What is run for each is found
from the workspace, unless --check says it.

\b
Exit codes: 0 completed, 1 failed or stopped, 2 wrong usage or configuration, 3 a limit was reached,
6 paused or waiting for an answer, 130 interrupted.
"""
)
@click.argument("task", required=False)
@click.option("--task", "named_task", metavar="TASK", help="The same as TASK.")
@loop_options.beginning
@click.option("--yes", "assume_yes", is_flag=True, help="Approve what would be asked, and pull a missing model.")
@options.no_input
@options.as_json
@options.config_option
@options.verbose
def start(
    task: str | None, named_task: str | None, assume_yes: bool, no_input: bool, as_json: bool, **given: Any
) -> int:
    """Let an agent work on TASK by itself, with live progress, until every exit condition is met.

    After each iteration the conditions are evaluated, and what fails is what the agent is told next. Interrupted with
    Ctrl-C, or killed, the session can be resumed; others look on with `echelon loop watch`.
    """
    from gateway.errors import UsageError

    if (task is None) == (named_task is None):
        raise UsageError("a session needs one task", hint='echelon loop start "TASK" --exit all_tests_pass')
    if not (task or named_task or "").strip():
        raise UsageError("the task is empty", hint='echelon loop start "TASK" --exit all_tests_pass')
    begins = loop_options.read(**given)
    settings = _with_models(begins.settings, begins.options.agent, assume_yes=assume_yes, no_input=no_input)

    from echelon.loop_work import LoopWork

    work = LoopWork(
        lambda gateway, begun: gateway.loops.start(
            task or named_task or "",
            exits=begins.exits,
            options=begins.options,
            limits=begins.limits,
            name=begins.name,
            on_begin=begun,
        ),
        as_json=as_json,
    )
    return work.carry_out(settings, no_input=no_input, assume_yes=assume_yes)


@loop.command("list", epilog="\b\nExamples:\n  echelon loop list\n  echelon loop list --limit 5 --json\n")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many, the newest first.")
@options.as_json
@options.home
def list_sessions(settings: Settings, limit: int, as_json: bool) -> None:
    """List the newest sessions."""
    from echelon.output.loop import LoopRow
    from gateway import Gateway

    with closing(Gateway(settings)) as gateway:
        found = gateway.loops.all(limit)
    rows = [
        LoopRow(
            session=each.run_id,
            agent=each.agent,
            task=each.task,
            status=each.status,
            stop_reason=each.stop_reason,
            iteration=each.state.iteration,
            max_iterations=each.state.limits.iterations,
            met=each.state.evaluation.met if each.state.evaluation else 0,
            of=len(each.exits),
            started=each.started or None,
            ended=each.ended or None,
        )
        for each in found
    ]
    if as_json:
        put_json(rows)
        return
    put_table(
        ["id", "agent", "started", "status", "iteration", "met", "task"],
        [
            [
                row.session,
                row.agent,
                ago(row.started) if row.started else "",
                row.status.replace("_", " "),
                f"{row.iteration}/{row.max_iterations}",
                f"{row.met}/{row.of}",
                one_line(row.task, SHOWN),
            ]
            for row in rows
        ],
        spare=("started", "agent", "met"),
    )


@loop.command(epilog="\b\nExamples:\n  echelon loop status last\n  echelon loop status ~/projects/pager --json\n")
@loop_options.identifier
@options.as_json
@options.home
def status(settings: Settings, run_id: str, as_json: bool) -> None:
    """Show where a session is, once."""
    _put_status(settings, run_id, as_json=as_json)


@loop.command(
    epilog="""\b
Examples:
  echelon loop watch last
  echelon loop watch 01KA --json

\b
Exit codes: how the session ended, as of `start`; 130 with Ctrl-C, which ends only the looking on.
"""
)
@loop_options.identifier
@click.option("--once", is_flag=True, help="Show it once, as `status` does.")
@click.option("--json", "as_json", is_flag=True, help="A JSON object for each change, on a line.")
@options.home
def watch(settings: Settings, run_id: str, once: bool, as_json: bool) -> int:
    """Look on at a session until it ends, from anywhere."""
    from echelon import loop_watching

    if once:
        _put_status(settings, run_id, as_json=as_json)
        return 0
    return loop_watching.watch(settings, loop_options.meant(run_id), as_json=as_json)


@loop.command(
    epilog="""\b
Examples:
  echelon loop resume last
  echelon loop resume 01KA --from 3
  echelon loop resume 01KA --from 3 --restore-workspace

\b
Exit codes: as of `start`.
"""
)
@loop_options.identifier
@click.option("--from", "from_checkpoint", type=click.IntRange(min=1), metavar="K", help="From checkpoint K.")
@click.option("--restore-workspace", is_flag=True, help="Put the workspace back as it was then. Needs --from.")
@options.no_input
@options.as_json
@options.home
def resume(
    settings: Settings, run_id: str, from_checkpoint: int | None, restore_workspace: bool, no_input: bool, as_json: bool
) -> int:
    """Go on with a session that was paused, interrupted, answered or extended, or that failed or was stopped.

    It goes on where it was, with the options that it began with; --from goes back to a checkpoint.
    """
    from echelon.loop_work import LoopWork
    from gateway import Gateway
    from gateway.errors import UsageError

    if restore_workspace and from_checkpoint is None:
        raise UsageError("--restore-workspace needs a checkpoint", hint=f"echelon loop checkpoints {run_id} lists them")
    with closing(Gateway(settings)) as gateway:
        found = gateway.loops.session(loop_options.meant(run_id)).run_id
    work = LoopWork(
        lambda gateway, begun: gateway.loops.resume(
            found, from_checkpoint=from_checkpoint, restore_workspace=restore_workspace, on_begin=begun
        ),
        as_json=as_json,
    )
    return work.carry_out(settings, no_input=no_input)


@loop.command(epilog="\b\nExamples:\n  echelon loop checkpoints last\n  echelon loop checkpoints last 3 --json\n")
@loop_options.identifier
@click.argument("number", type=click.IntRange(min=1), metavar="[K]", required=False)
@options.as_json
@options.home
def checkpoints(settings: Settings, run_id: str, number: int | None, as_json: bool) -> None:
    """List the checkpoints of a session, or show number K."""
    from echelon import loop_checkpoints
    from gateway import Gateway

    with closing(Gateway(settings)) as gateway:
        session = gateway.loops.session(loop_options.meant(run_id))
        kept = gateway.loops.checkpoints(session.run_id)
    if number is None:
        loop_checkpoints.put_list(kept, session.run_id, as_json=as_json)
    else:
        loop_checkpoints.put_one(kept, session, number, as_json=as_json)


def _put_status(settings: Settings, run_id: str, *, as_json: bool) -> None:
    from echelon.loop_ending import as_data
    from echelon.loop_view import put_report
    from gateway import Gateway

    with closing(Gateway(settings)) as gateway:
        report = gateway.loops.report(loop_options.meant(run_id))
    if as_json:
        put_json(as_data(report))
    else:
        put_report(report)


def _with_models(settings: Settings, agent: str, *, assume_yes: bool, no_input: bool) -> Settings:
    """The settings with the models that this agent uses; a command brings its own."""
    from gateway.loop_agents import ROLES

    if agent not in ROLES:
        return settings
    from echelon.choosing import with_models

    return with_models(settings, assume_yes=assume_yes, no_input=no_input, roles=ROLES[agent])


for order in (loop_orders.extend, loop_orders.pause, loop_orders.stop, loop_orders.exits):
    loop.add_command(order)
