"""Files that a reader or a crash always finds whole."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


def write_new(path: str, content: bytes) -> None:
    """Write a file that is not there yet and is not to be changed; the folder is made. A crash may leave a part of it.
    Raises OSError."""
    try:
        handle = os.open(path, NEW, 0o400)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        handle = os.open(path, NEW, 0o400)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(path)
        raise


def write_atomically(path: Path | str, content: bytes) -> None:
    """Write beside and rename; the folder is made. Only the owner can read the file. Raises OSError."""
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{os.urandom(6).hex()}")
    try:
        handle = os.open(temporary, NEW, 0o600)
    except FileNotFoundError:
        os.makedirs(folder, exist_ok=True)
        handle = os.open(temporary, NEW, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
