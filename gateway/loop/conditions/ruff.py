"""What ruff finds in a Python project."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path
from typing import Any

from gateway.errors import ToolError
from gateway.loop.conditions.check import (
    FINDINGS,
    MESSAGE_CHARS,
    REPORT_CHARS,
    Check,
    Clock,
    Verdict,
    counted,
    cut,
    not_evaluated,
    timed_out,
)
from gateway.loop.conditions.layout import Layout
from gateway.loop.conditions.output import clean
from gateway.loop.conditions.programs import environment, need, opened
from gateway.loop.state import Finding
from gateway.tools.code.proposed_line import in_words
from gateway.tools.sandbox import run_program
from gateway.tools.workspace import Workspace

_MAX_LINE = 1 << 20


def ruff_check(layout: Layout) -> Check | None:
    if not layout.python:
        return None
    program = need(layout.root, "ruff", "python -m pip install ruff")
    configured = next(filter(layout.has, (".ruff.toml", "ruff.toml")), "")
    if not configured and layout.configures("pyproject.toml", "tool.ruff"):
        configured = "pyproject.toml"

    async def run(clock: Clock, folder: Path) -> Verdict:
        found = folder / "found.jsonl"
        command = [program, "check", "--no-cache", "--no-fix", "--output-format", "json-lines"]
        # a project around the workspace, or the user, would lend it their configuration
        command += ["--output-file", str(found), *([] if configured else ["--isolated"]), "."]
        env = environment(layout.root, folder)
        finished = await run_program(command, cwd=layout.root, deadline_s=clock.left, env=env)
        output = clean(finished.output, layout.root, folder)
        if finished.code is None:
            return timed_out(clock, report=output)
        if finished.code not in (0, 1):
            return not_evaluated(f"ruff ended with code {finished.code}: {output.strip()[:500]}", report=output)
        findings, total = await asyncio.to_thread(_read, found, layout.root, folder)
        if not total and not await asyncio.to_thread(layout.workspace.files, "*.py*"):
            return not_evaluated("there are no Python files to look at")
        shown = "\n".join(f"{each.where}: {each.code} {each.message}" for each in findings)
        summary = f"ruff: {counted(total, 'finding')}"
        return Verdict(total == 0, summary, "", tuple(findings), total, cut(shown, REPORT_CHARS))

    return Check("ruff check .", configured or layout.python, run, reads=True)


def _read(path: Path, root: Path, folder: Path) -> tuple[list[Finding], int]:
    """The first findings, and how many there are: there may be more than can be held."""
    findings: list[Finding] = []
    total = 0
    with io.TextIOWrapper(opened(path), encoding="utf-8", errors="replace") as lines:
        while line := lines.readline(_MAX_LINE):
            total += 1
            if len(findings) < FINDINGS:
                findings.append(_finding(json.loads(line), root, folder))
            while not line.endswith("\n") and line:
                line = lines.readline(_MAX_LINE)
    return findings, total


def _mending(said: dict[str, Any], root: Path) -> str:
    """How it is mended, as ruff proposes it: what becomes of its line where that is all, else in ruff's own words."""
    fix = said.get("fix") or {}
    try:
        [edit] = fix["edits"]
        (row, column), (last, end) = ((edit[key]["row"], edit[key]["column"]) for key in ("location", "end_location"))
        if not edit["content"] and (column, last, end) == (1, row + 1, 1):
            return in_words("")
        if row == last:
            line = Workspace(root).read(said["filename"]).decode().splitlines()[row - 1]
            after = f"{line[: column - 1]}{edit['content']}{line[end - 1 :]}"
            if "\n" not in after:
                return in_words(after)
    except (KeyError, ValueError, TypeError, IndexError, ToolError):  # a newer ruff says it in another way
        pass
    return str(fix.get("message") or "")


def _finding(said: dict[str, Any], root: Path, folder: Path) -> Finding:
    place = f"{said['filename']}:{(said.get('location') or {}).get('row', 1)}"
    mend = _mending(said, root)
    message = f"{said['message']} (to mend it: {mend})" if mend else said["message"]
    message = cut(clean(message, root, folder), MESSAGE_CHARS)
    return Finding(where=clean(place, root, folder), message=message, code=said.get("code") or "")
