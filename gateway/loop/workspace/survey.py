"""What stands in a workspace, and what has changed between two looks at it.

A file that has size, mode and times as at the look before is not read again, as git does it: but also by its ctime,
which a program cannot set, and never where it was changed so shortly before the look that it may have been changed
again within what the file system's clock can tell.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from gateway.loop.state import Changes
from gateway.loop.workspace.judges import judges
from gateway.loop.workspace.names import shown
from gateway.loop.workspace.tree import content, walk, why_not_read
from gateway.tools.workspace import sha256

LARGE_BYTES = 64 << 20  # a file that is larger is known by its size and time alone, and not kept
_SETTLED_NS = 2_000_000_000  # the coarsest clock of a file system in use (FAT's)

Taken = Callable[[str, "Entry", bytes], None]


class Entry(NamedTuple):
    """A file or link. Times are nanoseconds; `mode` has the kind and the permissions; `sha256` is of the content, which
    of a link is its target."""

    size: int
    mtime_ns: int
    ctime_ns: int
    mode: int
    sha256: str

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.mode)

    @property
    def is_large(self) -> bool:
        return self.size > LARGE_BYTES


@dataclass(frozen=True)
class Survey:
    """`files` are path → Entry, sorted; `left_out` is path → why, of what cannot be known: no file, no permission.
    Folders are known by their files. `at_ns` is when the look began, in nanoseconds since the epoch."""

    at_ns: int
    files: dict[str, Entry] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        """sha256 over path, mode and content of every file: the same where nothing has changed."""
        whole = hashlib.sha256()
        for path, entry in self.files.items():
            whole.update(f"{path}\0{entry.mode:o} {entry.sha256}\0".encode())
        return whole.hexdigest()

    def dump(self) -> bytes:
        return json.dumps({"at_ns": self.at_ns, "files": self.files, "left_out": self.left_out}).encode()

    @classmethod
    def load(cls, data: bytes) -> Survey:
        """Of what `dump` gave; ValueError for anything else."""
        return cls.of(json.loads(data))

    @classmethod
    def of(cls, read: Any) -> Survey:
        """Of what JSON made of a dump; ValueError for anything else."""
        try:
            files = {path: Entry(*entry) for path, entry in read["files"].items()}
            return cls(read["at_ns"], files, read["left_out"])
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"no survey: {error}") from error


def survey(
    root: Path, before: Survey | None = None, *, apart: Path | None = None, taken: Taken = lambda *_: None
) -> Survey:
    """Look at every file that people may have written: not at what tools make, nor at repositories, nor at the folder
    `apart`. `taken` is told of each file and link that is read: path, Entry, content; where it raises ValueError, the
    file is left out, for that reason. Blocks; raises WorkspaceGone."""
    began = time.time_ns()
    known = before.files if before else {}
    settled = before.at_ns - _SETTLED_NS if before else 0
    files: dict[str, Entry] = {}
    left_out: dict[str, str] = {}
    for folder in walk(root, apart, left_out):
        for name, status in folder.entries:
            path = folder.prefix + shown(name)
            entry = known.get(path)
            if entry is not None and _unchanged(entry, status, settled):
                files[path] = entry
                continue
            if status.st_size > LARGE_BYTES and stat.S_ISREG(status.st_mode):
                files[path] = _large(status)
                continue
            try:
                status, data = content(name, folder.handle, LARGE_BYTES)
            except FileNotFoundError:
                continue
            except OSError as error:
                if error.errno != errno.ELOOP:  # else it was exchanged for a link: the next look sees it
                    left_out[path] = why_not_read(error)
                continue
            entry = _entry(status, sha256(data), len(data))
            try:
                taken(path, entry, data)
            except ValueError as error:
                left_out[path] = str(error)
            else:
                files[path] = entry
    return Survey(began, dict(sorted(files.items())), dict(sorted(left_out.items())))


def large_files(root: Path, apart: Path | None = None) -> list[str]:
    """Those whose content nothing of a session takes. Blocks; raises WorkspaceGone."""
    return [
        folder.prefix + shown(name)
        for folder in walk(root, apart, {})
        for name, status in folder.entries
        if status.st_size > LARGE_BYTES
    ]


def compared(before: Survey, after: Survey) -> Changes:
    """What was added, changed (content, permissions, kind) and removed, sorted. What can be known no more, or again,
    has changed."""
    old, new = before.files, after.files
    added = tuple(path for path in new if path not in old and path not in before.left_out)
    removed = tuple(path for path in old if path not in new and path not in after.left_out)
    changed = {path for path in new if path in old and _seen(old[path]) != _seen(new[path])}
    changed |= (old.keys() & after.left_out.keys()) | (new.keys() & before.left_out.keys())
    tests = tuple(sorted(path for path in (*added, *changed, *removed) if judges(path)))
    return Changes(added=added, changed=tuple(sorted(changed)), removed=removed, tests=tests)


def _seen(entry: Entry) -> tuple[int, str]:
    return entry.mode, entry.sha256


def _unchanged(entry: Entry, status: os.stat_result, settled: int) -> bool:
    return (
        (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_mode) == entry[:4]
        and entry.mtime_ns < settled
        and entry.ctime_ns < settled
    )


def _entry(status: os.stat_result, digest: str, size: int) -> Entry:
    return Entry(size, status.st_mtime_ns, status.st_ctime_ns, status.st_mode, digest)


def _large(status: os.stat_result) -> Entry:
    return _entry(status, sha256(f"{status.st_size} {status.st_mtime_ns}".encode()), status.st_size)
