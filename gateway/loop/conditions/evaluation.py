"""The evaluation of exit conditions: which there are, what each would run here, and what came of it."""

from __future__ import annotations

import asyncio
import difflib
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gateway.errors import EchelonError, ToolError, UsageError
from gateway.loop.command import program_of
from gateway.loop.conditions.bandit import bandit_check
from gateway.loop.conditions.check import (
    CODE_CHARS,
    MESSAGE_CHARS,
    SUMMARY_CHARS,
    WHERE_CHARS,
    Check,
    Clock,
    Verdict,
    cut,
    not_evaluated,
    one_line,
)
from gateway.loop.conditions.commands import cargo_check, command_check, go_check, make_check, package_json_check
from gateway.loop.conditions.layout import Layout
from gateway.loop.conditions.output import compared
from gateway.loop.conditions.python_build import build_check
from gateway.loop.conditions.python_tests import pytest_check
from gateway.loop.conditions.ruff import ruff_check
from gateway.loop.state import (
    BUILTIN_CONDITIONS,
    COMMAND,
    ConditionResult,
    ConditionSetting,
    Evaluation,
    Finding,
    Plain,
)

_PYTHON = {
    "all_tests_pass": pytest_check,
    "build_succeeds": build_check,
    "linting_clean": ruff_check,
    "security_scan_clean": bandit_check,
}
_OTHERS = (package_json_check, cargo_check, go_check, make_check)


class Planned(Plain):
    """What a condition would run in a workspace, and what says so; or why it cannot be evaluated, and what to do."""

    name: str
    command: str = ""
    why: str = ""
    problem: str = ""
    hint: str = ""


def check_names(names: Sequence[str]) -> None:
    """Raises UsageError for the name of a condition that there is not, or a command that cannot be run."""
    for name in names:
        if name.startswith(COMMAND):
            try:
                program_of(name)
            except ToolError as error:
                raise UsageError(f"the exit condition {name!r}: {error}", hint=error.hint) from None
        elif name not in BUILTIN_CONDITIONS:
            near = difflib.get_close_matches(name, BUILTIN_CONDITIONS, n=1, cutoff=0.4)
            known = f'there are {", ".join(BUILTIN_CONDITIONS)}, and {COMMAND}"a program with its arguments"'
            hint = f"did you mean {near[0]}? {known}" if near else known
            raise UsageError(f"there is no exit condition {name!r}", hint=hint)


def planned(name: str, workspace: Path, setting: ConditionSetting) -> Planned:
    """What would be run for a condition as the workspace is now."""
    try:
        check = _check(name, Layout(workspace), setting)
    except EchelonError as error:
        return Planned(name=name, problem=str(error), hint=error.hint)
    return Planned(name=name, command=check.command, why=check.why)


def all_planned(names: Sequence[str], workspace: Path, settings: Mapping[str, ConditionSetting]) -> tuple[Planned, ...]:
    """What would be run for each of the conditions, in their order."""
    return tuple(planned(each, workspace, settings.get(each, ConditionSetting())) for each in names)


async def evaluate(
    names: Sequence[str],
    workspace: Path,
    settings: Mapping[str, ConditionSetting],
    *,
    told: Callable[[ConditionResult], None] = lambda result: None,
) -> tuple[ConditionResult, ...]:
    """Each condition's result, in the order of names; `told` hears of each as soon as it is there.

    Those that only read the workspace run together, then those that may write into it, each alone. Whatever a program
    does is a result: one that is missing, hangs, crashes or floods is a `problem`, and its condition is not met.
    """
    results: dict[str, ConditionResult] = {}
    alone: list[tuple[str, Check, float]] = []
    together: list[tuple[str, Check, float]] = []

    def take(result: ConditionResult) -> None:
        results[result.name] = result
        told(result)

    for name in dict.fromkeys(names):
        setting = settings.get(name, ConditionSetting())
        try:
            check = _check(name, Layout(workspace), setting)
        except (EchelonError, OSError) as error:
            take(_result(name, "", not_evaluated(_said(error, workspace)), 0.0))
            continue
        (together if check.reads else alone).append((name, check, setting.timeout_s))

    async def run(name: str, check: Check, timeout_s: float) -> None:
        began = time.monotonic()
        verdict = await _verdict(check, workspace, timeout_s)
        take(_result(name, check.command, verdict, time.monotonic() - began))

    async with asyncio.TaskGroup() as group:
        for each in together:
            group.create_task(run(*each))
    for each in alone:
        await run(*each)
    return tuple(results[name] for name in names)


def same(a: Evaluation | Sequence[ConditionResult], b: Evaluation | Sequence[ConditionResult]) -> bool:
    """Whether two evaluations found the same: apart from iteration and time, how long it took, and the reports, which
    may have what differs from run to run."""
    return _substance(a) == _substance(b)


def _substance(evaluated: Evaluation | Sequence[ConditionResult]) -> list[tuple[object, ...]]:
    results = evaluated.results if isinstance(evaluated, Evaluation) else evaluated
    return [
        (each.name, each.met, compared(each.summary), compared(each.problem), each.total, [*map(_told, each.findings)])
        for each in results
    ]


def _told(finding: Finding) -> tuple[str, str, str]:
    return finding.where, finding.code, compared(finding.message)


def _check(name: str, layout: Layout, setting: ConditionSetting) -> Check:
    """The first that fits. Raises ToolError where nothing does, or a program is missing."""
    if setting.command:
        return command_check(layout, setting.command, f"loop.conditions.{name}.command", name)
    if name.startswith(COMMAND):
        return command_check(layout, name.removeprefix(COMMAND), "the condition itself", name)
    check_names([name])
    found = _PYTHON[name](layout)
    for other in _OTHERS:
        found = found or other(name, layout)
    if found is None:
        raise ToolError(
            f"nothing in the workspace says what to run for {name}",
            hint=f'say it with --check {name}="PROGRAM", or loop.conditions.{name}.command in the configuration',
        )
    return found


async def _verdict(check: Check, workspace: Path, timeout_s: float) -> Verdict:
    with tempfile.TemporaryDirectory(prefix="echelon-check-", ignore_cleanup_errors=True) as folder:
        try:
            return await check.run(Clock(timeout_s), Path(folder))
        except Exception as error:  # what a program makes of its report must not end a session
            return not_evaluated(_said(error, workspace).replace(folder, "/tmp/check"))


def _said(error: Exception, workspace: Path) -> str:
    if not workspace.is_dir():
        return f"the workspace {workspace} is gone"
    if isinstance(error, EchelonError):
        return f"{error} ({error.hint})" if error.hint else str(error)
    return f"{type(error).__name__}: {error}"


def _result(name: str, command: str, verdict: Verdict, s: float) -> ConditionResult:
    """Whatever a program called its tests and files: a line each, of a bounded length."""
    findings = tuple(
        each.with_(where=one_line(each.where, WHERE_CHARS), code=one_line(each.code, CODE_CHARS))
        for each in verdict.findings
    )
    said = replace(
        verdict,
        summary=cut(verdict.summary, SUMMARY_CHARS),
        problem=cut(verdict.problem, MESSAGE_CHARS),
        findings=findings,
    )
    return ConditionResult(name=name, command=command, s=round(s, 3), **vars(said))
