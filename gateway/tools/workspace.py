"""The workspace: the folder that file tools cannot leave, and the one place where their paths are resolved.

A path is first resolved with its symbolic links, checked to be inside, and then opened component by component without
following links: a link that is put there in between is refused, not followed.
"""

from __future__ import annotations

import errno
import fnmatch
import hashlib
import os
import posixpath
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gateway.errors import OutsideWorkspace, ToolError

NOISE = frozenset(
    {
        ".git", ".hg", ".svn", ".venv", "venv", ".tox", ".nox", "node_modules", "__pycache__", ".mypy_cache",
        ".pytest_cache", ".ruff_cache", ".hypothesis", ".idea", ".vscode", "dist", "build", ".eggs", "*.egg-info",
    }
)  # fmt: skip
MAX_FILE_BYTES = 2_000_000  # what a tool reads of one file; source files are far smaller
MAX_FILES = 5_000
_BINARY_SUFFIXES = frozenset(
    {
        ".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".pdf", ".zip", ".gz", ".xz", ".bz2", ".tar", ".whl", ".so",
        ".dll", ".exe", ".o", ".a", ".pyc", ".pyo", ".class", ".jar", ".db", ".sqlite", ".sqlite3", ".woff", ".woff2",
        ".ttf", ".otf", ".mp3", ".mp4", ".webm", ".bin", ".gguf", ".pkl", ".npy", ".npz", ".parquet",
    }
)  # fmt: skip


def sha256(data: bytes) -> str:
    """In hex, as artifacts are named."""
    return hashlib.sha256(data).hexdigest()


def is_noise(name: str) -> bool:
    """Whether a folder holds what tools make rather than what people write."""
    return name in NOISE or name.endswith(".egg-info")


def is_binary_name(name: str) -> bool:
    """Whether a file's name says that it holds no text."""
    return os.path.splitext(name)[1].lower() in _BINARY_SUFFIXES


