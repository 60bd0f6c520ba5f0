"""file.read, file.list, file.write, file.undo: files of the workspace."""

from __future__ import annotations

from pydantic import BaseModel, Field

from gateway.engine.ports import Effect
from gateway.errors import ToolError
from gateway.tools.registry import Schema, Situation, ToolContext, ToolResult, tool
from gateway.tools.relevance import only_path, relevant_files
from gateway.tools.source_text import decode
from gateway.tools.undo import Changes
from gateway.tools.workspace import Workspace, sha256

MAX_TEXT = 24_000  # characters of one file.read: more does not fit a small model's prompt
MAX_LISTED = 200


class ReadArgs(BaseModel):
    path: str = Field(description="file to read, relative to the workspace")
    start_line: int | None = Field(None, ge=1, description="first line to read; from the beginning if left out")
    end_line: int | None = Field(None, ge=1, description="last line to read; to the end if left out")


def _narrow_read(schema: Schema, ctx: ToolContext, situation: Situation) -> Schema:
    """To the files worth reading, and to whole files where all of them fit: a small model guesses lines badly."""
    workspace = Workspace(ctx.workspace)
    offered = relevant_files(workspace, situation)
    schema = only_path(schema, offered)
    if all((workspace.root / each).stat().st_size <= MAX_TEXT for each in offered):
        schema["properties"] = {"path": schema["properties"]["path"]}
    return schema


@tool("file.read", effect=Effect.READ, deadline_s=10, narrow=_narrow_read)
async def file_read(args: ReadArgs, ctx: ToolContext) -> ToolResult:
    """Read a text file of the workspace, with line numbers.

    data: {path, sha256 of the whole file, lines: how many it has}.
    """
    workspace = Workspace(ctx.workspace)
    data = workspace.read(args.path)
    lines = decode(data, args.path).text.splitlines()
    first = args.start_line or 1
    last = min(args.end_line or len(lines), len(lines))
    if lines and not first <= last:
        raise ToolError(f"{args.path} has {len(lines)} lines: there are none from {first} to {args.end_line or last}")
    width = len(str(last))
    shown, size = [], 0
    for number in range(first, last + 1):
        line = f"{number:>{width}}| {lines[number - 1]}"
        size += len(line) + 1
        if size > MAX_TEXT:
            shown.append(f"… cut before line {number} of {len(lines)}; read on with start_line={number}")
            break
        shown.append(line)
    path = workspace.relative(args.path)
    text = "\n".join(shown)[: MAX_TEXT + 200] or "(the file is empty)"
    return ToolResult(text=f"{path}\n{text}", data={"path": path, "sha256": sha256(data), "lines": len(lines)})


class ListArgs(BaseModel):
    glob: str = Field("", description="only files that match, for example *.py or src/**/*.md; all if left out")


@tool("file.list", effect=Effect.READ, deadline_s=10)
async def file_list(args: ListArgs, ctx: ToolContext) -> ToolResult:
    """List the text files of the workspace.

    data: {files: [path], total}; at most 200 are listed.
    """
    found = Workspace(ctx.workspace).files(args.glob)
    listed = found[:MAX_LISTED]
    more = f"\n… and {len(found) - len(listed)} more; name a glob" if len(found) > len(listed) else ""
    nothing = f"no files match {args.glob}" if args.glob else "the workspace is empty"
    text = "\n".join(listed) + more if found else nothing
    return ToolResult(ok=bool(found) or not args.glob, text=text, data={"files": listed, "total": len(found)})


class WriteArgs(BaseModel):
    path: str = Field(description="file to write, relative to the workspace; its folders are made")
    content: str = Field(description="the whole content of the file")


async def take_back(args: BaseModel, result: ToolResult, ctx: ToolContext) -> None:
    """Undo a change whose result names {path, before, after}; nothing to do where there was none."""
    if "after" in result.data:
        Changes(ctx, result.data["path"]).take_back(result.data["before"], result.data["after"])


@tool("file.write", effect=Effect.IDEMPOTENT, deadline_s=10, undo=take_back)
async def file_write(args: WriteArgs, ctx: ToolContext) -> ToolResult:
    """Write a whole file of the workspace: a new one, or in place of an old one.

    data: {path, before: sha256 or null for a new file, after: sha256}.
    """
    path = Workspace(ctx.workspace).relative(args.path)
    changes = Changes(ctx, path)
    change = changes.done_before(args) or changes.make(args, args.content.encode())
    lines = len(args.content.splitlines())
    what = "created" if change.before is None else "unchanged" if change.before == change.after else "replaced"
    data = {"path": path, "before": change.before, "after": change.after}
    return ToolResult(text=f"{what} {path}, {lines} {'line' if lines == 1 else 'lines'}", data=data)


class UndoArgs(BaseModel):
    path: str = Field(description="file whose last change is to be taken back, relative to the workspace")


@tool("file.undo", effect=Effect.IDEMPOTENT, deadline_s=10)
async def file_undo(args: UndoArgs, ctx: ToolContext) -> ToolResult:
    """Take back the last change that was made to a file of the workspace.

    data: {path, sha256: of what stands there now, null if the file was removed}.
    """
    path = Workspace(ctx.workspace).relative(args.path)
    change = Changes(ctx, path).restore_last()
    if change is None:
        return ToolResult(ok=False, text=f"no change of {path} is known: there is nothing to undo", data={"path": path})
    text = f"{path} is as it was before its last change" if change.before else f"{path} is removed: it was new"
    return ToolResult(text=text, data={"path": path, "sha256": change.before})
