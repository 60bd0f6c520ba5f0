"""A copy of a workspace's files, so that what builds it writes elsewhere."""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from gateway.errors import ToolError
from gateway.tools.workspace import is_noise

MAX_BYTES = 2 << 30
_MADE_AT_TOP = ("build", "dist")  # deeper, these are names that people give to packages, too
_NOT_OF_GIT = ("objects", "hooks", "modules", "lfs", "worktrees")


def copy_sources(root: Path, target: Path) -> None:
    """Copy files and links into `target`, a new folder, without what tools make. Versions that come from git are found
    there, too. Raises ToolError where the workspace is too large, OSError where the disk is full."""
    copied = 0
    for folder, folders, names in os.walk(root):
        below = os.path.relpath(folder, root)
        there = target / below
        there.mkdir(parents=True, exist_ok=True)
        links = [each for each in folders if os.path.islink(os.path.join(folder, each))]
        folders[:] = [each for each in folders if each not in links and not _is_made(folder, each, top=below == ".")]
        for name in [*names, *links]:
            with suppress(FileNotFoundError):  # taken away meanwhile
                copied += _copy(os.path.join(folder, name), there / name)
            if copied > MAX_BYTES:
                raise ToolError(
                    f"the workspace has more than {MAX_BYTES >> 30} GB to be built",
                    hint="say how to build it: loop.conditions.build_succeeds.command",
                )
    _copy_repository(root / ".git", target / ".git")


def _is_made(folder: str, name: str, *, top: bool) -> bool:
    if name in _MADE_AT_TOP:
        return top
    return is_noise(name) or os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))


def _copy(source: str, target: Path) -> int:
    """The bytes that were copied; named pipes and their like are left out."""
    status = os.lstat(source)
    if stat.S_ISLNK(status.st_mode):
        os.symlink(os.readlink(source), target)
    elif stat.S_ISREG(status.st_mode):
        shutil.copyfile(source, target, follow_symlinks=False)
        shutil.copystat(source, target)
        return status.st_size
    return 0


def _copy_repository(git: Path, target: Path) -> None:
    """What git needs to tell the version; the objects stay where they are, and nothing can be written to them."""
    if git.is_symlink() or not git.is_dir():
        return

    def left_out(folder: str, names: list[str]) -> list[str]:
        top = Path(folder) == git
        return [each for each in names if (top and each in _NOT_OF_GIT) or each.endswith(".lock")]

    shutil.copytree(git, target, symlinks=True, ignore=left_out)
    (target / "objects" / "info").mkdir(parents=True)
    (target / "objects" / "info" / "alternates").write_text(f"{git / 'objects'}\n")
