"""The phone's files, in a folder of the host."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO

from simphone.faults import Faults

SDCARD = "/storage/emulated/0"
TEMPORARY = "/data/local/tmp"
_LINKS = {"/sdcard": SDCARD, "/mnt/sdcard": SDCARD, "/storage/self/primary": SDCARD}
_OPEN = (SDCARD, TEMPORARY)
_FLAGS = {
    "rb": os.O_RDONLY,
    "wb": os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
    "ab": os.O_WRONLY | os.O_CREAT | os.O_APPEND,
}
_MAX_LINKS = 40  # as Linux has it
_FOLDERS = ("Alarms", "DCIM", "Documents", "Download", "Movies", "Music", "Pictures")


class DeviceFiles:
    """What adb may read and write: shared storage and /data/local/tmp, in `root` on the host under the same paths.

    Links are followed as the phone would, from its own root: none leads out of the folder. What opens or changes
    something walks there without following links of the host: a command of the shell may exchange a folder for a link
    meanwhile.
    """

    root: Path

    def __init__(self, root: Path, faults: Faults) -> None:
        self.root = root.resolve()
        self._faults = faults
        for each in _FOLDERS:
            (self.root / SDCARD[1:] / each).mkdir(parents=True, exist_ok=True)
        (self.root / TEMPORARY[1:]).mkdir(parents=True, exist_ok=True)

    def host(self, path: str) -> Path:
        """Where a file of the phone lies on the host, whether or not it exists; a link as the last part is followed.

        Raises PermissionError outside of what adb may read and write, OSError (ELOOP) for links in a circle.
        """
        return self.root / self.device(path)[1:]

    def device(self, path: str, *, follow: bool = True) -> str:
        """The real path on the phone: absolute, without dots and links (unless it is the last part and not `follow`).
        Raises as `host`."""
        real = self._real(path, follow)
        if not any(real == each or real.startswith(each + "/") for each in _OPEN):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return real

    def _real(self, path: str, follow: bool) -> str:
        if "\0" in path:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
        done = PurePosixPath("/")
        todo = _parts(path)
        links = 0
        while todo:
            part = todo.pop()
            done = done.parent if part == ".." else done / part
            target = _LINKS.get(str(done)) or (self._link(done) if todo or follow else None)
            if target is None:
                continue
            links += 1
            if links > _MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            done = PurePosixPath("/") if target.startswith("/") else done.parent
            todo += _parts(target)
        return str(done)

    def _link(self, path: PurePosixPath) -> str | None:
        try:
            return os.readlink(self.root / str(path)[1:])
        except OSError:
            return None

    @contextmanager
    def _folder(self, real: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """A descriptor of the folder that a real path is in, and the name there."""
        *folders, name = real.split("/")[1:]
        folder = os.open(self.root, os.O_PATH | os.O_DIRECTORY)
        try:
            for each in folders:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(each, 0o770, dir_fd=folder)
                inner = os.open(each, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
                os.close(folder)
                folder = inner
            yield folder, name or "."
        finally:
            os.close(folder)

    def open(self, path: str, mode: str = "rb", *, happening: str = "") -> IO[bytes]:
        """The file opened as "rb", "wb" or "ab".

        Raises OSError as `host`, as the host's file system, and ENOSPC where the storage_full fault acts on a file that
        is to be written.
        """
        if mode != "rb":
            self.check_room(happening or f"write {path}")
        with self._folder(self.device(path)) as (folder, name):
            file = os.open(name, _FLAGS[mode] | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o660, dir_fd=folder)
        return os.fdopen(file, mode)

    def stat(self, path: str, *, follow: bool = True) -> os.stat_result:
        """Also of the folders on the way to what adb may read. Raises OSError as `host`."""
        real = self._real(path, follow)
        if not any(each.startswith(real.rstrip("/") + "/") for each in _OPEN):
            real = self.device(path, follow=follow)
        with self._folder(real) as (folder, name):
            return os.stat(name, dir_fd=folder, follow_symlinks=False)

    def names(self, path: str) -> list[str]:
        """What is in a folder, sorted. Raises OSError as `host`."""
        with self._folder(self.device(path)) as (folder, name):
            opened = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
        try:
            return sorted(os.listdir(opened))
        finally:
            os.close(opened)

    def make_folders(self, path: str) -> None:
        """This folder, and those on the way to it. Raises OSError as `host`."""
        with self._folder(self.device(path) + "/.", make=True):
            pass

    def link(self, path: str, target: str) -> None:
        """Raises OSError as `host`, and on shared storage, which has no links."""
        real = self.device(path, follow=False)
        if not real.startswith(TEMPORARY):
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), path)
        with self._folder(real) as (folder, name):
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            os.symlink(target, name, dir_fd=folder)

    def remove(self, path: str) -> None:
        """A file. Raises OSError as `host`."""
        with self._folder(self.device(path, follow=False)) as (folder, name):
            os.unlink(name, dir_fd=folder)

    def check_room(self, happening: str) -> None:
        """Raises OSError (ENOSPC) if the storage_full fault acts on what is happening."""
        if self._faults.take("storage_full", happening):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def free(self) -> int:
        """Bytes that can be written yet."""
        return 0 if self._faults.stands("storage_full", "*") else shutil.disk_usage(self.root).free


def _parts(path: str) -> list[str]:
    """The names on the way, last one first."""
    return [each for each in reversed(path.split("/")) if each not in ("", ".")]
