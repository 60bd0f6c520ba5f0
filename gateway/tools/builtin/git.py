"""git.status, git.diff, git.commit: the repository of the workspace."""

from __future__ import annotations

import posixpath
import shlex
from typing import Any

from pydantic import BaseModel, Field

from gateway.engine.ports import Effect, Reconciled, Reconciliation
from gateway.errors import OutsideWorkspace
from gateway.tools.builtin.file import may_read
from gateway.tools.code.commit import Commit
from gateway.tools.code.git import Repository
from gateway.tools.registry import ToolContext, ToolResult, Touches, tool
from gateway.tools.workspace import Workspace

MAX_PATCH = 24_000  # characters
MAX_LISTED = 200
MAX_PREVIEWED = 20
NOT_INSIDE = "--ignore-submodules=dirty"  # .gitmodules has its say before diff.ignoreSubmodules
_TOUCHES = (Touches.WORKSPACE, Touches.PROGRAMS)
_CHANGES = {"M": "modified", "T": "modified", "A": "added", "D": "deleted", "R": "renamed", "C": "copied"}


class StatusArgs(BaseModel):
    pass


@tool("git.status", effect=Effect.READ, touches=_TOUCHES)
async def git_status(args: StatusArgs, ctx: ToolContext) -> ToolResult:
    """Show the branch and what has changed since the last commit: staged, not staged, new and in conflict.

    data: {branch: null if none is checked out, commit: null before the first, ahead, behind: null without an upstream,
    staged: [{path, change}], changed: [{path, change}], untracked: [path], conflicts: [path], clean}; at most 200 each.
    """
    repository = await Repository.of(Workspace(ctx.workspace))
    shown = await repository.run(
        "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--no-renames", NOT_INSIDE
    )
    data = _status(shown.output)
    data["clean"] = not any(data[key] for key in ("staged", "changed", "untracked", "conflicts"))
    lines = [f"on branch {data['branch']}" if data["branch"] else "no branch is checked out"]
    if data["commit"] is None:
        lines[0] += ", which has no commits yet"
    elif data["ahead"] is not None:
        lines[0] += f", {data['ahead']} commits ahead of its upstream and {data['behind']} behind"
    for key, title in (
        ("conflicts", "in conflict"),
        ("staged", "staged"),
        ("changed", "changed"),
        ("untracked", "new"),
    ):
        found = data[key]
        data[key] = found[:MAX_LISTED]
        lines += [f"{title}:"] if found else []
        lines += [f"  {each if isinstance(each, str) else each['path'] + _kind(each)}" for each in data[key]]
        lines += [f"  … and {len(found) - MAX_LISTED} more"] if len(found) > MAX_LISTED else []
    lines += ["nothing has changed"] if data["clean"] else []
    return ToolResult(text="\n".join(lines), data=data)


class DiffArgs(BaseModel):
    path: str | None = Field(None, description="file or folder to compare; the whole workspace if left out")
    staged: bool = Field(False, description="only what is staged, rather than all changes since the last commit")


def _compared(args: DiffArgs, ctx: ToolContext) -> str:
    return _name(Workspace(ctx.workspace), args.path or ".")


