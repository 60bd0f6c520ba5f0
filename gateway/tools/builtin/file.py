"""file.read, file.list, file.write, file.undo: files of the workspace."""

from __future__ import annotations

import posixpath
import re
from typing import Protocol

from pydantic import BaseModel, Field

from gateway.engine.ports import Effect
from gateway.errors import ToolError
from gateway.tools.code.loose_checks import in_functions, with_raises
from gateway.tools.code.missing_imports import missing_imports
from gateway.tools.code.relevance import only_path, relevant_files
from gateway.tools.code.source_text import SourceText, decode, editable
from gateway.tools.code.write_brief import code_brief, named_files, stands, test_path, tests_brief, text_brief
from gateway.tools.policy import Policy, Verdict
from gateway.tools.registry import Schema, Situation, ToolContext, ToolResult, Touches, tool
from gateway.tools.undo import Changes
from gateway.tools.workspace import MAX_FILE_BYTES, MAX_FILES, Workspace, sha256

MAX_TEXT = 24_000  # characters of one file.read: more does not fit a small model's prompt
MAX_LISTED = 200
REPLACED = re.compile(r"\b(?:overwrit|rewrit|replac|from scratch|anew)", re.IGNORECASE)


class _OfFile(Protocol):
    path: str


def path_of(args: _OfFile, ctx: ToolContext) -> str:
    """The canonical path that a call is about: `./a`, `b/../a` and a link to `a` are all `a`."""
    return Workspace(ctx.workspace).relative(args.path)


def may_read(path: str, ctx: ToolContext) -> bool:
    """Whether file.read would be allowed for this file without asking: what searches may look into."""
    return Policy(ctx.settings.get("tools", {})).verdict(file_read, {"path": path}, ctx) is Verdict.ALLOW


class Readable(Workspace):
    """The workspace as a model may be shown it before any call: a file whose reading is denied cannot be read, and one
    that a person is asked about only if this task has read it already."""

    def __init__(self, ctx: ToolContext, situation: Situation) -> None:
        super().__init__(ctx.workspace)
        self._ctx = ctx
        done = (*situation.earlier, *situation.results)
        self._shown = {each["data"]["path"] for each in done if each["tool"] == "file.read" and each["ok"]}

    def read(self, path: str, limit: int = MAX_FILE_BYTES) -> bytes:
        name = self.relative(path)
        verdict = Policy(self._ctx.settings.get("tools", {})).verdict(file_read, {"path": name}, self._ctx)
        if verdict is Verdict.DENY or (verdict is Verdict.ASK and name not in self._shown):
            raise ToolError(f"{path} may not be read")
        return super().read(name, limit)


class ReadArgs(BaseModel):
    path: str = Field(description="file to read, relative to the workspace")
    start_line: int | None = Field(None, ge=1, description="first line to read; from the beginning if left out")
    end_line: int | None = Field(None, ge=1, description="last line to read; to the end if left out")


def _narrow_read(schema: Schema, ctx: ToolContext, situation: Situation) -> Schema:
    """To the files worth reading, and to whole files where all of them fit: a small model guesses lines badly."""
    workspace = Readable(ctx, situation)
    offered = relevant_files(workspace, situation)
    schema = only_path(schema, offered)
    if all((workspace.root / each).stat().st_size <= MAX_TEXT for each in offered):
        schema["properties"] = {"path": schema["properties"]["path"]}
    return schema


@tool(
    "file.read",
    effect=Effect.READ,
    deadline_s=10,
    touches=(Touches.WORKSPACE,),
    subject=path_of,
    narrow=_narrow_read,
)
def file_read(args: ReadArgs, ctx: ToolContext) -> ToolResult:
    """Read a text file of the workspace, with line numbers.

    data: {path, sha256 of the whole file, lines: how many it has}.
    """
    workspace = Workspace(ctx.workspace)
    data = workspace.read(args.path)
    lines = [line.rstrip("\r\n") for line in decode(data, args.path).lines]
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


@tool("file.list", effect=Effect.READ, deadline_s=10, touches=(Touches.WORKSPACE,))
def file_list(args: ListArgs, ctx: ToolContext) -> ToolResult:
    """List the text files of the workspace.

    data: {files: [path], total}; at most 200 are listed.
    """
    found = Workspace(ctx.workspace).files(args.glob)
    listed = found[:MAX_LISTED]
    least = "at least " if len(found) == MAX_FILES else ""
    more = f"\n… and {least}{len(found) - len(listed)} more; name a glob" if len(found) > len(listed) else ""
    nothing = f"no files match {args.glob}" if args.glob else "the workspace is empty"
    text = "\n".join(listed) + more if found else nothing
    return ToolResult(ok=bool(found) or not args.glob, text=text, data={"files": listed, "total": len(found)})


class WriteArgs(BaseModel):
    path: str = Field(description="file to write, relative to the workspace; its folders are made")
    content: str = Field(description="the whole content of the file")
    append: bool = Field(False, description="whether to add the content at the end of what stands there")
    test_of: str | None = Field(None, description="the code file that the content tests, if it is a test")


