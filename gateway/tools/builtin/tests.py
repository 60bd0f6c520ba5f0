"""test.run: the workspace's tests, and a report of them that a small model can work with."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from gateway.engine.ports import Effect
from gateway.errors import ToolError
from gateway.tools.code.junit import Failure, Report
from gateway.tools.code.pytest_run import PytestRun, run_pytest
from gateway.tools.code.python_source import definitions
from gateway.tools.code.relevance import is_test_file
from gateway.tools.code.source_text import decode
from gateway.tools.registry import Schema, Situation, ToolContext, ToolResult, Touches, tool
from gateway.tools.workspace import Workspace

DEADLINE_S = 120.0
_TESTS_S = 105.0  # what the tests get of it; the rest is for ending them and reading the report
_DUMP_S = 95.0  # after which a test that still runs tells where it is
_DETAILED = 4  # failures that are told in full
_LISTED = 20  # failures that are named at all
_SOURCE_LINES = 25
_MAX_TEXT = 6_000


class RunArgs(BaseModel):
    target: str | None = Field(None, description="test file, folder or test id to run; all tests if left out")


def _narrow_run(schema: Schema, ctx: ToolContext, situation: Situation) -> Schema:
    """To the test files that the request names; all tests are run where it names none. Where it is about one test,
    which it names by its id, that one alone is run: what else fails is not its affair."""
    asked = "\n".join([situation.request, *situation.goals])
    files = [each for each in Workspace(ctx.workspace).files("*.py") if is_test_file(each)]
    named: list[str] = []
    for each in files:
        found = re.findall(rf"(?<![\w/]){re.escape(each)}\b((?:::\w+)*(?:\[[^\]\n]*\])?)", asked)
        ids = dict.fromkeys(f"{each}{test}" for test in found if test.startswith("::"))
        named += ids or dict.fromkeys(each for _ in found)
    if not named:
        return {**schema, "properties": {}}
    description = schema["properties"]["target"]["description"]
    narrowed = {**schema, "properties": {"target": {"type": "string", "enum": named, "description": description}}}
    return {**narrowed, "required": ["target"]} if len(named) == 1 and "::" in named[0] else narrowed


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
        ran = await run_pytest(workspace, Path(folder), deadline_s=_TESTS_S, dump_s=_DUMP_S, target=target)
    return _without_report(ran) if ran.report is None else _result(ran.report, workspace)


def _target(workspace: Workspace, target: str | None) -> str | None:
    """The target, checked to be inside: `path` or `path::test`."""
    if not target:
        return None
    path, _, test = target.partition("::")
    name = workspace.relative(path)
    if not workspace.exists(name):
        raise ToolError(f"there is no test file {path}", hint="leave the target out to run all tests")
    return f"{name}::{test}" if test else name


def _result(report: Report, workspace: Workspace) -> ToolResult:
    """Counts, then each failure with its test's source and the frames, cut to what a prompt can hold."""
    failures = report.failures
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


def _without_report(run: PytestRun) -> ToolResult:
    """The tests were ended by the deadline, or took pytest down with them: where, if the output tells."""
    if run.code is None:
        message = f"the tests did not end within {_TESTS_S:g} s (an endless loop?) and were stopped"
    else:
        message = f"pytest ended with code {run.code} and no report"
    failure = Failure("(all tests)", message, run.hung_at)
    where = [f"at {each.path}:{each.line} in {each.function}" for each in run.hung_at]
    text = "\n".join([message, *where, "the end of the output:", run.output[-1_500:].strip()])
    return ToolResult(ok=False, text=text, data={"passed": 0, "failed": 1, "failures": [_plain(failure)]})


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
