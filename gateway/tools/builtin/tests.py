"""test.run: the workspace's tests, and a report of them that a small model can work with."""

from __future__ import annotations

import ast
import asyncio
import os
import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from gateway.engine.ports import Effect
from gateway.errors import ToolError
from gateway.tools.code.junit import Failure, Report, frames_of_dump, read_report
from gateway.tools.code.python_source import definitions, parse_or_empty
from gateway.tools.code.relevance import is_test_file
from gateway.tools.code.source_text import decode
from gateway.tools.registry import Schema, Situation, ToolContext, ToolResult, Touches, tool
from gateway.tools.sandbox import Finished, run_program
from gateway.tools.workspace import Workspace

DEADLINE_S = 120.0
_TESTS_S = 105.0  # what the tests get of it; the rest is for ending them and reading the report
_DUMP_S = 95.0  # after which a test that still runs tells where it is
_DETAILED = 4  # failures that are told in full
_LISTED = 20  # failures that are named at all
_SOURCE_LINES = 25
_MAX_TEXT = 6_000
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")


class RunArgs(BaseModel):
    target: str | None = Field(None, description="test file, folder or test id to run; all tests if left out")


def _narrow_run(schema: Schema, ctx: ToolContext, situation: Situation) -> Schema:
    """To the test files that the request names; all tests are run where it names none."""
    asked = "\n".join([situation.request, *situation.goals])
    files = [each for each in Workspace(ctx.workspace).files("*.py") if is_test_file(each)]
    named = [each for each in files if re.search(rf"(?<![\w/]){re.escape(each)}\b", asked)]
    if not named:
        return {**schema, "properties": {}}
    description = schema["properties"]["target"]["description"]
    return {**schema, "properties": {"target": {"type": "string", "enum": named, "description": description}}}


def _tested(args: RunArgs, ctx: ToolContext) -> str:
    return _target(Workspace(ctx.workspace), args.target) or "."


@tool(
    "test.run",
    effect=Effect.IDEMPOTENT,
    deadline_s=DEADLINE_S,
    touches=(Touches.WORKSPACE, Touches.PROGRAMS),
    subject=_tested,
    narrow=_narrow_run,
)
async def run_tests(args: RunArgs, ctx: ToolContext) -> ToolResult:
    """Run the tests of the workspace with pytest and report which fail, and where.

    ok: at least one ran and none failed. data: {passed, failed, failures: [{test, message, files: [{path, line,
    function}]}]}; frames run from the test inwards, and only through files of the workspace.
    """
    workspace = Workspace(ctx.workspace)
    target = _target(workspace, args.target)
    with tempfile.TemporaryDirectory(prefix="echelon-test-") as folder:
        finished = await _run_pytest(workspace, target, Path(folder))
        report = await asyncio.to_thread(read_report, Path(folder) / "report.xml", workspace.root)
        output = _steady(finished.output, workspace.root, Path(folder))
        if report is None:
            return _without_report(finished, output, workspace)
        failures = [_steadied(each, workspace.root, Path(folder)) for each in report.failures]
    return _result(report, failures, workspace)


def _target(workspace: Workspace, target: str | None) -> str | None:
    """The target, checked to be inside: `path` or `path::test`."""
    if not target:
        return None
    path, _, test = target.partition("::")
    name = workspace.relative(path)
    if not workspace.exists(name):
        raise ToolError(f"there is no test file {path}", hint="leave the target out to run all tests")
    return f"{name}::{test}" if test else name


async def _run_pytest(workspace: Workspace, target: str | None, folder: Path) -> Finished:
    own = workspace.root / ".venv" / "bin" / "python"
    command = [
        *(str(own) if own.exists() else sys.executable, "-m", "pytest", "-q", "--tb=short", "--color=no"),
        *("-p", "no:cacheprovider", "-o", "junit_family=xunit1", f"--junitxml={folder / 'report.xml'}"),
        *("-o", f"faulthandler_timeout={_DUMP_S:g}", f"--basetemp={folder / 'tmp'}"),
    ]
    # without these, a project around the workspace would lend it its configuration and its conftest
    command += [f"--rootdir={workspace.root}", f"--confcutdir={workspace.root}"]
    if not _configures_pytest(workspace.root):
        (folder / "pytest.ini").write_text("[pytest]\n")
        command += ["-c", str(folder / "pytest.ini")]
    if target:
        command += ["--", target]
    env = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1"}
    finished = await run_program(command, cwd=workspace.root, deadline_s=_TESTS_S, env=env)
    if "No module named pytest" in finished.output:
        raise ToolError("pytest is not installed for this workspace", hint=f"{command[0]} -m pip install pytest")
    return finished


