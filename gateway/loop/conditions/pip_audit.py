"""What pip-audit knows of the packages that a Python project depends on, where it is installed and gets an answer."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import ToolError
from gateway.loop.conditions.check import Clock, counted
from gateway.loop.conditions.layout import Layout
from gateway.loop.conditions.output import clean
from gateway.loop.conditions.programs import environment, find
from gateway.loop.state import Finding
from gateway.tools.sandbox import run_program
from gateway.tools.workspace import Workspace

_MAX_REPORT_BYTES = 64 << 20
_LONGEST_S = 120.0  # it asks the network, which may not answer


@dataclass(frozen=True)
class Audit:
    summary: str
    findings: tuple[Finding, ...] = ()


async def audited(layout: Layout, clock: Clock, folder: Path) -> Audit:
    """The packages with known vulnerabilities. What could not be asked is said in the summary, and does not count."""
    program = find(layout.root, "pip-audit")
    if program is None:
        return Audit("dependencies not audited (pip-audit is not installed)")
    what = _what(layout)
    if not what:
        return Audit("pip-audit: no dependencies to audit")
    made = folder / "audit.json"
    command = [program, "--progress-spinner", "off", "-f", "json", "-o", str(made), *what]
    try:
        finished = await run_program(
            command,
            cwd=layout.root,
            deadline_s=min(clock.left, _LONGEST_S),
            env=environment(layout.root, folder),
        )
        read = await asyncio.to_thread(Workspace(folder).read, made.name, _MAX_REPORT_BYTES)
        said = json.loads(read) if finished.code in (0, 1) else {}
        packages = said["dependencies"]
    except (ToolError, OSError, ValueError, RecursionError, KeyError, TypeError):
        return Audit("dependencies not audited (pip-audit got no answer)")
    findings = tuple(
        Finding(
            where=f"{each.get('name')} {each.get('version')}",
            message=clean(_message(vulnerability), layout.root, folder),
            code=str(vulnerability.get("id", "")),
        )
        for each in sorted(packages, key=lambda each: str(each.get("name")))
        for vulnerability in each.get("vulns", ())
    )
    return Audit(f"pip-audit: {counted(len(findings), 'vulnerability', 'vulnerabilities')}", findings)


def _what(layout: Layout) -> list[str]:
    """The packages that are installed for the workspace, or else those that it asks for."""
    installed = sorted((layout.root / ".venv" / "lib").glob("python3*/site-packages"))
    if installed:
        return ["--path", str(installed[0])]
    if layout.has("requirements.txt"):
        return ["-r", "requirements.txt"]
    return ["."] if "dependencies" in layout.text("pyproject.toml") else []


def _message(vulnerability: dict[str, object]) -> str:
    fixed = vulnerability.get("fix_versions")
    mend = f" (fixed in {', '.join(map(str, fixed))})" if isinstance(fixed, list) and fixed else ""
    return f"{str(vulnerability.get('description', '')).strip()[:500]}{mend}"
