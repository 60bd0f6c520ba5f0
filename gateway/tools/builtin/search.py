"""file.search: lines of the workspace's files that match a pattern."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pydantic import BaseModel, Field

from gateway.engine.ports import Effect
from gateway.tools.builtin.file import may_read
from gateway.tools.code.search import Found, Search
from gateway.tools.policy import Policy, Verdict
from gateway.tools.registry import Schema, Situation, ToolContext, ToolResult, Touches, tool
from gateway.tools.workspace import Workspace

MAX_TEXT = 24_000  # characters
MAX_LINE = 300  # characters of a line


class SearchArgs(BaseModel):
    pattern: str = Field(min_length=1, max_length=2_000, description="regular expression that a line must match")
    path: str = Field(".", description="file or folder to search, relative to the workspace; all of it if left out")
    globs: list[str] = Field([], description='only files that match, such as "*.py" or "src/**"; "!*.md" leaves out')
    case: Literal["sensitive", "insensitive", "smart"] = Field(
        "sensitive", description="whether A is a; smart: only if the pattern has no capital letter"
    )
    literal: bool = Field(False, description="whether the pattern is plain text, not a regular expression")
    hidden: bool = Field(False, description="whether files whose name begins with a dot are searched, too")
    context: int = Field(0, ge=0, le=10, description="lines to show before and after each one that matches")
    max_lines: int = Field(100, ge=1, le=1_000, description="how many matching lines to show; all are counted")


def _place(args: SearchArgs, ctx: ToolContext) -> str:
    return Workspace(ctx.workspace).relative(args.path)


def _narrow(schema: Schema, ctx: ToolContext, situation: Situation) -> Schema:
    """To the pattern: a small model chooses badly among ways to search, and all of the workspace is not much."""
    return {**schema, "properties": {"pattern": schema["properties"]["pattern"]}}


@tool(
    "file.search",
    effect=Effect.READ,
    deadline_s=30,
    touches=(Touches.WORKSPACE,),
    subject=_place,
    narrow=_narrow,
)
def file_search(args: SearchArgs, ctx: ToolContext) -> ToolResult:
    """Find lines in the workspace's text files by a regular expression, with their line numbers.

    What .gitignore names is left out, as are hidden and binary files and those of more than 16 MB, unless a glob or the
    path asks for them.
    ok: something was found. data: {matches: [{path, line, text}], at most max_lines; total: how many lines match;
    files: in how many files; searched: files; too_large: files; withheld: files with matches that may not be read;
    complete: false if the time was up before all was searched}.
    """
    search = Search(
        Workspace(ctx.workspace),
        args.pattern,
        args.path,
        tuple(args.globs),
        args.case,
        args.literal,
        args.hidden,
        may_read=_may_show(args, ctx),
    )
    matches: list[dict[str, Any]] = []
    shown: list[str] = []
    total = files = 0
    for found in search.run():
        files += 1
        total += len(found.numbers)
        taken = found.numbers[: args.max_lines - len(matches)]
        if taken:
            matches += [{"path": found.path, "line": each, "text": _cut(found.lines[each - 1])} for each in taken]
            shown += ["", found.path, *_excerpt(found, taken, args.context)]
    tally = search.tally
    data = {"matches": matches, "total": total, "files": files, **vars(tally)}
    lines = [_counted(total, files, tally.searched), *shown]
    if len(matches) < total:
        lines.append(f"… and {total - len(matches)} more lines; narrow the pattern, the path or the globs")
    if tally.withheld:
        lines.append(f"{tally.withheld} files with matches are left out: they may not be read, or not without asking")
    if tally.too_large:
        lines.append(f"{tally.too_large} files were too large to be searched")
    if not tally.complete:
        lines.append("not everything was searched in the time that there is; give a path")
    return ToolResult(ok=total > 0, text=_bounded(lines), data=data)


def _may_show(args: SearchArgs, ctx: ToolContext) -> Callable[[str], bool]:
    """A rule that keeps file.search out of a folder keeps it out of it in a search of all, too; one that has a person
    asked does so unless a person was asked about this very call."""
    policy = Policy(ctx.settings.get("tools", {}))
    given = args.model_dump()
    own = policy.verdict(file_search, given, ctx)

    def may_show(path: str) -> bool:
        return may_read(path, ctx) and policy.verdict(file_search, {**given, "path": path}, ctx) in (Verdict.ALLOW, own)

    return may_show


def _excerpt(found: Found, numbers: list[int], context: int) -> list[str]:
    """The lines with their numbers: `12:` for one that matches, `13-` for its context, `--` for lines left out."""
    matching = set(found.numbers)
    last = len(found.lines) - (found.lines[-1] == "")
    around = sorted({each for at in numbers for each in range(max(1, at - context), min(last, at + context) + 1)})
    lines = []
    before = around[0] - 1
    for number in around:
        if number != before + 1 and context:
            lines.append("--")
        lines.append(f"{number}{':' if number in matching else '-'} {_cut(found.lines[number - 1])}")
        before = number
    return lines


def _cut(line: str) -> str:
    return line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]} …"


def _counted(total: int, files: int, searched: int) -> str:
    if not total:
        return f"nothing was found in {searched} {'file' if searched == 1 else 'files'}"
    return f"{total} {'line' if total == 1 else 'lines'} in {files} {'file' if files == 1 else 'files'}"


def _bounded(lines: list[str]) -> str:
    text = "\n".join(lines)
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}\n… cut; narrow the pattern, the path or the globs"
