"""The files of a workspace, by descriptors: a link is never followed, and nothing outside of it is read or written.

Paths are relative, with `/`, as `names.shown` writes them.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from gateway.errors import OutsideWorkspace, WorkspaceGone
from gateway.loop.workspace.names import real, shown
from gateway.tools.workspace import is_noise

MAX_DEPTH = 100  # folders in folders, each of which takes a descriptor while it is walked through
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a named pipe must not wait for its writer
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_READS = 3  # how often a file is read that changes meanwhile


@dataclass(frozen=True)
class Folder:
    """A folder while it is open: `prefix` is its path with a `/`, empty for the workspace itself. `entries` are name
    and status of all that is no folder."""

    prefix: str
    handle: int
    entries: list[tuple[str, os.stat_result]] = field(default_factory=list)


def walk(root: Path, apart: Path | None, unread: dict[str, str]) -> Iterator[Folder]:
    """Every folder, without those that tools make, without repositories (`.git`), and without `apart`. Those that could
    not be looked into come into `unread`, path → why.

    Raises WorkspaceGone where there is no folder `root`.
    """
    try:
        handle = os.open(root, _FOLDER)
    except OSError as error:
        raise gone(root, error) from error
    left_out = None
    if apart is not None:
        with suppress(OSError):
            left_out = _identity(os.stat(apart))
    yield from _walk("", handle, left_out, unread, 0)


def gone(root: Path, error: OSError) -> WorkspaceGone:
    return WorkspaceGone(
        f"the workspace {root} is not there any more, or is no folder: {error.strerror}",
        hint=f"bring it back: echelon loop resume ID --from K --restore-workspace (or put the folder {root} back)",
    )


def _walk(
    prefix: str, handle: int, apart: tuple[int, int] | None, unread: dict[str, str], depth: int
) -> Iterator[Folder]:
    folder = Folder(prefix, handle)
    below = []
    try:
        with os.scandir(handle) as scanned:
            for each in scanned:
                if each.name.lower() == ".git":  # a repository's folder, or a worktree's file
                    continue
                try:
                    status = each.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                if not stat.S_ISDIR(status.st_mode):
                    folder.entries.append((each.name, status))
                elif not is_noise(each.name) and _identity(status) != apart:
                    below.append(each.name)
        yield folder
        for name in below:
            path = prefix + shown(name)
            if depth == MAX_DEPTH:
                unread[path] = f"it is deeper than {MAX_DEPTH} folders"
                continue
            try:
                inner = os.open(name, _FOLDER, dir_fd=handle)
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):  # it is no folder any more
                    unread[path] = f"it cannot be read: {error.strerror}"
                continue
            yield from _walk(f"{path}/", inner, apart, unread, depth + 1)
    finally:
        os.close(handle)


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def content(name: str, folder: int, limit: int) -> tuple[os.stat_result, bytes]:
    """Status and content of a regular file, or of a link, whose content is its target.

    A file that changes while it is read is read again; at last it is taken as it was read. Raises OSError: EFBIG where
    there are more than `limit` bytes, EINVAL for what is neither file nor link.
    """
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        return status, os.fsencode(os.readlink(name, dir_fd=folder))
    for _ in range(_READS):
        handle = os.open(name, _READ, dir_fd=folder)
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "it is neither a file nor a link")
            if status.st_size > limit:
                raise OSError(errno.EFBIG, f"it is larger than {limit:,} bytes")
            with os.fdopen(handle, "rb", closefd=False) as file:
                data = file.read(limit + 1)
            after = os.fstat(handle)
        finally:
            os.close(handle)
        if len(data) > limit:
            raise OSError(errno.EFBIG, f"it is larger than {limit:,} bytes")
        if _moment(after) == _moment(status) and len(data) == status.st_size:
            break
    return status, data


def why_not_read(error: OSError) -> str:
    """What `content` raised, in words."""
    said = error.strerror or str(error)
    return said if error.errno in (errno.EFBIG, errno.EINVAL) else f"it cannot be read: {said}"


def _moment(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


class Tree:
    """What is changed in a workspace, file by file."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @contextmanager
    def parent(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """The folder of a path as an open descriptor, and its last part. Raises OSError, and OutsideWorkspace."""
        self.check(path)
        *folders, last = real(path).split("/")
        current = os.open(self.root, _FOLDER)
        try:
            for each in folders:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(each, dir_fd=current)
                below = os.open(each, _FOLDER, dir_fd=current)
                os.close(current)
                current = below
            yield current, last
        finally:
            os.close(current)

    def check(self, path: str) -> None:
        """Raises OutsideWorkspace for what is no path of a file below the workspace, or one of its repository."""
        parts = real(path).split("/")
        if any(each in ("", ".", "..") or "\0" in each or each.lower() == ".git" for each in parts):
            raise OutsideWorkspace(f"{path!r} is no path of a file in the workspace")

    def status(self, path: str) -> os.stat_result | None:
        """None where nothing is at the path, or its folder is none."""
        try:
            with self.parent(path) as (folder, last):
                return os.stat(last, dir_fd=folder, follow_symlinks=False)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                return None
            raise

    def read(self, path: str, limit: int) -> tuple[int, bytes]:
        """Mode and content. Raises OSError as `content` does."""
        with self.parent(path) as (folder, last):
            status, data = content(last, folder, limit)
        return status.st_mode, data

    def obstacle(self, path: str) -> str:
        """What must go before a file can stand at `path`: a file in place of one of its folders, or a folder in its own
        place. Empty where there is none."""
        parts = path.split("/")
        for count in range(1, len(parts) + 1):
            above = "/".join(parts[:count])
            status = self.status(above)
            if status is None:
                return ""
            if stat.S_ISDIR(status.st_mode) == (count == len(parts)):
                return above
        return ""

    def put(self, path: str, mode: int, data: bytes) -> None:
        """Replace a file or link atomically; its folders are made. Raises OSError."""
        with self.parent(path, make=True) as (folder, last):
            temporary = f".{last[:60]}.{secrets.token_hex(6)}.tmp"
            try:
                if stat.S_ISLNK(mode):
                    os.symlink(os.fsdecode(data), temporary, dir_fd=folder)
                else:
                    with os.fdopen(os.open(temporary, _NEW, 0o600, dir_fd=folder), "wb") as file:
                        file.write(data)
                        os.fchmod(file.fileno(), stat.S_IMODE(mode))
                os.rename(temporary, last, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(OSError):
                    os.unlink(temporary, dir_fd=folder)
                raise

    def remove(self, path: str) -> None:
        """Remove a file or link, and the folders that it leaves empty. Raises OSError."""
        with self.parent(path) as (folder, last):
            os.unlink(last, dir_fd=folder)
        self._remove_empty(path)

    def move(self, path: str, to: Path) -> None:
        """Move what is at the path, a file or a whole folder, out of the workspace; `to` is new. Raises OSError."""
        to.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self.parent(path) as (folder, last):
            _move(last, folder, to)
        self._remove_empty(path)

    def _remove_empty(self, path: str) -> None:
        above = path.rpartition("/")[0]
        while above:
            try:
                with self.parent(above) as (folder, last):
                    os.rmdir(last, dir_fd=folder)
            except OSError:  # something is in it
                return
            above = above.rpartition("/")[0]


def _move(name: str, folder: int, to: Path) -> None:
    try:
        os.rename(name, to, src_dir_fd=folder)
        return
    except OSError as error:
        if error.errno != errno.EXDEV:  # else on another file system: copied, then removed
            raise
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISDIR(status.st_mode):
        to.mkdir(mode=0o700)
        inner = os.open(name, _FOLDER, dir_fd=folder)
        try:
            for each in os.listdir(inner):
                _move(each, inner, to / each)
        finally:
            os.close(inner)
        os.rmdir(name, dir_fd=folder)
        return
    if stat.S_ISLNK(status.st_mode):
        os.symlink(os.readlink(name, dir_fd=folder), to)
    elif stat.S_ISREG(status.st_mode):
        with os.fdopen(os.open(name, _READ, dir_fd=folder), "rb") as source, to.open("xb") as target:
            shutil.copyfileobj(source, target)
            os.fchmod(target.fileno(), stat.S_IMODE(status.st_mode))
    os.unlink(name, dir_fd=folder)