def _narrow_write(schema: Schema, ctx: ToolContext, situation: Situation) -> Schema:
    """To the file that the request names, and to its content as a text. What people have written is added to, unless
    the request wants it replaced."""
    workspace = Readable(ctx, situation)
    tested = str(situation.chosen.get("test_of") or "")
    path, paths = _target(workspace, situation, tested)
    is_python = path.endswith(".py")
    content: Schema = {"type": "string", "contentMediaType": "text/x-python" if is_python else "text/markdown"}
    if tested:
        content["description"] = tests_brief(workspace, tested, situation)
    else:
        content["description"] = (code_brief if is_python else text_brief)(workspace, path, situation)
    properties = only_path(schema, paths)["properties"]
    properties = {"path": properties["path"], "content": content}
    if stands(workspace, path) and not is_python and not REPLACED.search(situation.wanted):
        properties["append"] = {"const": True}
    if tested:
        properties["test_of"] = schema["properties"]["test_of"]
    return {**schema, "properties": properties, "required": list(properties)}


def _target(workspace: Workspace, situation: Situation, tested: str) -> tuple[str, list[str]]:
    """The file to write, empty where it is not clear yet, and those that may be meant; none where any may."""
    if tested:
        return test_path(tested), [test_path(tested)]
    chosen = str(situation.chosen.get("path") or "")
    named = [chosen] if chosen else named_files(situation.wanted) or named_files(situation.request)
    written = {
        result["data"]["path"] for result in situation.results if result["tool"] == "file.write" and result["ok"]
    }
    left = [each for each in named if each not in written] or named
    new = [each for each in left if not stands(workspace, each)] or left
    return new[0] if len(new) == 1 else "", new


async def take_back(args: BaseModel, result: ToolResult, ctx: ToolContext) -> None:
    """Undo a change whose result names {path, before, after}; nothing to do where there was none."""
    if "after" in result.data:
        Changes(ctx, result.data["path"]).take_back(result.data["before"], result.data["after"])


@tool(
    "file.write",
    effect=Effect.IDEMPOTENT,
    deadline_s=10,
    touches=(Touches.WORKSPACE,),
    subject=path_of,
    narrow=_narrow_write,
    undo=take_back,
)
def file_write(args: WriteArgs, ctx: ToolContext) -> ToolResult:
    """Write a file of the workspace: a new one, in place of an old one, or at its end.

    data: {path, before: sha256 or null for a new file, after: sha256, changed: what, for people}.
    """
    workspace = Workspace(ctx.workspace)
    path = workspace.relative(args.path)
    changes = Changes(ctx, path)
    with changes.locked():
        change = changes.done_before(args)
        if change is None:
            standing = workspace.read(path) if workspace.exists(path) else None
            change = changes.make(args, _content(workspace, path, args, standing or b""), standing)
    lines = len(args.content.splitlines())
    what = "created" if change.before is None else "unchanged" if change.before == change.after else "replaced"
    what = "added to" if args.append and what == "replaced" else what
    said = f"{what} {path}, {lines} {'line' if lines == 1 else 'lines'}"
    return ToolResult(text=said, data={"path": path, "before": change.before, "after": change.after, "changed": said})


def _content(workspace: Workspace, path: str, args: WriteArgs, standing: bytes) -> bytes:
    """What is to stand in the file; what is added is in the encoding and with the line endings of what stands there."""
    text = args.content
    if path.endswith(".py") and args.test_of:
        text = in_functions(with_raises(text), posixpath.basename(args.test_of).removesuffix(".py"))
    if path.endswith(".py"):
        text = "\n".join([*missing_imports(workspace, path, "", text), text])
    text = text if not text or text.endswith("\n") else f"{text}\n"
    if not args.append or not standing:
        return SourceText(text).encode(text)
    old = editable(standing, path)
    ends = len(re.findall(r"\r\n|\r|\n", old.text[len(old.text.rstrip("\r\n")) :]))
    wanted = 2 if path.endswith(".md") and old.text.strip() else 1  # a blank line before a new paragraph
    return old.encode(old.text + old.newline * (wanted - ends) + old.with_newlines(text))


class UndoArgs(BaseModel):
    path: str = Field(description="file whose last change is to be taken back, relative to the workspace")


@tool("file.undo", effect=Effect.IDEMPOTENT, deadline_s=10, touches=(Touches.WORKSPACE,), subject=path_of)
def file_undo(args: UndoArgs, ctx: ToolContext) -> ToolResult:
    """Take back the last change that was made to a file of the workspace.

    Called again, it takes back the change before that one.
    data: {path, sha256: of what stands there now, null if the file was removed}.
    """
    path = Workspace(ctx.workspace).relative(args.path)
    change = Changes(ctx, path).restore_last(args)
    if change is None:
        return ToolResult(ok=False, text=f"no change of {path} is known: there is nothing to undo", data={"path": path})
    text = f"{path} is as it was before its last change" if change.before else f"{path} is removed: it was new"
    return ToolResult(text=text, data={"path": path, "sha256": change.before})