def _configures_pytest(root: Path) -> bool:
    for name, section in (("pyproject.toml", "[tool.pytest"), ("setup.cfg", "[tool:pytest]"), ("tox.ini", "[pytest]")):
        if (root / name).is_file() and section in (root / name).read_text("utf-8", "replace"):
            return True
    return any((root / name).exists() for name in ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"))


def _result(report: Report, failures: list[Failure], workspace: Workspace) -> ToolResult:
    """Counts, then each failure with its test's source and the frames, cut to what a prompt can hold."""
    failures = [
        replace(each, message="\n".join([*_plainly(each, workspace), *filter(None, [each.message])]))
        for each in failures
    ]
    ran = report.passed + len(failures)
    lines = [f"{len(failures)} failed, {report.passed} passed"] if ran else ["no tests were found"]
    shown: set[str] = set()
    for failure in failures[:_DETAILED]:
        lines += ["", f"FAILED {failure.test}", failure.message or "(no message)"]
        lines += [f"at {each.path}:{each.line} in {each.function}" for each in failure.frames]
        source = _test_source(failure, workspace)
        if source and source not in shown:  # cases of one parametrised test have the same
            lines += ["the test:", source]
            shown.add(source)
    lines += [f"FAILED {each.test}: {each.message[:100]}" for each in failures[_DETAILED:_LISTED]]
    if len(failures) > _LISTED:
        lines.append(f"… and {len(failures) - _LISTED} more")
    text = "\n".join(lines)
    data = {"passed": report.passed, "failed": len(failures), "failures": [_plain(each) for each in failures[:_LISTED]]}
    return ToolResult(ok=ran > 0 and not failures, text=text[:_MAX_TEXT], data=data)


def _without_report(finished: Finished, output: str, workspace: Workspace) -> ToolResult:
    """The tests were ended by the deadline, or took pytest down with them: where, if the output tells."""
    if finished.code is None:
        message = f"the tests did not end within {_TESTS_S:g} s (an endless loop?) and were stopped"
    else:
        message = f"pytest ended with code {finished.code} and no report"
    frames = frames_of_dump(output, workspace.root)
    failure = Failure("(all tests)", message, frames)
    where = [f"at {each.path}:{each.line} in {each.function}" for each in frames]
    text = "\n".join([message, *where, "the end of the output:", output[-1_500:].strip()])
    return ToolResult(ok=False, text=text, data={"passed": 0, "failed": 1, "failures": [_plain(failure)]})


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


def _test_source(failure: Failure, workspace: Workspace) -> str:
    """The failing test's own lines, numbered."""
    if failure.file is None or failure.line is None:
        return ""
    try:
        source = decode(workspace.read(failure.file), failure.file)
    except ToolError:
        return ""
    functions = [each for each in definitions(source.text) if not each.is_class]
    around = [each for each in functions if each.first <= failure.line <= each.last]
    if not around:
        return ""
    lines = [line.rstrip() for line in source.lines[around[0].first - 1 : around[0].last]]
    numbered = [f"{around[0].first + i}| {line}"[:300] for i, line in enumerate(lines[:_SOURCE_LINES])]
    return "\n".join(numbered + (["…"] if len(lines) > _SOURCE_LINES else []))


def _plain(failure: Failure) -> dict[str, Any]:
    files = [{"path": each.path, "line": each.line, "function": each.function} for each in failure.frames]
    return {"test": failure.test, "message": failure.message, "files": files}


def _steadied(failure: Failure, root: Path, folder: Path) -> Failure:
    return Failure(failure.test, _steady(failure.message, root, folder), failure.frames, failure.file, failure.line)


def _steady(text: str, root: Path, folder: Path) -> str:
    """Without what differs from run to run: temporary folders and addresses of objects."""
    text = text.replace(str(folder), "/tmp/test").replace(os.path.realpath(folder), "/tmp/test")
    return _ADDRESS.sub("0x…", text).replace(f"{root}/", "")
