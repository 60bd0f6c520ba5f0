"""file.edit: a change in a file of the workspace, by exact text, by the name of a Python definition, or by a diff."""

from __future__ import annotations

import difflib
import re

from pydantic import BaseModel, Field, model_validator

from gateway.engine.ports import Effect
from gateway.tools.builtin.file import Readable, path_of, take_back
from gateway.tools.code.code_brief import brief
from gateway.tools.code.missing_imports import missing_imports
from gateway.tools.code.python_source import NotReplaced, changed_by, definitions, parse, replaced, unwrapped
from gateway.tools.code.relevance import (
    is_test_file,
    named_line,
    only_path,
    proposed_change,
    relevant_definitions,
    relevant_files,
)
from gateway.tools.code.source_text import SourceText, editable
from gateway.tools.code.unified_diff import NotApplied, applied, nearest
from gateway.tools.registry import Schema, Situation, ToolContext, ToolResult, Touches, tool
from gateway.tools.undo import Changes
from gateway.tools.workspace import Workspace

MAX_DIFF = 2_000  # characters
PYTHON = "text/x-python"


_EXACT = ["path", "old", "new"]


class EditArgs(BaseModel):
    """Either `old` and `new`, or `source`, with `name` where the source does not tell it; or `diff`."""

    path: str = Field(description="file to change, relative to the workspace")
    old: str | None = Field(None, description="text that stands exactly once in the file")
    new: str | None = Field(None, description="text to put in its place")
    name: str | None = Field(None, description="function, Class.method or class to replace, in a Python file")
    source: str | None = Field(
        None, description="Python code: the whole new definition, from its def line to its last line"
    )
    diff: str | None = Field(
        None, description="unified diff of this one file; all of it is applied, wherever its lines stand, or nothing"
    )

    @model_validator(mode="after")
    def _one_way(self) -> EditArgs:
        by_text = self.old is not None and self.new is not None
        if [by_text, self.source is not None, self.diff is not None].count(True) != 1:
            raise ValueError("give either old and new, or source, or diff")
        return self


def _narrow_edit(schema: Schema, ctx: ToolContext, situation: Situation) -> Schema:
    """To the file that was read last and, in Python, to its definitions: what is not there cannot be named. To one line
    where that is what the request names; to what the request proposes for it, where it does,
    the first time."""
    workspace = Readable(ctx, situation)
    path = _last_seen(situation)
    del schema["properties"]["diff"]  # small models get the lines around a change wrong
    schema["description"] = "Either `old` and `new`, or `source`, with `name` where the source does not tell it."
    if path is None:
        return only_path(schema, relevant_files(workspace, situation))
    properties = only_path(schema, [path])["properties"]
    proposed = proposed_change(workspace, path, situation) if situation.candidate == 1 else None
    if proposed is not None:  # nothing is left to choose
        for name, value in zip(("old", "new"), proposed, strict=True):
            properties[name] = {"type": "string", "const": value}
        return {**schema, "properties": {each: properties[each] for each in _EXACT}, "required": [*_EXACT]}
    line = named_line(workspace, path, situation)
    names = relevant_definitions(workspace, path, situation) if path.endswith(".py") and not line else []
    if line:
        properties["old"] = {"type": "string", "const": line}
        properties["new"] = {"type": "string", "description": f"what the line {line!r} becomes; empty deletes it"}
        kept = _EXACT
    elif names:
        properties["source"] = {"type": "string", "contentMediaType": PYTHON}
        properties["source"]["description"] = brief(workspace, path, names, situation)
        kept = ["path", "source"]
    else:
        for each in ("old", "new"):
            properties[each] = {"type": "string", "description": properties[each]["description"]}
        kept = _EXACT
    return {**schema, "properties": {each: properties[each] for each in kept}, "required": kept}


def _last_seen(situation: Situation) -> str | None:
    """The file that was read last; if none was, the one that was written last, rather than its test."""
    done = [each for each in situation.results if each["ok"]]
    read = [each["data"]["path"] for each in done if each["tool"] == "file.read"]
    written = [each["data"]["path"] for each in done if each["tool"] == "file.write"]
    written.sort(key=lambda path: not is_test_file(path))
    return next(reversed(read or written), None)


@tool(
    "file.edit",
    effect=Effect.IDEMPOTENT,
    deadline_s=10,
    touches=(Touches.WORKSPACE,),
    subject=path_of,
    narrow=_narrow_edit,
    undo=take_back,
)
def file_edit(args: EditArgs, ctx: ToolContext) -> ToolResult:
    """Change a file of the workspace: replace a Python function, method or class by its name, or exact text.

    Or apply a unified diff, whose line numbers may be wrong, but whose lines have to stand there.
    data: {path, name: of the definition or empty, before: sha256, after: sha256, changed: what, for people}; {path}
    alone where nothing was changed.
    """
    workspace = Workspace(ctx.workspace)
    path = workspace.relative(args.path)
    changes = Changes(ctx, path)
    with changes.locked():
        done = changes.done_before(args)
        before = ctx.artifacts.get(done.before) if done and done.before else workspace.read(path)
        old = editable(before, path)
        try:
            name, text, notes = _changed(workspace, old, args, path)
        except (NotReplaced, NotApplied) as reason:
            return ToolResult(ok=False, text=f"{path} is unchanged: {reason}", data={"path": path})
        if text == old.text:
            reason_ = "that is what already stands there. Write it differently."
            return ToolResult(ok=False, text=f"{path} is unchanged: {reason_}", data={"path": path})
        change = done or changes.make(args, old.encode(text), before)
    said = "; ".join([f"changed {name} in {path}" if name else f"changed {path}", *notes])
    return ToolResult(
        text=f"{said}\n{_diff(old.text, text)}",
        data={"path": path, "name": name, "before": change.before, "after": change.after, "changed": said},
    )


def _changed(workspace: Workspace, old: SourceText, args: EditArgs, path: str) -> tuple[str, str, list[str]]:
    """The definition that is changed, if it is one; the new text; notes on what else was done."""
    if args.source is not None:
        if not path.endswith((".py", ".pyi")):
            raise NotReplaced("only Python files have definitions; use old and new.")
        name = args.name or changed_by(args.source, old.text)
        imports = missing_imports(workspace, path, old.text, args.source)
        return name, *replaced(old, name, "\n".join([*imports, unwrapped(args.source)]))
    if args.diff is not None:
        text = applied(old, args.diff, path)
    else:
        assert args.old is not None and args.new is not None  # the arguments' model sees to it
        text = _exchanged(old, args.old, args.new)
    if path.endswith(".py") and definitions(old.text):
        try:
            parse(text)
        except SyntaxError as error:
            raise NotReplaced(f"it would no longer be valid Python: line {error.lineno}: {error.msg}.") from None
    return "", text, []


def _exchanged(file: SourceText, old: str, new: str) -> str:
    """The text with `old`, which must stand there once, replaced. Line endings need not be those of the file."""
    wanted = old if old in file.text else file.with_newlines(old)
    count = file.text.count(wanted) if wanted else 0
    if count == 1:
        return file.text.replace(wanted, file.with_newlines(new) if file.newline != "\n" else new)
    if count > 1:
        raise NotReplaced(f"old stands there {count} times. Give more lines around it, so that it is found once.")
    raise NotReplaced(f"old does not stand in the file. {nearest(file.text, old)}")


def _diff(old: str, new: str) -> str:
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=1)
    text = "\n".join(line for line in lines if not re.match(r"(---|\+\+\+) ?$", line))
    return text if len(text) <= MAX_DIFF else text[:MAX_DIFF] + "\n… cut"
