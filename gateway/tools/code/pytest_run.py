"""A run of pytest in a workspace: what it reports, without what differs from run to run."""

from __future__ import annotations

import ast
import asyncio
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gateway.errors import ToolError
from gateway.tools.code.junit import Failure, Frame, Report, frames_of_dump, read_report
from gateway.tools.code.python_source import parse_or_empty
from gateway.tools.code.source_text import decode
from gateway.tools.sandbox import run_program
from gateway.tools.workspace import Workspace

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")


@dataclass(frozen=True)
class PytestRun:
    """`code` is None where the deadline ended the tests. `report` is None where there is none; then `hung_at` is where
    they were, if they told, from the test inwards. The messages of failures say what a call gave and had to give."""

    code: int | None
    report: Report | None
    output: str
    hung_at: tuple[Frame, ...] = ()


def python_of(root: Path) -> str:
    """The Python that the tests of a workspace are run with: its own, or this one."""
    own = root / ".venv" / "bin" / "python"
    return str(own) if own.exists() else sys.executable


async def run_pytest(
    workspace: Workspace,
    folder: Path,
    *,
    deadline_s: float,
    dump_s: float,
    target: str | None = None,
    python: str | None = None,
    options: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> PytestRun:
    """Run the tests, or `target` (`path` or `path::test`), for at most `deadline_s` seconds.

    `folder` is an empty one for what the run makes. A test that still runs after `dump_s` tells where it is. Nothing
    is kept in the workspace but what the tests write. Raises ToolError where Python or pytest are missing.
    """
    command = [
        *(python or python_of(workspace.root), "-m", "pytest", "-q", "--tb=short", "--color=no"),
        *("-p", "no:cacheprovider", "-o", "junit_family=xunit1", f"--junitxml={folder / 'report.xml'}"),
        *("-o", f"faulthandler_timeout={dump_s:g}", f"--basetemp={folder / 'tmp'}"),
        *options,
    ]
    # without these, a project around the workspace would lend it its configuration and its conftest
    command += [f"--rootdir={workspace.root}", f"--confcutdir={workspace.root}"]
    if not _configures_pytest(workspace.root):
        (folder / "pytest.ini").write_text("[pytest]\n")
        command += ["-c", str(folder / "pytest.ini")]
    if target:
        command += ["--", target]
    own = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1"}
    finished = await run_program(command, cwd=workspace.root, deadline_s=deadline_s, env={**own, **(env or {})})
    if "No module named pytest" in finished.output:
        raise ToolError("pytest is not installed for this workspace", hint=f"{command[0]} -m pip install pytest")
    report = await asyncio.to_thread(read_report, folder / "report.xml", workspace.root)
    output = _steady(finished.output, workspace.root, folder)
    if report is None:
        return PytestRun(finished.code, None, output, frames_of_dump(output, workspace.root))
    failures = tuple(_explained(each, workspace, folder) for each in report.failures)
    return PytestRun(finished.code, replace(report, failures=failures), output)


def _configures_pytest(root: Path) -> bool:
    for name, section in (("pyproject.toml", "[tool.pytest"), ("setup.cfg", "[tool:pytest]"), ("tox.ini", "[pytest]")):
        if (root / name).is_file() and section in (root / name).read_text("utf-8", "replace"):
            return True
    return any((root / name).exists() for name in ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"))


def _explained(failure: Failure, workspace: Workspace, folder: Path) -> Failure:
    steady = replace(failure, message=_steady(failure.message, workspace.root, folder))
    return replace(steady, message="\n".join([*_plainly(steady, workspace), *filter(None, [steady.message])]))


def _plainly(failure: Failure, workspace: Workspace) -> list[str]:
    """What a call gave and what it had to give, where that is what failed: a small model reads that better."""
    compared = re.match(r"(?:AssertionError: )?assert (.+?) == (.+)", failure.message)
    at = [each for each in failure.frames if each.path == failure.file]
    if compared is None or not at:
        return []
    try:
        tree = parse_or_empty(decode(workspace.read(at[0].path), at[0].path).text)
    except ToolError:
        return []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and node.lineno <= at[0].line <= (node.end_lineno or node.lineno):
            match node.test:
                case ast.Compare(left=left, ops=[ast.Eq()]) if not isinstance(left, ast.Constant):
                    return [f"{ast.unparse(left)} gave {compared[1]}, but must give {compared[2]}"]
    return []


def _steady(text: str, root: Path, folder: Path) -> str:
    """Without what differs from run to run: temporary folders and addresses of objects."""
    text = text.replace(str(folder), "/tmp/test").replace(os.path.realpath(folder), "/tmp/test")
    return _ADDRESS.sub("0x…", text).replace(f"{root}/", "")
