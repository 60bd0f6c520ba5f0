"""A check: what a condition runs in a workspace, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gateway.loop.state import Finding

FINDINGS = 20  # that a result has; how many there are is its total
WHERE_CHARS = 500
CODE_CHARS = 100
SUMMARY_CHARS = 500
MESSAGE_CHARS = 1_000
REPORT_CHARS = 8_000


@dataclass(frozen=True)
class Verdict:
    """The fields of a ConditionResult that a check decides."""

    met: bool
    summary: str
    problem: str = ""
    findings: tuple[Finding, ...] = ()
    total: int = 0
    report: str = ""


class Clock:
    """What is left of the seconds that a condition has."""

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self._until = time.monotonic() + timeout_s

    @property
    def left(self) -> float:
        return max(self._until - time.monotonic(), 0.001)


Run = Callable[[Clock, Path], Awaitable[Verdict]]


@dataclass(frozen=True)
class Check:
    """`command` is what is run, as a person would type it in the workspace, and `why` what says so. `run` is given an
    empty folder for what it makes; it raises EchelonError where it cannot be carried out. One that only reads the
    workspace may run while others do."""

    command: str
    why: str
    run: Run
    reads: bool = False


def not_met(summary: str, findings: Sequence[Finding], report: str, *, problem: str = "") -> Verdict:
    """The verdict on what is wrong: the first findings, each cut to a length, and how many there are."""
    shown = tuple(each.with_(message=cut(each.message, MESSAGE_CHARS)) for each in findings[:FINDINGS])
    return Verdict(False, summary, problem, shown, len(findings), cut(report, REPORT_CHARS))


def not_evaluated(problem: str, *, findings: Sequence[Finding] = (), report: str = "") -> Verdict:
    return not_met(f"not evaluated: {problem}", findings, report, problem=problem)


def timed_out(clock: Clock, *, findings: Sequence[Finding] = (), report: str = "") -> Verdict:
    problem = f"it did not end within {clock.timeout_s:g} s and was stopped"
    return not_evaluated(problem, findings=findings, report=report)


def counted(number: int, one: str, many: str = "") -> str:
    """`no findings`, `1 finding`, `2 findings`."""
    return f"{number or 'no'} {one if number == 1 else many or f'{one}s'}"


def one_line(text: str, limit: int) -> str:
    flat = " ".join(text[: 4 * limit].split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"


def cut(text: str, limit: int) -> str:
    """The beginning and the end, where it is longer."""
    if len(text) <= limit:
        return text
    head = limit // 3
    return f"{text[:head].rstrip()}\n…\n{text[head - limit + 3 :].lstrip()}"
