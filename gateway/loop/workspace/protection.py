"""Protected files: iterations may not change them, and what they changed all the same is put back.

What stands for a protected file is the sha256 of an artifact that has the file's mode, in octal digits, as its first
line, and then its content. A file of more than 64 MiB is not kept, and so cannot be put back.

A name stands for a file, for a folder with all that is in it, or for all that match it as a pattern (`tests/*.json`,
where `*` matches a `/`, too), as in `tools.policy`. What it names need not be there yet.
"""

from __future__ import annotations

import fnmatch
import os
import posixpath
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from gateway.engine.ports import Artifacts
from gateway.errors import UsageError
from gateway.loop.state import Changes
from gateway.loop.workspace.names import real
from gateway.loop.workspace.survey import LARGE_BYTES, Survey
from gateway.loop.workspace.tree import Tree, why_not_read


def named(root: Path, protect: Sequence[str]) -> tuple[str, ...]:
    """The names as paths in the workspace; of a link, what it leads to as well. Raises UsageError for what is outside,
    or in its repository, and so would not be protected."""
    found: list[str] = []
    for each in protect:
        place = Path(os.path.normpath(root / each))
        real = Path(os.path.realpath(place))
        inside = [one.relative_to(root).as_posix() for one in (place, real) if one.is_relative_to(root)]
        if not each.strip() or len(inside) < 2 or any(".git" in one.lower().split("/") for one in inside):
            raise UsageError(
                f"{each!r} cannot be protected: it is no path of a file or folder in the workspace {root}",
                hint="name what no iteration may change, relative to the workspace",
            )
        found += inside
    return tuple(dict.fromkeys(found))


def missing(root: Path, protect: Sequence[str]) -> list[str]:
    """The names that nothing in the workspace has, as far as one sees without reading all of it: misspelt, perhaps."""
    return [each for each in protect if not _matches_by_now(root, each)]


def _matches_by_now(root: Path, name: str) -> bool:
    if os.path.lexists(os.path.normpath(root / name)):
        return True
    if not set(name) & set("*?["):
        return False
    paths = (Path(folder, each) for folder, folders, files in os.walk(root) for each in (*folders, *files))
    return any(_holds((name,), path.relative_to(root).as_posix()) for path in paths)


def kept(root: Path, survey: Survey, protect: Sequence[str], artifacts: Artifacts) -> dict[str, str]:
    """The protected files, path → artifact. Raises StoreError where the disk refuses, OSError where a file that the
    survey has cannot be read."""
    tree = Tree(root)
    found: dict[str, str] = {}
    for path, entry in survey.files.items():
        if _holds(protect, path) and not entry.is_large:
            with suppress(FileNotFoundError):
                found[path] = artifacts.put(_record(*tree.read(path, LARGE_BYTES)))
    return found


def put_back(
    root: Path, changes: Changes, kept: Mapping[str, str], protect: Sequence[str], artifacts: Artifacts
) -> tuple[str, ...]:
    """Bring the protected files to what they were: changed and removed ones are restored, added ones taken away, as is
    a file that stands in place of one of their folders.

    Gives the names of all that was not as it should be, sorted. What the iteration wrote becomes an artifact before.
    Raises StoreError and OSError.
    """
    tree = Tree(root)
    back = [path for path in (*changes.changed, *changes.removed) if path in kept]
    above = {folder for path in back for folder in _folders(path)}
    away = [path for path in changes.added if _holds(protect, path) or path in above]
    for path in away:
        if tree.status(path) is not None:
            _keep(tree, path, artifacts)
            tree.remove(path)
    for path in back:
        obstacle = tree.obstacle(path)
        if obstacle:  # a folder that has nothing but what tools made
            tree.move(obstacle, root / f"{real(obstacle)}.aside-{secrets.token_hex(4)}")
        elif tree.status(path) is not None:
            _keep(tree, path, artifacts)
        mode, _, data = artifacts.get(kept[path]).partition(b"\n")
        tree.put(path, int(mode, 8), data)
    return tuple(sorted({*back, *away}))


def _holds(protect: Iterable[str], path: str) -> bool:
    for each in protect:
        name = posixpath.normpath(each)
        if name == "." or path == name or path.startswith(f"{name}/"):
            return True
        if fnmatch.fnmatchcase(path, name) or fnmatch.fnmatchcase(path, f"{name}/*"):
            return True
    return False


def _folders(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _keep(tree: Tree, path: str, artifacts: Artifacts) -> None:
    """Keep what an iteration wrote, as far as it can be read."""
    try:
        written = _record(*tree.read(path, LARGE_BYTES))
    except OSError as error:
        written = _record(0, f"not kept: {why_not_read(error)}".encode())
    artifacts.put(written)


def _record(mode: int, data: bytes) -> bytes:
    return f"{mode:o}\n".encode() + data
