"""`echelon runs`: the engine's view of what is done. A run is named by its id, by how it begins, or `last`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from echelon import options
from echelon.terminal import ago, one_line, put, put_json, put_table, say

if TYPE_CHECKING:
    from echelon.output.run import ReplayOutcome
    from gateway import Gateway, Settings
    from gateway.engine.store import RunRow
    from gateway.phones import PhoneTask

FOLLOW_S = 0.2
SHOWN = 120  # characters of a title in a list

identifier = click.argument("run_id", metavar="ID")


@click.group(cls=options.Group, epilog="\b\nExamples:\n  echelon runs list\n  echelon runs resume last\n")
def runs() -> None:
    """Runs: list, show, resume, cancel, answer, replay.

    ID is a run's id, the beginning of one, or `last`.
    """


@runs.command(
    "list",
    epilog="""\b
Examples:
  echelon runs list
  echelon runs list --limit 5 --json
""",
)
@options.session_option
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many, the newest first.")
@options.as_json
@options.home
def list_runs(settings: Settings, session: str | None, limit: int, as_json: bool) -> None:
    """List the newest runs."""
    from echelon.output.run import RunRow
    from gateway import Gateway

    with closing(Gateway(settings)) as gateway:
        rows = [(row, gateway.runs.status(row)) for row in gateway.runs.store.runs(session=session, limit=limit)]
    if as_json:
        put_json([RunRow(**_facts(row, status)) for row, status in rows])
        return
    put_table(
        ["id", "graph", "updated", "status", "why", "title"],
        [
            [row.id, row.graph, ago(row.updated), status, row.stop_reason or "", one_line(row.title, SHOWN)]
            for row, status in rows
        ],
        spare=("graph", "why", "updated"),
    )


@runs.command(epilog="\b\nExamples:\n  echelon runs show last\n  echelon runs show 01KA --json\n")
@identifier
@options.as_json
@options.home
def show(settings: Settings, run_id: str, as_json: bool) -> None:
    """Show where a run is."""
    from echelon.output.run import RunShown
    from gateway import Gateway

    with closing(Gateway(settings)) as gateway:
        row = _found(gateway, run_id)
        state, status = gateway.state(row), gateway.runs.status(row)
        events = gateway.runs.store.last_seq(row.id)
        children = gateway.runs.store.runs(parent=row.id)
        task = gateway.phones.task(row.id) if row.graph == "phone" else None
    if as_json:
        put_json(
            RunShown(
                **_facts(row, status),
                node=state.node,
                counters=dict(state.counters),
                error=state.error,
                events=events,
                children=tuple(child.id for child in children),
                trajectory=str(task.folder / "trajectory.json") if task else None,
            )
        )
        return
    facts = {
        "id": row.id,
        "graph": row.graph,
        "title": " ".join(row.title.split()),
        "turn": f"{row.session}/{row.ordinal}" if row.session is not None else "",
        "status": f"{status} {row.stop_reason or ''}".strip(),
        "error": state.error or "",
        "question": row.question or "",
        "next node": state.node or "",
        "begun": ago(row.created),
        "updated": ago(row.updated),
        "events": f"{events:,}",
        "counters": ", ".join(f"{name} {value:g}" for name, value in sorted(state.counters.items())),
        "limits": ", ".join(f"{name} {value:g}" for name, value in sorted(row.limits.items())),
        "parent": row.parent or "",
        "children": ", ".join(child.id for child in children),
        "phone": task.device.serial if task and task.device else "",
        "trajectory": str(task.folder / "trajectory.json") if task else "",
    }
    put("\n".join(f"{name:<10} {value}" for name, value in facts.items() if value))
    if task is not None and task.steps:
        _put_steps(task)


@runs.command(
    epilog="""\b
Examples:
  echelon runs events last
  echelon runs events last --follow
  echelon runs events 01KA --json
"""
)
@identifier
@click.option("--follow", is_flag=True, help="Go on until the run ends, waits or is stopped.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, whole.")
@options.home
def events(settings: Settings, run_id: str, follow: bool, as_json: bool) -> None:
    """Print a run's event log."""
    import time

    from echelon.event_lines import line
    from echelon.output.run import EventRow
    from gateway import Gateway

    with closing(Gateway(settings)) as gateway:
        store, row, seen = gateway.runs.store, _found(gateway, run_id), 0
        while True:
            row = store.run(row.id)  # before its events: what it wrote last is not missed
            for event in store.events(row.id, after=seen):
                seen = event.seq
                if as_json:
                    put_json(EventRow(seq=event.seq, at=event.at, kind=event.kind, data=event.data))
                else:
                    put(line(event))
            if not follow or row.status != "running":
                return
            time.sleep(FOLLOW_S)


@runs.command(
    epilog="""\b
Examples:
  echelon runs resume last
  echelon runs resume last --limit steps=100 --limit time_s=3600
  echelon runs resume 01KA --json
"""
)
@identifier
@click.option(
    "limits",
    "--limit",
    metavar="NAME=TOTAL",
    multiple=True,
    callback=lambda _, __, given: dict(map(_limit, given)),
    help="Raise a limit: `echelon runs show` names them. The total counts, not what is added.",
)
@options.no_input
@options.as_json
@options.api_base_option
@options.home
def resume(
    settings: Settings,
    run_id: str,
    limits: dict[str, float],
    api_base: str | None,
    no_input: bool,
    as_json: bool,
) -> int:
    """Go on with a run that was interrupted, answered, that failed, or that has used up a limit.

    It goes on with the prompts, patterns and models that it began with; what it did is not done again.
    """
    return _go_on(settings, run_id, api_base, None, as_json, no_input, limits)


