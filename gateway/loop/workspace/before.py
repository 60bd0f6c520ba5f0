"""How a workspace was before an iteration: a file of the session, in whose place the next iteration's comes.

The log has only its checksum: a list of all files would stay behind from every iteration.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from gateway.engine.files import write_atomically
from gateway.errors import StoreError
from gateway.loop.workspace.snapshot import Damage
from gateway.loop.workspace.survey import Survey
from gateway.tools.workspace import sha256


@dataclass(frozen=True)
class Before:
    """`kept` are the protected files, path → artifact."""

    survey: Survey
    kept: Mapping[str, str]

    def write(self, path: Path) -> str:
        """The sha256 of what is written. Raises StoreError where the disk refuses."""
        data = f'{{"survey": {self.survey.dump().decode()}, "kept": {json.dumps(self.kept)}}}\n'.encode()
        try:
            write_atomically(path, data)
        except OSError as error:
            raise StoreError(
                f"cannot write {path}: {error.strerror}", hint="free some disk space, then resume the session"
            ) from error
        return sha256(data)

    @classmethod
    def read(cls, path: Path, checksum: str) -> Self:
        """Raises Damage."""
        try:
            data = path.read_bytes()
            if sha256(data) != checksum:
                raise Damage(f"{path} is not what was written, so what the iteration changed is not known")
            read = json.loads(data)
            return cls(Survey.of(read["survey"]), read["kept"])
        except OSError as error:
            raise Damage(f"{path} cannot be read: {error.strerror}") from error
