"""A workspace brought back to what a snapshot has: exactly, and so that nothing is lost.

What is replaced, or was not there, is moved into a folder of the session. What the snapshot could not take (files that
are too large or could not be read) and what tools make stays as it is. No link is followed.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from gateway.errors import WorkspaceGone
from gateway.loop.state import Plain
from gateway.loop.workspace.names import real
from gateway.loop.workspace.snapshot import Manifest, Snapshots
from gateway.loop.workspace.survey import Survey, survey
from gateway.loop.workspace.tree import Tree


class Restored(Plain):
    """What was done to a workspace: paths that were `written`, and `moved` into the folder `aside` (empty where nothing
    was moved); `notes` say what could not be brought back."""

    number: int
    written: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    aside: str = ""
    notes: tuple[str, ...] = ()


def restore(
    number: int, root: Path, snapshots: Snapshots, manifest: Manifest, aside: Path, apart: Path | None = None
) -> Restored:
    """May be repeated after a crash. `aside` is a folder that is not there yet. Blocks; raises Damage, before anything
    is changed, OSError, OutsideWorkspace, and WorkspaceGone where something else than a folder stands at `root`."""
    made = _make(root)
    tree = Tree(root)
    wanted = manifest.survey
    now = survey(root, wanted, apart=apart)
    to_write = [path for path in wanted.files if not wanted.files[path].is_large and _differs(path, wanted, now)]
    extra = [path for path in now.files if path not in wanted.files and not _was_left_out(path, wanted)]
    for path in to_write:
        snapshots.content(manifest, path)
        tree.check(path)
    moved: list[str] = []

    def move(path: str) -> None:
        tree.move(path, _free(aside / real(path)))
        moved.append(path)

    for path in extra:
        move(path)
    for path in to_write:
        if obstacle := tree.obstacle(path):
            move(obstacle)
        elif tree.status(path) is not None:
            move(path)
        tree.put(path, wanted.files[path].mode, snapshots.content(manifest, path))
    notes = [f"the workspace {root} was not there and was made anew, without a repository"] if made else []
    notes += [
        f"{path} is not as it was: it was too large to be kept"
        for path, entry in wanted.files.items()
        if entry.is_large and _differs(path, wanted, now)
    ]
    return Restored(
        number=number,
        written=tuple(to_write),
        moved=tuple(moved),
        aside=str(aside) if moved else "",
        notes=tuple(notes),
    )


def _make(root: Path) -> bool:
    """Whether the folder had to be made."""
    try:
        mode = os.lstat(root).st_mode
    except FileNotFoundError:
        os.makedirs(root)
        return True
    if not stat.S_ISDIR(mode):
        raise WorkspaceGone(f"{root} is no folder any more", hint=f"move {root} away, then try again")
    return False


def _differs(path: str, wanted: Survey, now: Survey) -> bool:
    there, here = wanted.files[path], now.files.get(path)
    return here is None or (here.mode, here.sha256) != (there.mode, there.sha256)


def _was_left_out(path: str, wanted: Survey) -> bool:
    return any(path == each or path.startswith(f"{each}/") for each in wanted.left_out)


def _free(path: Path) -> Path:
    """The path, or one beside it where something stands there."""
    count = 1
    found = path
    while os.path.lexists(found):
        count += 1
        found = path.with_name(f"{path.name}.{count}")
    return found
