"""What bandit finds in a Python project, and pip-audit among the packages that it depends on."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from gateway.errors import ToolError
from gateway.loop.conditions import pip_audit
from gateway.loop.conditions.check import Check, Clock, Verdict, counted, not_evaluated, not_met, timed_out
from gateway.loop.conditions.layout import Layout
from gateway.loop.conditions.output import clean
from gateway.loop.conditions.programs import environment, need
from gateway.loop.state import Finding
from gateway.tools.sandbox import run_program
from gateway.tools.workspace import NOISE, Workspace

_MAX_REPORT_BYTES = 64 << 20
_TESTS = ("*/tests/*", "*/test_*.py", "*_test.py", "*/conftest.py")
_LEFT_OUT = (*_TESTS, "*/site-packages/*", "./build/*", "./dist/*") + tuple(
    f"*/{each}/*" for each in sorted(NOISE - {"build", "dist"})
)
_CONFIGURATIONS = ("bandit.yaml", "bandit.yml", ".bandit.yaml", ".bandit.yml")


def bandit_check(layout: Layout) -> Check | None:
    if not layout.python:
        return None
    program = need(layout.root, "bandit", "python -m pip install bandit")
    configured = next(filter(layout.has, _CONFIGURATIONS), "")
    if not configured and layout.configures("pyproject.toml", "tool.bandit"):
        configured = "pyproject.toml"

    async def run(clock: Clock, folder: Path) -> Verdict:
        made = folder / "bandit.json"
        command = [program, "-q", "-r", ".", "-f", "json", "-o", str(made), "-x", ",".join(_LEFT_OUT)]
        command += ["-c", configured] if configured else []
        env = environment(layout.root, folder)
        finished = await run_program(command, cwd=layout.root, deadline_s=clock.left, env=env)
        output = clean(finished.output, layout.root, folder)
        if finished.code is None:
            return timed_out(clock, report=output)
        try:
            said = await asyncio.to_thread(lambda: json.loads(Workspace(folder).read(made.name, _MAX_REPORT_BYTES)))
        except (ToolError, ValueError) as error:
            problem = f"bandit ended with code {finished.code}, and its report cannot be read: {error}"
            return not_evaluated(clean(problem, layout.root, folder), report=output)
        findings = _findings(said, layout.root, folder)
        if not findings and not said["metrics"]["_totals"]["loc"]:
            return not_evaluated("there is no Python code to look at, apart from tests")
        audit = await pip_audit.audited(layout, clock, folder)
        summary = "; ".join([f"bandit: {counted(len(findings), 'finding')}{_suppressed(said)}", audit.summary])
        findings += audit.findings
        if findings:
            report = "\n".join(f"{each.where}: {each.code} {each.message}" for each in findings)
            return not_met(summary, findings, report)
        return Verdict(True, summary)

    return Check("bandit -r .", configured or layout.python, run, reads=True)


def _findings(said: dict[str, Any], root: Path, folder: Path) -> list[Finding]:
    """Those in the order of files and lines; a file that cannot be read by bandit was not looked at."""
    found = [
        (
            each["filename"].removeprefix("./"),
            each["line_number"],
            each["test_id"],
            f"{each['issue_text']} (severity {each['issue_severity'].lower()}, "
            f"confidence {each['issue_confidence'].lower()})",
        )
        for each in said["results"]
    ]
    found += [(each["filename"].removeprefix("./"), 1, "", f"not scanned: {each['reason']}") for each in said["errors"]]
    return [
        Finding(where=clean(f"{path}:{line}", root, folder), message=clean(text, root, folder), code=code)
        for path, line, code, text in sorted(found)
    ]


def _suppressed(said: dict[str, Any]) -> str:
    total = said["metrics"]["_totals"]
    number = total.get("nosec", 0) + total.get("skipped_tests", 0)
    return f" ({number} suppressed by # nosec)" if number else ""