class Workspace:
    """A folder whose files are named by paths relative to it, with `/` between the parts."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        if not self.root.is_dir():
            raise ToolError(f"the workspace {root} is not a folder", hint="name an existing one with --workspace")

    def relative(self, path: str) -> str:
        """The canonical name of `path`, links resolved. Raises OutsideWorkspace, also for a link that leads out."""
        if not path or "\0" in path:
            raise ToolError("a path cannot be empty or hold a NUL")
        with _said_of(path):  # a link that is taken away meanwhile
            real = os.path.realpath(self.root / path)
        if real != str(self.root) and not real.startswith(str(self.root).rstrip("/") + "/"):
            raise OutsideWorkspace(f"{path} is outside the workspace", hint="use a path relative to the workspace")
        return os.path.relpath(real, self.root)

    def read(self, path: str, limit: int = MAX_FILE_BYTES) -> bytes:
        """The content of a regular file of at most `limit` bytes; ToolError for anything else."""
        name = self.relative(path)
        with self._parent(name) as (folder, last), _said_of(path):
            data = read_regular(last, folder, limit)
        if data is None:
            raise ToolError(
                f"{path} is larger than {limit:,} bytes", hint="file.search finds lines in files of up to 16 MB"
            )
        return data

    def digest(self, path: str) -> str | None:
        """sha256 of the file's content, or None where there is no such file."""
        return sha256(self.read(path)) if self.exists(path) else None

    def exists(self, path: str) -> bool:
        name = self.relative(path)
        try:
            with self._parent(name) as (folder, last):
                os.stat(last, dir_fd=folder, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except ToolError as error:
            if isinstance(error.__cause__, (FileNotFoundError, NotADirectoryError)):
                return False
            raise
        return True

    def write(self, path: str, data: bytes) -> None:
        """Replace the file atomically, keeping its mode and owner; parents are made. A reader sees the old bytes or the
        new. Other names of the file (hard links) keep the old."""
        name = self.relative(path)
        self._check_writable(name)
        with self._parent(name, make=True) as (folder, last), _said_of(path):
            standing = _standing(folder, last, path)
            temporary = f".{last[:100]}.{secrets.token_hex(6)}.tmp"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            handle = os.open(temporary, flags, 0o666, dir_fd=folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                    file.flush()
                    if standing is not None:
                        with suppress(PermissionError):  # only root can give files away
                            os.fchown(handle, standing.st_uid, standing.st_gid)
                        os.fchmod(handle, stat.S_IMODE(standing.st_mode))
                    os.fsync(handle)
                os.rename(temporary, last, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(OSError):
                    os.unlink(temporary, dir_fd=folder)
                raise
            os.fsync(folder)

    def remove(self, path: str) -> None:
        """Remove the file if it is there."""
        name = self.relative(path)
        self._check_writable(name)
        with self._parent(name) as (folder, last), _said_of(path), suppress(FileNotFoundError):
            os.unlink(last, dir_fd=folder)

    def files(self, glob: str = "") -> list[str]:
        """Relative paths of the text files that people write, sorted; at most MAX_FILES.

        `glob` matches the whole path, or the file's name alone (`*.py`).
        """
        found: list[str] = []
        for folder, folders, names, handle in self.walk("."):
            folders[:] = sorted(each for each in folders if not is_noise(each))
            for name in sorted(names):
                path = posixpath.join(folder, name)
                if is_binary_name(name) or not _matches(path, glob):
                    continue
                with suppress(FileNotFoundError):
                    if stat.S_ISREG(os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode):
                        found.append(path)
            if len(found) >= MAX_FILES:
                break
        return sorted(found)[:MAX_FILES]

    def walk(self, path: str) -> Iterator[tuple[str, list[str], list[str], int]]:
        """Like `os.fwalk` below a folder, with folders named relative to the workspace, empty for itself.

        It goes by descriptors: a folder that is exchanged for a link meanwhile is not entered.
        """
        name = self.relative(path)
        with self._parent(f"{name}/." if name != "." else ".") as (start, _):
            for folder, folders, files, handle in os.fwalk(".", dir_fd=start):
                below = posixpath.normpath(posixpath.join(name, folder))
                yield below if below != "." else "", folders, files, handle

    def _check_writable(self, name: str) -> None:
        if name == "." or ".git" in name.lower().split("/"):
            raise OutsideWorkspace(f"{name} cannot be written: it belongs to the repository, not to its content")
        if name.lower() == "echelon.yaml" or name.lower().split("/")[0] == ".echelon":
            raise OutsideWorkspace(f"{name} cannot be written: it says how this workspace is worked on")

    @contextmanager
    def _parent(self, name: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """The folder of a canonical name as an open descriptor, and the last component."""
        *parents, last = name.split("/")
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        current = os.open(self.root, flags)
        try:
            for part in parents:
                with _said_of(name):
                    if make:
                        with suppress(FileExistsError):
                            os.mkdir(part, dir_fd=current)
                    below = os.open(part, flags, dir_fd=current)
                os.close(current)
                current = below
            yield current, last
        finally:
            os.close(current)


def read_regular(name: str, folder: int, limit: int) -> bytes | None:
    """The content of a file in an open folder, None if it has more than `limit` bytes. Links are not followed.

    Raises ToolError for what is no regular file, and OSError.
    """
    # O_NONBLOCK: opening a named pipe must not wait for its writer
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise ToolError(f"{name} is not a file that can be read")
        if status.st_size > limit:
            return None
        with os.fdopen(handle, "rb", closefd=False) as file:
            data = file.read(limit + 1)
    finally:
        os.close(handle)
    return data if len(data) <= limit else None


def _standing(folder: int, last: str, path: str) -> os.stat_result | None:
    """The status of a regular file that is there, None if nothing is."""
    try:
        status = os.stat(last, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise ToolError(f"{path} is not a regular file")
    return status


def _matches(path: str, glob: str) -> bool:
    if not glob:
        return True
    # fnmatch's `*` crosses folders, so `**/` may also stand for none
    variants = {glob, glob.replace("**/", "")}
    return any(fnmatch.fnmatch(path, each) or fnmatch.fnmatch(os.path.basename(path), each) for each in variants)


@contextmanager
def _said_of(path: str) -> Iterator[None]:
    """Turn what the operating system refuses into an error that names the path and what to do."""
    try:
        yield
    except FileNotFoundError as error:
        raise ToolError(f"there is no file {path}", hint="file.list shows the files that there are") from error
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise OutsideWorkspace(f"{path} goes through a link or a file that is no folder") from error
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ToolError(f"{path} was not written: the disk is full", hint="free some space, then resume") from error
        raise ToolError(f"{path}: {error.strerror or error}") from error
