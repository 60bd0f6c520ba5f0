"""test.prune: takes out of a test what fails and nobody asked for. A model that writes tests makes up results, too."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from gateway.engine.ports import Effect
from gateway.errors import ToolError
from gateway.tools.builtin.file import take_back
from gateway.tools.builtin.tests import RunArgs, run_tests
from gateway.tools.code.python_source import parse_or_empty
from gateway.tools.code.source_text import decode
from gateway.tools.registry import ToolContext, ToolResult, Touches, tool
from gateway.tools.undo import Changes
from gateway.tools.workspace import Workspace

MAX_ROUNDS = 8  # of running the test, each of which may find another check that fails


class PruneArgs(BaseModel):
    path: str = Field(description="the test file, relative to the workspace")
    asked: str = Field(description="what was asked for: a check whose result stands there is kept, failing or not")


@tool(
    "test.prune",
    effect=Effect.IDEMPOTENT,
    deadline_s=240,
    touches=(Touches.WORKSPACE, Touches.PROGRAMS),
    subject=lambda args, ctx: Workspace(ctx.workspace).relative(args.path),
    undo=take_back,
)
async def prune_test(args: PruneArgs, ctx: ToolContext) -> ToolResult:
    """Take out of a test file the checks that fail and whose expected result nobody asked for.

    What such a check calls is still called, unless that fails, too. ok: the test passes now. data: {path, removed:
    [source of a check], before, after: sha256 of the file, if it was changed}.
    """
    workspace = Workspace(ctx.workspace)
    path = workspace.relative(args.path)
    changes = Changes(ctx, path)
    removed: list[str] = []
    data: dict[str, Any] = {}
    passed = False
    for _ in range(MAX_ROUNDS):
        report = await run_tests.run(RunArgs(target=path), ctx)
        passed = report.ok
        standing = workspace.read(path)
        text = decode(standing, path).text
        doomed = [] if passed else list(_unasked(text, path, report.data.get("failures", ()), args.asked))
        if not doomed:
            break
        removed += [ast.unparse(each) for each in doomed if isinstance(each, ast.Assert)]
        with changes.locked():
            change = changes.make(args, _without(text, doomed).encode(), standing)
        data = {"before": data.get("before", change.before), "after": change.after}
    said = (
        f"{len(removed)} checks that nobody asked for were taken out of {path}" if removed else f"{path} is unchanged"
    )
    lines = [said, *(f"- {each}" for each in removed), "the tests pass now" if passed else report.text]
    return ToolResult(ok=passed, text="\n".join(lines), data={"path": path, "removed": removed, **data})


def _unasked(text: str, path: str, failures: Sequence[Mapping[str, Any]], asked: str) -> Iterator[ast.stmt]:
    """The statements of the test at which it failed, and whose result is not what was asked for."""
    statements = [node for node in ast.walk(parse_or_empty(text)) if isinstance(node, ast.Assert | ast.Expr | ast.With)]
    for failure in failures:
        lines = [frame["line"] for frame in failure["files"] if frame["path"] == path]
        at = [each for each in statements if lines and each.lineno <= lines[-1] <= (each.end_lineno or each.lineno)]
        innermost = max(at, key=lambda each: each.lineno, default=None)
        if innermost is not None and not _is_asked(innermost, asked):
            yield innermost


def _is_asked(check: ast.stmt, asked: str) -> bool:
    """Whether the request has the expected result: white space and quotation marks do not count."""
    match check:
        case ast.Assert(test=ast.Compare(comparators=[expected])):
            return _bare(ast.unparse(expected)) in _bare(asked)
        case ast.With(items=[ast.withitem(context_expr=ast.Call(args=[expected, *_]))]):  # pytest.raises(ValueError)
            return ast.unparse(expected) in asked
    return False


def _bare(text: str) -> str:
    return re.sub(r"[\s'\"`]", "", text)


def _without(text: str, doomed: Sequence[ast.stmt]) -> str:
    """The text without these statements; a comparison leaves the call that it was about."""
    lines = text.splitlines()
    for each in sorted(doomed, key=lambda each: -each.lineno):
        margin = lines[each.lineno - 1][: each.col_offset]
        left = "pass"
        match each:
            case ast.Assert(test=ast.Compare(left=ast.Call() as call)) | ast.Assert(test=ast.Call() as call):
                left = ast.unparse(call)
        lines[each.lineno - 1 : each.end_lineno or each.lineno] = [f"{margin}{left}"]
    new = "\n".join(lines) + "\n"
    try:
        ast.parse(new)
    except SyntaxError as error:  # two statements on one line, say
        raise ToolError(f"a check of line {doomed[0].lineno} cannot be taken out by itself: {error.msg}") from error
    return new
