"""Files that are whole, and on the disk, once they have their name. Only the owner can read them."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gateway.tools.workspace import sha256

NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_DIGITS = 16  # of the checksum, in a file's name


@dataclass(frozen=True)
class Written:
    """A file that was written: its name in its folder, and its sha256."""

    name: str
    sha256: str


def named(name: str, checksum: str, suffix: str) -> str:
    """A name that has the checksum: two writers never write different content under the same."""
    return f"{name}-{checksum[:_DIGITS]}{suffix}"


def write(folder: Path, name: str, suffix: str, data: bytes) -> Written:
    """Write a file whose name has its checksum. Raises OSError."""
    checksum = sha256(data)
    final = named(name, checksum, suffix)
    replace(folder / final, data)
    return Written(final, checksum)


def replace(path: Path, data: bytes) -> None:
    """Write beside, then rename; the folder is made. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    file = os.open(temporary, NEW, 0o600)
    try:
        try:
            write_all(file, data)
            os.fsync(file)
        finally:
            os.close(file)
        os.replace(temporary, path)
        sync(path.parent)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def write_all(file: int, data: bytes | bytearray) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def sync(folder: Path) -> None:
    """See that the names in a folder are on the disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
