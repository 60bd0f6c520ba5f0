"""One commit, made at most once.

It is put together from git's own parts, which run no hook, no editor, no signature and no collection of garbage, and
beside the repository's own index. Its id is written down in the gateway's home before the branch is
moved to it, in one step that fails if the branch is no longer where it was: after a crash, the branch tells whether the
commit was made.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel

from gateway.engine.ports import Reconciled
from gateway.errors import ToolError
from gateway.tools.code.git import Repository
from gateway.tools.registry import ToolContext, ToolResult
from gateway.tools.undo import digest_of, replace_file
from gateway.tools.workspace import sha256

MAX_LISTED = 200
_NOTES = 500  # that are kept, of all repositories: far more than can be in doubt
_UNDER_WAY = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
}
_CHANGES = {"A": "added", "D": "deleted", "M": "modified", "T": "modified"}


class Commit:
    """A commit that a request asks for."""

    def __init__(self, repository: Repository, request: BaseModel, ctx: ToolContext) -> None:
        self._repository = repository
        self._digest = digest_of(request, ctx)
        root = repository.workspace.root
        self._own = root / ".git"
        name = f"{sha256(str(root).encode())[:16]}-{self._digest[:48]}.json"  # one each: others commit meanwhile
        self._note = ctx.home / "git" / name

    async def make(self, message: str, paths: Sequence[str] | None) -> ToolResult:
        """Commit what stands in the workspace, of these paths or of all. Raises ToolError, with nothing committed."""
        who = self._identity()
        self._check_free()
        git = self._repository
        parent = await git.head()
        with tempfile.TemporaryDirectory(prefix="echelon-git-") as folder:
            index = Path(folder) / "index"
            await self._gather(index, parent, paths)
            tree = (await git.run("write-tree", index=index)).output.strip()
        parents = ["-p", parent] if parent else []
        text = message.strip() + "\n"
        commit = (await git.run("commit-tree", "--no-gpg-sign", *parents, tree, stdin=text, env=who)).output.strip()
        note = {"request": self._digest, "commit": commit, "parent": parent, "paths": paths}
        await asyncio.to_thread(replace_file, self._note, json.dumps(note).encode())
        await asyncio.to_thread(_forget_old, self._note.parent)
        subject = message.strip().splitlines()[0]
        self._check_free()
        await git.run("update-ref", "-m", f"commit: {subject}", "HEAD", commit, parent or "0" * len(commit), env=who)
        return await self._made(commit, parent, paths)

    async def preview(self, paths: Sequence[str] | None) -> list[dict[str, str]]:
        """What would be committed now: [{path, change}]. Nothing is written into the repository. Raises as `make`."""
        self._identity()
        self._check_free()
        with tempfile.TemporaryDirectory(prefix="echelon-git-") as folder:
            index = Path(folder) / "index"
            objects = Path(folder) / "objects"
            objects.mkdir()
            places = {
                "GIT_OBJECT_DIRECTORY": str(objects),
                "GIT_ALTERNATE_OBJECT_DIRECTORIES": json.dumps(str(self._own / "objects"), ensure_ascii=False),
            }
            return await self._gather(index, await self._repository.head(), paths, places)

    async def happened(self) -> tuple[Reconciled, ToolResult | None]:
        """Whether this very request was carried out, and what it gave."""
        try:
            note = json.loads(await asyncio.to_thread(self._note.read_text, "utf-8"))
        except (OSError, ValueError):
            return Reconciled.NOT_DONE, None  # it is written before anything else is
        if note["request"] != self._digest:
            return Reconciled.NOT_DONE, None
        git = self._repository
        if (await git.run("merge-base", "--is-ancestor", note["commit"], "HEAD", check=False)).code == 0:
            return Reconciled.DONE, await self._made(note["commit"], note["parent"], note["paths"])
        if await git.head() == note["parent"]:
            return Reconciled.NOT_DONE, None
        return Reconciled.UNKNOWN, None  # the branch has gone elsewhere: without this commit, or away from it

    def _identity(self) -> dict[str, str]:
        name, email = (self._repository.config.get(key, "").strip() for key in ("user.name", "user.email"))
        if not name or not email:
            raise ToolError(
                "git does not know who commits",
                hint='git config --global user.name "Your Name"; git config --global user.email you@example.com',
            )
        return {
            f"GIT_{role}_{key}": value
            for role in ("AUTHOR", "COMMITTER")
            for key, value in (("NAME", name), ("EMAIL", email))
        }

    def _check_free(self) -> None:
        """Nobody is in the midst of something else."""
        for name, what in _UNDER_WAY.items():
            if (self._own / name).exists():
                raise ToolError(
                    f"a {what} is under way in the repository", hint=f"finish it by hand, or git {what} --abort"
                )
        if (self._own / "index.lock").exists():
            raise ToolError(
                "another git works in the repository: there is a .git/index.lock",
                hint="wait for it to end; if none runs any more, remove that file",
            )

    async def _gather(
        self, index: Path, parent: str, paths: Sequence[str] | None, env: Mapping[str, str] = {}
    ) -> list[dict[str, str]]:
        """Make an index that holds what is to be committed, and list that; the repository's own stays as it is."""
        git = self._repository
        if (self._own / "index").exists() and (parent or paths is None):
            # with its time, by which git knows what may have been changed after it was written
            await asyncio.to_thread(shutil.copy2, self._own / "index", index)
        if paths is not None and parent:
            await git.run("read-tree", "-m", "HEAD", index=index, env=env)  # without what else is staged
        await git.add(paths, index, env=env)
        compared = ["diff-index", "--cached", "--no-renames", "--name-status", "-z", await git.base()]
        files = _files((await git.run(*compared, index=index, env=env)).output)
        if not files:
            raise ToolError("there is nothing to commit", hint="git.status shows what has changed")
        await self._check_filters("\0".join(each["path"] for each in files))
        return files

    async def _check_filters(self, changed: str) -> None:
        """Some files are kept in another form (large ones elsewhere, say): the program that makes it is not started."""
        found = (await self._repository.run("check-attr", "-z", "--stdin", "filter", stdin=changed)).output.split("\0")
        for path, value in zip(found[::3], found[2::3], strict=False):
            if value not in ("unspecified", "unset"):
                raise ToolError(
                    f"{path} is kept through the filter {value}, a program that this tool does not start",
                    hint="commit it by hand, or give the other paths",
                )

    async def _made(self, commit: str, parent: str, paths: Sequence[str] | None) -> ToolResult:
        """The result; the repository's index is brought to what is committed."""
        git = self._repository
        trouble = ""
        try:
            await git.add(paths)
        except ToolError as error:  # the commit is made all the same
            trouble = str(error)
        listed = await git.run(
            "diff-tree", "-r", "--root", "--no-commit-id", "--no-renames", "--name-status", "-z", commit
        )
        files = _files(listed.output)
        branch = await git.run("symbolic-ref", "--quiet", "--short", "HEAD", check=False)
        name = branch.output.strip() or None
        lines = [f"committed {commit[:10]} on {name or 'no branch'}"]
        lines += [f"  {each['path']} ({each['change']})" for each in files[:MAX_LISTED]]
        lines += [f"  … and {len(files) - MAX_LISTED} more"] if len(files) > MAX_LISTED else []
        if trouble:
            lines.append(
                f"but its index is as it was before, so that git shows the commit as taken back: {trouble[:300]}"
            )
            lines.append("git reset brings it to the commit")
        data = {"commit": commit, "branch": name, "parent": parent or None}
        return ToolResult(text="\n".join(lines), data={**data, "files": files[:MAX_LISTED], "total": len(files)})


def _files(name_status: str) -> list[dict[str, str]]:
    """What `--name-status -z` lists."""
    parts = name_status.split("\0")
    return [
        {"path": path, "change": _CHANGES.get(change, change)}
        for change, path in zip(parts[::2], parts[1::2], strict=False)
    ]


def _forget_old(folder: Path) -> None:
    """Remove the oldest notes where there are many."""
    with suppress(OSError):  # another gateway does the same
        notes = sorted(folder.glob("*.json"), key=lambda each: each.stat().st_mtime_ns)
        for each in notes[:-_NOTES]:
            each.unlink(missing_ok=True)
