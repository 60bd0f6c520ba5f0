"""What an operator sees of a session: its progress on a screen, and its activity as lines."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from rich.console import Console, ConsoleOptions, RenderResult
from rich.spinner import Spinner
from rich.text import Text

from echelon.loop_ending import what_now
from echelon.terminal import ago, duration, harmless, one_line
from gateway.loop.progress import fight_in_words

if TYPE_CHECKING:
    from gateway.loop.activity import Activity
    from gateway.loop.report import ConditionProgress, LimitProgress, ProgressReport

LEAST_ACTIVITY, MOST_ACTIVITY = 4, 14  # lines
CHECKPOINTS = 3
BAR = 40  # characters, at most
WORKS = "executing"
WHOLE: Literal["fold"] = "fold"  # of lines that are continued on the next where they are longer
MARKS = {True: ("✓", "green"), False: ("✗", "red"), None: ("·", "dim")}
STYLES = {"warning": "yellow", "operator": "cyan", "iteration": "bold"}
COLOURS = {"executing": "green", "completed": "green", "failed": "red", "iteration_limit_reached": "yellow"}


class LoopView:
    """A report as a screen of rich: the newest activity as far as there is room for it; with `findings`, what is wrong
    in each condition. `trouble` is said below, why it may be old."""

    def __init__(self, report: ProgressReport | None = None, *, findings: bool = False) -> None:
        self.report = report
        self._findings = findings
        self.trouble = ""
        self._spinner = Spinner("dots")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        spinner = self._spinner.render(console.get_time())
        height = console.height if console.is_terminal else 10_000
        for each in self._lines(spinner if isinstance(spinner, Text) else Text(), options.max_width, height):
            if each.overflow != WHOLE:
                each.truncate(options.max_width, overflow="ellipsis")
                each.no_wrap = True
            yield each

    def _lines(self, spinner: Text, width: int, height: int) -> Iterator[Text]:
        report = self.report
        trouble = [_note(self.trouble)] if self.trouble else []
        if report is None:
            yield Text.assemble(spinner, " beginning")
            yield from trouble
            return
        above, below = list(_above(report, spinner, width, findings=self._findings)), [*_below(report), *trouble]
        taken = sum(-(-each.cell_len // width) if each.overflow == WHOLE else 1 for each in (*above, *below))
        room = max(LEAST_ACTIVITY, min(MOST_ACTIVITY, height - taken - 2))
        yield from above
        if report.activity:
            yield Text("activity", style="bold")
            yield from (activity_line(each) for each in report.activity[-room:])
        yield from below


def _above(report: ProgressReport, spinner: Text, width: int, *, findings: bool) -> Iterator[Text]:
    status = Text(report.status.replace("_", " "), style=f"bold {COLOURS.get(report.status, 'yellow')}")
    head = Text.assemble(spinner, " ") if report.status == WORKS and not findings else Text()
    yield Text.assemble(head, status, "  ", one_line(harmless(report.task), 500))
    yield Text(f"session {report.session} · {harmless(report.agent)} · with {harmless(report.works_with)}", style="dim")
    yield _bar(report, width)
    yield _facts("began", _times(report))
    yield Text(conditions_line(report), style="bold")
    for each in report.conditions:
        yield condition_line(each)
        if findings:
            yield from _findings(each)
    for at, each in enumerate(report.limits):
        yield _facts("limits" if at == 0 else "      ", limit_words(each))


def _below(report: ProgressReport) -> Iterator[Text]:
    if report.checkpoints:
        yield Text("checkpoints", style="bold")
        for made in report.checkpoints[-CHECKPOINTS:]:
            yield Text(f"  {made.number:>3}  after iteration {made.iteration}  {ago(made.at)}  {made.why}")
        yield Text(f"  look into one: echelon loop checkpoints {report.session} K", style="dim", overflow=WHOLE)
    yield from map(_note, notes(report))
    yield from (Text(harmless(each), overflow=WHOLE) for each in what_now(report))
    if report.doing:
        lasting = f" · {duration(time.time() - report.doing_since)}" if report.doing_since else ""
        yield Text.assemble(("now", "bold"), f"  {one_line(harmless(report.doing), 300)}", (lasting, "dim"))


def put_report(report: ProgressReport) -> None:
    """On standard output, once: with what is wrong in each condition."""
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = 10_000
    console.print(LoopView(report, findings=True))


def notes(report: ProgressReport) -> Iterator[str]:
    """What an operator should know: warnings, conditions that fight, orders not heard yet."""
    yield from (one_line(each, 300) for each in report.warnings[-3:])
    yield from map(fight_in_words, report.fights)
    for each in report.asked:
        yield f"asked: {each}; heard {'soon' if report.status == WORKS else 'when the session goes on'}"


def conditions_line(report: ProgressReport) -> str:
    """How many conditions are met, and as of when."""
    if any(each.evaluating for each in report.conditions):
        when = "being evaluated now"
    elif report.evaluated is None:
        when = "not yet evaluated"
    else:
        when = f"after iteration {report.evaluated}" if report.evaluated else "before the first iteration"
    return f"conditions  {report.met} of {report.of} met, {when}"


def condition_line(each: ConditionProgress) -> Text:
    """A mark, the name, the state in words where the mark does not say it, and what was found."""
    mark, style = MARKS[each.met]
    found = one_line(harmless(each.problem or each.summary), 300)
    state = "" if each.met is not None else "not yet evaluated"
    if each.evaluating:
        state = "being evaluated" if each.met is None else f"being evaluated, was {'met' if each.met else 'not met'}"
    said = " · ".join(filter(None, (state, found)))
    return Text.assemble("  ", (mark, style), f" {harmless(each.name)}", ("  " if said else ""), (said, "dim"))


def _findings(each: ConditionProgress) -> Iterator[Text]:
    for found in each.findings:
        rule = f" {found.code}" if found.code else ""
        yield Text(f"      {harmless(f'{found.where}{rule}: {one_line(found.message, 300)}')}", style="dim")
    more = each.total - len(each.findings)
    if each.findings and more > 0:
        yield Text(f"      {more} more", style="dim")


def limit_words(each: LimitProgress) -> str:
    """What is used up, of what, and what remains."""
    if each.name == "iterations":
        return f"{each.used:g} of {each.limit:g} iterations, {each.remaining:g} remain"
    if each.name == "tokens":
        return f"{each.used:,.0f} of {each.limit:,.0f} tokens, {each.remaining:,.0f} remain"
    if each.name == "cost_usd":
        return f"${each.used:.2f} of ${each.limit:.2f}, ${each.remaining:.2f} remain"
    return f"{duration(each.used)} of {duration(each.limit)}, {duration(each.remaining)} remain"


def activity_line(each: Activity) -> Text:
    """Local time, the iteration, what happened."""
    style = STYLES.get(each.kind, "none")
    head = (f"  {ago(each.at)} ", "dim"), (f"{each.iteration:>4} ", "dim")
    return Text.assemble(*head, (one_line(harmless(each.text), 500), style))


def _note(text: str) -> Text:
    """Not cut: it may be a command."""
    return Text(f"! {harmless(text)}", style="yellow", overflow=WHOLE)


def _bar(report: ProgressReport, width: int) -> Text:
    room = max(10, min(BAR, width - 42))
    filled = room * report.percentage // 100
    label = f"iteration {report.iteration} of {report.max_iterations}  "
    return Text.assemble(
        label, ("━" * filled, "green"), ("╌" * (room - filled), "dim"), f"  {report.percentage} % of the limit"
    )


def _times(report: ProgressReport) -> str:
    if report.started is None:
        return "just now"
    until = report.ended or (time.time() if report.status == WORKS else None)
    took = f" · {'took' if report.ended else 'for'} {duration(until - report.started)}" if until else ""
    ended = f" · ended {ago(report.ended)}" if report.ended else ""
    return f"{ago(report.started)}{ended}{took}"


def _facts(name: str, value: str) -> Text:
    return Text.assemble((f"{name}  ", "bold"), value)
