"""A commit of what stands in the workspace, on a ref of its own.

It is put together from git's own parts beside the user's index, so that branch, HEAD, index, working tree, stash and
reflogs stay as they are, and no hook or filter runs. Its parent is the last commit: `git diff HEAD <ref>` shows what
the agent did. What git ignores is not in it.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from gateway.errors import ToolError
from gateway.loop.workspace.durable import replace
from gateway.tools.code.git import Repository
from gateway.tools.workspace import Workspace

REFS = "refs/echelon"
_WHO = {"NAME": "Echelon", "EMAIL": "echelon@localhost"}  # not the user, who did not make it
_CONFIG = {
    "core.compression": "1",  # there will be many of them
    "core.logAllRefUpdates": "false",
    "core.splitIndex": "false",  # its shared part would be written into the repository
}


async def commit(root: Path, ref: str, message: str, index: Path, *, at: float, leave_out: Iterable[str] = ()) -> str:
    """Commit all files, untracked ones too, and give the commit's id; the same again for the same files and `at`,
    seconds since the epoch.

    `index` is a file of the session, kept from one commit to the next so that git reads only what has changed; at
    first it is a copy of the user's. `leave_out` are files and folders that are left out while they are not tracked.
    Raises ToolError where the workspace's top is no repository that git may be run for, or where git fails, and
    OSError.
    """
    git = await Repository.of(Workspace(root))
    who = {**_WHO, "DATE": f"@{int(at)} +0000"}
    env = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}
    config = await asyncio.to_thread(_config, git, index, list(leave_out))
    try:
        tree = await _tree(git, root, index, config)
    except ToolError:  # the index may be damaged, or of a repository that is gone: once more, with a new one
        await asyncio.to_thread(index.unlink, True)
        tree = await _tree(git, root, index, config)
    head = await git.head()
    parents = ["-p", head] if head else []
    made = await git.run("commit-tree", "--no-gpg-sign", *parents, tree, stdin=message, env=env, config=config)
    found = made.output.strip()
    await git.run("update-ref", "--no-deref", ref, found, env=env, config=config)
    return found


async def _tree(git: Repository, root: Path, index: Path, config: dict[str, str]) -> str:
    """The id of the tree of all files."""
    await asyncio.to_thread(_prepare, root / ".git" / "index", index)
    await git.add(None, index, config=config)
    # what was committed once, and is ignored since, would stay: but what the user tracks is his decision
    listing = ("ls-files", "-z", "--cached", "--ignored", "--exclude-standard")
    ignored = (await git.run(*listing, index=index, config=config)).output
    if ignored:
        tracked = (await git.run("ls-files", "-z", "--cached", config=config)).output
        tracked += (await git.run("ls-tree", "-r", "-z", "--name-only", await git.base())).output
        gone = set(ignored.split("\0")) - set(tracked.split("\0"))
        if gone:
            names = "\0".join(sorted(gone))
            await git.run("update-index", "--force-remove", "-z", "--stdin", stdin=names, index=index, config=config)
    return (await git.run("write-tree", index=index, config=config)).output.strip()


def _prepare(users: Path, index: Path) -> None:
    index.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    index.with_name(f"{index.name}.lock").unlink(missing_ok=True)  # of a git that was killed
    if not index.exists():
        with suppress(FileNotFoundError):
            # with its time, by which git knows what may have been changed after it was written
            beside = index.with_name(f".{index.name}")
            shutil.copy2(users, beside)
            os.replace(beside, index)


def _config(git: Repository, index: Path, leave_out: list[str]) -> dict[str, str]:
    if not leave_out:
        return _CONFIG
    own = git.config.get("core.excludesfile", "")
    lines = b""
    with suppress(OSError):
        lines = Path(own).expanduser().read_bytes() + b"\n" if own else b""
    # the characters that a pattern means something by are escaped; a line's end cannot be, so any one stands for it
    patterns = ["/" + re.sub(r"([\\*?\[\] ])", r"\\\1", each).replace("\n", "?") for each in leave_out]
    excludes = index.with_name(f"{index.name}-excludes")
    replace(excludes, lines + "\n".join(patterns).encode() + b"\n")
    return {**_CONFIG, "core.excludesfile": str(excludes)}