@tool("git.diff", effect=Effect.READ, touches=_TOUCHES, subject=_compared)
async def git_diff(args: DiffArgs, ctx: ToolContext) -> ToolResult:
    """Show what has changed in tracked files since the last commit, as a unified diff.

    data: {files: [{path, added, removed: lines, null in a binary file}], cut: whether the diff was too long to be shown
    whole, withheld: how many files are left out since they may not be read}.
    """
    repository = await Repository.of(Workspace(ctx.workspace))
    command = ["diff", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-relative", "--submodule=short"]
    command += [NOT_INSIDE]
    command += ["--src-prefix=a/", "--dst-prefix=b/", *(["--cached"] if args.staged else []), await repository.base()]
    counted = await repository.run(*command, "--numstat", "-z", "--", _compared(args, ctx))
    files = [_counts(each) for each in counted.output.split("\0") if each]
    shown = [each for each in files if may_read(each["path"], ctx)]
    patch = ""
    if shown:
        paths = [_compared(args, ctx)] if shown == files else [each["path"] for each in shown]
        patch = (await repository.run(*command, "--patch", "--", *paths)).output
    data = {"files": shown[:MAX_LISTED], "cut": len(patch) > MAX_PATCH, "withheld": len(files) - len(shown)}
    lines = [patch[:MAX_PATCH].rstrip() or "no tracked file has changed; git.status names new ones"]
    if data["cut"]:
        lines += ["… cut; give a path. Changed lines (added, removed) by file:"]
        lines += [f"  {each['path']} +{each['added']} -{each['removed']}" for each in shown[:MAX_LISTED]]
    if data["withheld"]:
        lines.append(f"{data['withheld']} changed files are left out: they may not be read")
    return ToolResult(text="\n".join(lines), data=data)


class CommitArgs(BaseModel):
    message: str = Field(min_length=1, description="what was changed and why, the first line in short")
    paths: list[str] | None = Field(
        None, description="files and folders whose changes are committed; all that git.status shows if left out"
    )


def _committed(args: CommitArgs, ctx: ToolContext) -> str:
    workspace = Workspace(ctx.workspace)
    return shlex.join(_name(workspace, each) for each in args.paths or ["."])


async def _reconcile(args: CommitArgs, ctx: ToolContext) -> Reconciliation:
    """The commit's id was written down before the branch was moved to it: is it in the branch?"""
    commit = Commit(await Repository.of(Workspace(ctx.workspace)), args, ctx)
    verdict, done = await commit.happened()
    return Reconciliation(verdict, done.model_dump() if verdict is Reconciled.DONE and done else None)


async def _preview(args: CommitArgs, ctx: ToolContext) -> str:
    """The files that would be committed."""
    workspace = Workspace(ctx.workspace)
    files = await Commit(await Repository.of(workspace), args, ctx).preview(_names(args, workspace))
    lines = [f"{len(files)} {'file' if len(files) == 1 else 'files'} would be committed:"]
    lines += [f"  {each['path']} ({each['change']})" for each in files[:MAX_PREVIEWED]]
    lines += [f"  … and {len(files) - MAX_PREVIEWED} more"] if len(files) > MAX_PREVIEWED else []
    return "\n".join(lines)


@tool(
    "git.commit",
    effect=Effect.ONCE,
    deadline_s=120,
    touches=_TOUCHES,
    ask=True,
    subject=_committed,
    preview=_preview,
    reconcile=_reconcile,
)
async def git_commit(args: CommitArgs, ctx: ToolContext) -> ToolResult:
    """Commit changes of the workspace to the branch that is checked out.

    New, changed and deleted files are committed as they stand in the workspace, ignored ones are not. Hooks are not run
    and the commit is not signed.
    data: {commit: its id, branch: null if none is checked out, parent: null for the first, files: [{path, change}], at
    most 200, total: how many files}.
    """
    workspace = Workspace(ctx.workspace)
    return await Commit(await Repository.of(workspace), args, ctx).make(args.message, _names(args, workspace))


def _names(args: CommitArgs, workspace: Workspace) -> list[str] | None:
    return None if args.paths is None else [_name(workspace, each) for each in args.paths]


def _name(workspace: Workspace, path: str) -> str:
    """The canonical name; of a link its own, since git keeps links and does not follow them."""
    folder, last = posixpath.split(path.rstrip("/"))
    if last in ("", ".", ".."):
        name = workspace.relative(path)
    else:
        name = posixpath.normpath(posixpath.join(workspace.relative(folder or "."), last))
    if ".git" in name.lower().split("/"):
        raise OutsideWorkspace(f"{path} belongs to the repository, not to its content")
    return name


def _status(output: str) -> dict[str, Any]:
    """What `git status --porcelain=v2 --branch -z` prints."""
    data: dict[str, Any] = {"branch": None, "commit": None, "ahead": None, "behind": None}
    data |= {"staged": [], "changed": [], "untracked": [], "conflicts": []}
    for entry in output.split("\0"):
        match entry.split(" "):
            case ["#", "branch.oid", commit] if commit != "(initial)":
                data["commit"] = commit
            case ["#", "branch.head", *branch] if branch != ["(detached)"]:
                data["branch"] = " ".join(branch)
            case ["#", "branch.ab", ahead, behind]:
                data["ahead"], data["behind"] = int(ahead), -int(behind)
            case ["1", changes, _, _, _, _, _, _, *path]:
                for key, change in zip(("staged", "changed"), changes, strict=False):
                    if change != ".":
                        data[key].append({"path": " ".join(path), "change": _CHANGES.get(change, change)})
            case ["u", _, _, _, _, _, _, _, _, _, *path]:
                data["conflicts"].append(" ".join(path))
            case ["?", *path]:
                data["untracked"].append(" ".join(path))
    return data


def _kind(entry: dict[str, str]) -> str:
    return "" if entry["change"] == "modified" else f" ({entry['change']})"


def _counts(entry: str) -> dict[str, Any]:
    added, removed, path = entry.split("\t", 2)
    return {
        "path": path,
        "added": int(added) if added != "-" else None,
        "removed": int(removed) if removed != "-" else None,
    }
