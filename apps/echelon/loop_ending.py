"""How a session ended, or where it rests: in words, as JSON, and as an exit code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from echelon.cli import INTERRUPTED
from echelon.ending import WAITING, question, question_lines
from echelon.output.loop import (
    ActivityRow,
    CheckpointMade,
    ConditionRow,
    FightRow,
    FindingRow,
    LimitRow,
    LoopProgress,
)
from echelon.terminal import duration, one_line, put, put_json, say
from gateway.loop.activity import why_ended

if TYPE_CHECKING:
    from gateway.loop.report import LimitProgress, ProgressReport

LIMIT = 3
CODES = {"completed": 0, "iteration_limit_reached": LIMIT, "paused": WAITING, "waiting_for_user": WAITING}
OPTIONS = {
    "iterations": "--max-iterations N",
    "time_s": "--max-time S",
    "tokens": "--max-tokens N",
    "cost_usd": "--max-cost USD",
}
SAME = {  # in the report and in what is printed
    *("session", "agent", "task", "workspace", "works_with", "status", "stop_reason", "iteration", "max_iterations"),
    *("percentage", "met", "of", "evaluated", "warnings", "asked", "doing", "doing_since", "started", "ended"),
}


def exit_code(report: ProgressReport) -> int:
    """What the contract says for this status and stop reason; 0 for a session that goes on."""
    if report.status == "executing":
        return 0
    if (report.stop_reason or "").startswith("budget:"):
        return LIMIT
    return INTERRUPTED if report.status == "interrupted" else CODES.get(report.status, 1)


def told(report: ProgressReport, *, as_json: bool) -> int:
    """How it ended on standard output, what can be done now on standard error; the exit code."""
    if as_json:
        put_json(as_data(report))
    else:
        from echelon.loop_view import condition_line, notes

        say()
        put(ended_line(report))
        for each in report.conditions:
            put(condition_line(each).plain)
        for note in notes(report):
            say(f"! {note}")
    for line in what_now(report):
        say(line)
    return exit_code(report)


def ended_line(report: ProgressReport) -> str:
    """The status, how far it came, how long it took."""
    parts = [report.status.replace("_", " "), f"iteration {report.iteration} of {report.max_iterations}"]
    parts.append(f"{report.met} of {report.of} conditions met")
    if report.started and report.ended:
        parts.append(duration(report.ended - report.started))
    if report.status == "stopped":
        parts.append(why_ended(report.stop_reason))
    return " · ".join(filter(None, parts))


def what_now(report: ProgressReport) -> Iterator[str]:
    """What went wrong, what is asked, and the command that goes on."""
    resume = f"echelon loop resume {report.session}"
    if report.error and report.status != "completed":
        yield f"error: {one_line(report.error, 1000)}"
    if report.hint and report.status != "completed":
        yield f"  {one_line(report.hint, 1000).replace(' ID ', f' {report.session} ')}"
    reason, _, limit = (report.stop_reason or "").partition(":")
    if report.status == "paused":
        yield f"go on with: {resume}"
    elif report.question is not None:
        yield from question_lines(report.question)
        yield f'answer with: echelon runs answer {report.session} "…"'
    elif report.status == "interrupted":
        yield f"nobody works on it; go on with: {resume}"
    elif reason == "budget":
        yield f"give it more with: echelon loop extend {report.session} {OPTIONS.get(limit, '--max-iterations N')}"
        yield f"then go on with: {resume}"
    elif report.status == "failed":
        yield f"when the cause is gone, go on with: {resume}"
    elif report.status == "stopped":
        yield f"go on all the same with: {resume}"
    yield f"document: {document(report)}"


def document(report: ProgressReport) -> Path:
    return Path(report.folder) / "session.md"


def as_data(report: ProgressReport) -> LoopProgress:
    return LoopProgress(
        **report.model_dump(include=SAME),
        conditions=tuple(
            ConditionRow(
                **{**each.model_dump(), "findings": tuple(FindingRow(**one.model_dump()) for one in each.findings)}
            )
            for each in report.conditions
        ),
        limits=tuple(_limit(each) for each in report.limits),
        activity=tuple(ActivityRow(**each.model_dump()) for each in report.activity),
        checkpoints=tuple(
            CheckpointMade(**each.model_dump(include=set(CheckpointMade.model_fields))) for each in report.checkpoints
        ),
        fights=tuple(FightRow(**each.model_dump()) for each in report.fights),
        waiting=question(report.question),
        error=report.error or None,
        hint=report.hint or None,
        document=str(document(report)),
    )


def _limit(limit: LimitProgress) -> LimitRow:
    """Whole numbers as such."""
    values = {name: value for name, value in limit.model_dump().items() if name != "name"}
    return LimitRow(
        name=limit.name, **{name: int(value) if value.is_integer() else value for name, value in values.items()}
    )
