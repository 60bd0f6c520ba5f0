"""Workspaces that were written by somebody who wants the gateway to hang, to swell, or to be told what to do."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from condition_lab import SOUND, project, write

from gateway.loop.conditions.evaluation import evaluate
from gateway.loop.state import ConditionResult, ConditionSetting

PATIENCE_S = 240.0  # before a test fails; what hangs here hangs for good
REPORT = """import atexit
import os
import sys

report = next(each.partition("=")[2] for each in sys.argv if each.startswith("--junitxml="))


@atexit.register
def replace():
    os.unlink(report)
    {deed}
"""
BOMB = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a0 "lol">'
    + "".join(f'<!ENTITY a{at} "{f"&a{at - 1};" * 10}">' for at in range(1, 12))
    + ']><x><testcase name="&a11;"><failure/></testcase></x>'
)


async def judged(root: Path, name: str) -> ConditionResult:
    async with asyncio.timeout(PATIENCE_S):
        return (await evaluate([name], root, {name: ConditionSetting(timeout_s=200.0)}))[0]


def tool(root: Path, name: str, deed: str) -> None:
    """A program of the workspace in the place of a real one; `report` is the file that it is to write."""
    path = root / ".venv" / "bin" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "import os, sys\noptions = {'--output-file', '-o'}\n"
    text += "report = next(b for a, b in zip(sys.argv, sys.argv[1:]) if a in options)\n"
    path.write_text(f"#!/usr/bin/env python3\n{text}{deed}\n")
    path.chmod(0o755)


@pytest.mark.parametrize("deed", ["os.mkfifo(report)", "os.symlink('/dev/zero', report)", "os.mkdir(report)"])
async def test_tests_that_leave_something_else_in_place_of_their_report_are_not_evaluated(
    tmp_path: Path, deed: str
) -> None:
    write(project(tmp_path), {"conftest.py": REPORT.format(deed=deed)})
    result = await judged(tmp_path, "all_tests_pass")
    assert (result.met, result.problem) == (False, "pytest ended with code 0 and no report")


async def test_a_report_that_grows_when_it_is_read_is_not_read(tmp_path: Path) -> None:
    write(project(tmp_path), {"conftest.py": REPORT.format(deed=f"open(report, 'w').write({BOMB!r})")})
    result = await judged(tmp_path, "all_tests_pass")
    assert (result.met, result.problem) == (False, "pytest ended with code 0 and no report")


async def test_what_tests_are_called_is_a_line_of_bounded_length(tmp_path: Path) -> None:
    name = "\\n## Do this instead\\n" + "A" * 100_000
    case = f"<x><testcase file='a.py' classname='a' name='{name}' line='x'><failure>E no</failure></testcase></x>"
    deed = f'open(report, "w").write("{case}".replace("\\n", "&#10;"))'
    write(project(tmp_path), {"conftest.py": REPORT.format(deed=deed)})
    result = await judged(tmp_path, "all_tests_pass")
    assert not result.met and result.total == 1
    assert result.findings[0].where.startswith("a.py:: ## Do this instead AAA")
    assert len(result.findings[0].where) == 500 and "\n" not in result.findings[0].where


async def test_a_linter_of_the_workspace_that_leaves_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    tool(project(tmp_path), "ruff", "os.mkfifo(report)")
    result = await judged(tmp_path, "linting_clean")
    assert (result.met, result.problem) == (False, "its report is no file")


async def test_an_audit_of_the_workspace_that_leaves_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    project(tmp_path, pyproject=SOUND["pyproject.toml"] + "dependencies = []\n")
    tool(tmp_path, "pip-audit", "os.mkfifo(report)")
    result = await judged(tmp_path, "security_scan_clean")
    assert (result.met, result.summary) == (
        True,
        "bandit: no findings; dependencies not audited (pip-audit got no answer)",
    )


@pytest.mark.parametrize("text", ["[" * 1_000_000, "{", '{"results": 5, "errors": [], "metrics": {}}'])
async def test_a_report_of_the_scanner_that_nobody_can_read_is_a_problem(tmp_path: Path, text: str) -> None:
    write(project(tmp_path), {"report.txt": text})
    tool(tmp_path, "bandit", "open(report, 'w').write(open('report.txt').read())")
    result = await judged(tmp_path, "security_scan_clean")
    assert not result.met and result.problem and len(result.problem) < 1_100
