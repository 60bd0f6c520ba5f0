"""A tar of files, written once: as a whole or not at all, under a name that has its checksum.

Its members have the paths that the files had, so that it can be unpacked by hand; what Echelon reads, it reads by
position, and takes only where the content has the sha256 that it should have.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import tarfile
from contextlib import suppress
from pathlib import Path

from gateway.loop.workspace.durable import NEW, Written, named, sync, write_all
from gateway.loop.workspace.names import real
from gateway.loop.workspace.survey import Entry

MAX_BYTES = 2 << 30  # of new content in one tar
_BLOCK = 512


class Archive:
    """A tar that is being written. `add` until `close`, or `discard`."""

    def __init__(self, folder: Path, name: str) -> None:
        """`name` is what the file's name begins with. Nothing is written before the first `add`."""
        self._folder = folder
        self._name = name
        self._temporary = folder / f".{name}.{secrets.token_hex(6)}"
        self._file = -1
        self._pending = bytearray()
        self._size = 0
        self._hash = hashlib.sha256()

    def add(self, path: str, entry: Entry, data: bytes) -> int:
        """Add a file or a link; the position of its content, in bytes. Raises OSError, and ValueError where the tar
        would be longer than it may be."""
        if self._size + len(data) > MAX_BYTES:
            raise ValueError(f"one checkpoint takes {MAX_BYTES:,} bytes of new content at most")
        info = tarfile.TarInfo(real(path))
        info.mode, info.mtime = entry.mode & 0o777, entry.mtime_ns // 1_000_000_000
        if entry.is_link:
            info.type, info.linkname, data = tarfile.SYMTYPE, os.fsdecode(data), b""
        info.size = len(data)
        self._write(info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape"))
        position = self._size
        self._write(data)
        self._write(bytes(-len(data) % _BLOCK))
        return position

    def close(self) -> Written | None:
        """Give the file its name, with everything on the disk; None where nothing was added. Raises OSError."""
        if not self._size:
            return None
        self._write(bytes(2 * _BLOCK))
        self._flush()
        os.fsync(self._file)
        os.close(self._file)
        self._file = -1
        checksum = self._hash.hexdigest()
        name = named(self._name, checksum, ".tar")
        os.replace(self._temporary, self._folder / name)
        sync(self._folder)
        return Written(name, checksum)

    def discard(self) -> None:
        """Nothing of it stays, if it was not closed."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        with suppress(OSError):
            self._temporary.unlink(missing_ok=True)

    def _write(self, data: bytes) -> None:
        self._pending += data
        self._size += len(data)
        if len(self._pending) > 1 << 20:
            self._flush()

    def _flush(self) -> None:
        if self._file < 0:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._file = os.open(self._temporary, NEW, 0o600)
        self._hash.update(self._pending)
        write_all(self._file, self._pending)
        self._pending = bytearray()
