"""Large data on disk under its sha256: screenshots, page texts, prompts, results."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from gateway.engine.files import write_atomically, write_new
from gateway.errors import StoreError


class ArtifactStore:
    """A directory of immutable files; `put` does nothing where the content is already there."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, sha256: str) -> Path:
        return self.root / sha256[:2] / sha256

    def put(self, data: bytes) -> str:
        """Store and return the sha256, in hex; StoreError where the disk refuses."""
        sha256 = hashlib.sha256(data).hexdigest()
        path = f"{self.root}/{sha256[:2]}/{sha256}"
        try:
            # Written in place: whoever reads it checks its hash, and a part that a crash has left is replaced here.
            with contextlib.suppress(FileExistsError):
                write_new(path, data)
                return sha256
            if os.stat(path).st_size != len(data):
                write_atomically(path, data)
        except OSError as error:
            raise StoreError(
                f"cannot write the artifact {path}: {error.strerror}", hint="free some disk space, then resume the run"
            ) from error
        return sha256

    def show(self, sha256: str, path: str) -> None:
        """Let the artifact be found under another name, too; nothing is done where there is a file. Raises OSError."""
        try:
            os.link(f"{self.root}/{sha256[:2]}/{sha256}", path)
        except FileExistsError:
            pass
        except OSError:  # the first in its folder; or another file system, or one without links
            if not os.path.exists(path):
                write_atomically(path, self.get(sha256))

    def remove(self, sha256: str) -> None:
        """Forget the content; other names that it was shown under stay. Nothing to do where it is not there."""
        self.path(sha256).unlink(missing_ok=True)

    def get(self, sha256: str) -> bytes:
        try:
            data = self.path(sha256).read_bytes()
        except OSError as error:
            raise StoreError(
                f"artifact {sha256} is missing or unreadable: {error.strerror}", hint=f"restore {self.path(sha256)}"
            ) from error
        if hashlib.sha256(data).hexdigest() != sha256:
            raise StoreError(
                f"artifact {sha256} is damaged: it does not have the content of its name",
                hint=f"restore {self.path(sha256)}",
            )
        return data


class MemoryArtifacts:
    """The same face, kept in memory: for machines without a store."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        sha256 = hashlib.sha256(data).hexdigest()
        self._kept[sha256] = data
        return sha256

    def get(self, sha256: str) -> bytes:
        return self._kept[sha256]