@runs.command(epilog='\b\nExamples:\n  echelon runs answer last yes\n  echelon runs answer 01KA "the one in src/"\n')
@identifier
@click.argument("text")
@options.no_input
@options.as_json
@options.api_base_option
@options.home
def answer(settings: Settings, run_id: str, text: str, api_base: str | None, no_input: bool, as_json: bool) -> int:
    """Answer a run's question with TEXT, and go on with it."""
    return _go_on(settings, run_id, api_base, text, as_json, no_input)


@runs.command(epilog="\b\nExamples:\n  echelon runs cancel last\n  echelon runs cancel 01KA --json\n")
@identifier
@options.as_json
@options.home
def cancel(settings: Settings, run_id: str, as_json: bool) -> None:
    """End a run for good."""
    from echelon.output.run import Cancelled
    from gateway import Gateway

    async def end() -> Cancelled:
        async with Gateway(settings) as gateway:
            row = _found(gateway, run_id)
            return Cancelled(run=row.id, cancelled=await gateway.cancel(row.id))

    ended = asyncio.run(end())
    if as_json:
        put_json(ended)
    say(f"run {ended.run} {'is cancelled' if ended.cancelled else 'is being worked on: it ends within a second'}")


@runs.command(epilog="\b\nExamples:\n  echelon runs replay last\n  echelon runs replay 01KA --json\n")
@identifier
@options.as_json
@options.home
def replay(settings: Settings, run_id: str, as_json: bool) -> int:
    """Run it again from its log alone, without a model or a tool, and compare.

    Exit code 1 where a decision, or a file that shows the run, is not the same.
    """
    from echelon.replaying import replayed
    from gateway import Gateway

    async def again() -> ReplayOutcome:
        async with Gateway(settings) as gateway:
            return await replayed(gateway, _found(gateway, run_id).id)

    outcome = asyncio.run(again())
    if as_json:
        put_json(outcome)
    elif outcome.event is not None:
        put(f"different at event {outcome.event}: {outcome.problem}")
    elif outcome.differing:
        put("\n".join(f"different: {path}" for path in outcome.differing))
    else:
        ended = "" if outcome.finished else ", not finished"
        put(f"identical: {_count(outcome.decisions, 'decision')}, {_count(outcome.files, 'file')}{ended}")
    return 0 if outcome.identical else 1


@runs.command(
    epilog="""\b
Examples:
  echelon runs graph
  echelon runs graph phone > phone.mmd
  echelon runs graph --json
"""
)
@click.argument("graph_name", metavar="[GRAPH]", default="turn")
@options.as_json
@options.home
def graph(settings: Settings, graph_name: str, as_json: bool) -> None:
    """Print a graph of nodes as a Mermaid flowchart."""
    from echelon.output.graph import GraphShown, NodeShown
    from gateway import Gateway

    with closing(Gateway(settings)) as gateway:
        found = gateway.graph(graph_name)
    if not as_json:
        put(found.mermaid())
        return
    nodes = tuple(
        NodeShown(
            name=node.name,
            targets=tuple(target for target in node.targets() if target is not None),
            backtrack_to=node.on_failure.backtrack_to,
            ends=None in node.targets(),
        )
        for node in found.nodes.values()
    )
    put_json(GraphShown(name=found.name, start=found.start, nodes=nodes))


def _limit(text: str) -> tuple[str, float]:
    """`steps=100`."""
    name, _, total = text.partition("=")
    try:
        value = float(total)
    except ValueError:
        value = 0.0
    if not name or not 0 < value < float("inf"):
        raise click.BadParameter(f"{text!r} is not NAME=TOTAL, as in steps=100")
    return name, value


def _go_on(
    settings: Settings,
    run_id: str,
    api_base: str | None,
    answer: str | None,
    as_json: bool,
    no_input: bool,
    limits: Mapping[str, float] | None = None,
) -> int:
    """Work on a run with the server that it began with, unless an option names another."""
    from echelon.going_on import go_on
    from gateway import Gateway

    with closing(Gateway(settings)) as gateway:
        row = _found(gateway, run_id)
        while row.parent is not None:  # what a turn has begun is gone on with by the turn
            row = gateway.runs.store.run(row.parent)
    began_with = row.context.get("settings", {}).get("api_base")
    settings = settings.model_copy(update={"api_base": api_base or began_with or settings.api_base})
    return go_on(settings, row, answer, as_json=as_json, no_input=no_input, limits=limits or {})


def _put_steps(task: PhoneTask) -> None:
    """What was done on the phone, and where the time went."""
    from gateway.phone.trajectory import table

    put("")
    put_table(table.STEP_HEADERS, table.step_rows(task.steps), spare=[f"{phase} ms" for phase in table.PHASES])
    put("")
    put_table(table.LATENCY_HEADERS, table.latency_rows(task.steps))


def _found(gateway: Gateway, run_id: str) -> RunRow:
    """The run. Raises RunNotFound."""
    from gateway.errors import RunNotFound

    if run_id != "last":
        return gateway.runs.store.run(run_id.upper())
    newest = [row for row in gateway.runs.store.runs() if row.parent is None]
    if not newest:
        raise RunNotFound("there is no run yet", hint='begin one with: echelon run "…"')
    return newest[0]


def _count(number: int | None, noun: str) -> str:
    return f"{number or 0:,} {noun}{'' if number == 1 else 's'}"


def _facts(row: RunRow, status: str) -> dict[str, Any]:
    """What a list and a run that is shown have in common."""
    names = ("id", "graph", "title", "session", "ordinal", "parent", "status", "stop_reason", "question")
    told = {name: getattr(row, name) for name in names}
    return {**told, "status": status, "created": row.created, "updated": row.updated}
