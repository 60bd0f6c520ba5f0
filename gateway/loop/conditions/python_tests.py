"""The tests of a Python project."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from pathlib import Path

from gateway.loop.conditions.check import Check, Clock, Verdict, counted, not_evaluated, not_met, timed_out
from gateway.loop.conditions.layout import Layout
from gateway.loop.conditions.output import clean, end_of, steady
from gateway.loop.conditions.programs import environment, find
from gateway.loop.state import Finding
from gateway.tools.code.junit import Failure, Frame
from gateway.tools.code.pytest_run import PytestRun, python_of, run_pytest

_CONFIGURATIONS = ("pyproject.toml", "setup.cfg", "tox.ini", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml")
_DUMPED = 0.25  # of its time, after which a test that still runs tells where it is; it is not ended by that
_AT = re.compile(r"^(\S+?):(\d+): in ", re.MULTILINE)
_EXPLAINED = re.compile(r"^E {2,}(.*)", re.MULTILINE)
_NONE = "no tests were found: pytest looks for test_*.py and *_test.py"


def pytest_check(layout: Layout) -> Check | None:
    if not layout.python:
        return None

    async def run(clock: Clock, folder: Path) -> Verdict:
        ran = await run_pytest(
            layout.workspace,
            folder,
            deadline_s=clock.left,
            dump_s=clock.left * _DUMPED,
            python=_python(layout.root),
            options=_options(layout),
            env=environment(layout.root, folder),
        )
        return _verdict(ran, clock, layout.root, folder)

    return Check("python -m pytest", layout.python, run)


def _python(root: Path) -> str:
    """As the tool test.run has it, so that an agent sees what it is judged by; where that has no pytest, PATH's."""
    own = python_of(root)
    if own.startswith(f"{root}/") or find_spec("pytest"):
        return own
    for name in ("python3", "python"):
        beside = Path(find(root, "pytest") or "").parent / name
        if os.access(beside, os.X_OK):
            return str(beside)
    return own


def _options(layout: Layout) -> list[str]:
    """In a steady order, without what the tests print in the report, and without reports of coverage."""
    options = ["-o", "junit_logging=no", "-p", "no:randomly"]
    if any(re.search(r"--cov\b", layout.text(each)) for each in _CONFIGURATIONS):
        options.append("--no-cov")
    return options


def _verdict(ran: PytestRun, clock: Clock, root: Path, folder: Path) -> Verdict:
    output = steady(ran.output, root, folder)
    findings = []
    passed = 0
    if ran.report is not None:
        passed = ran.report.passed
        failures = sorted(ran.report.failures, key=lambda each: (each.file or "", each.line or 0, each.test))
        findings = [_finding(each, root, folder) for each in failures]
    elif ran.hung_at:
        findings = [Finding(where=_place(ran.hung_at[-1]), message="the tests were here when their time was over")]
    summary = f"{len(findings)} failed, {passed} passed" if findings else f"{passed} passed"
    if ran.code is None:
        return timed_out(clock, findings=findings, report=output)
    if ran.report is None:
        return _without_report(ran.code, output)
    if findings:
        return not_met(summary, findings, output)
    if ran.code not in (0, 5):
        message = f"pytest ended with code {ran.code}, though no test failed:\n{end_of(output)}"
        return not_met(summary, [Finding(where="(all tests)", message=message)], output)
    if not passed:
        return not_evaluated(_NONE, report=output)
    return Verdict(True, f"{counted(passed, 'test')} passed", report=output[-500:].strip())


def _without_report(code: int, output: str) -> Verdict:
    """pytest did not begin (a conftest that breaks, a wrong option), or was taken down by a test."""
    at, explained = _AT.findall(output), _EXPLAINED.findall(output)
    if at and explained:
        path, line = at[-1]
        finding = Finding(where=f"{path}:{line}", message="\n".join(explained))
        return not_met(f"pytest could not begin: {explained[-1][:200]}", [finding], output)
    problem = f"pytest ended with code {code} and no report"
    return not_evaluated(problem, findings=[Finding(where="(all tests)", message=end_of(output))], report=output)


def _finding(failure: Failure, root: Path, folder: Path) -> Finding:
    frames = [f"at {_place(each)} in {each.function}" for each in failure.frames]
    message = clean(failure.message or "(no message)", root, folder)
    return Finding(where=clean(failure.test, root, folder), message="\n".join([message, *frames]))


def _place(frame: Frame) -> str:
    return f"{frame.path}:{frame.line}"
