"""The files of a session's checkpoints: `checkpoints/NNNN.json`, and what these name in `workspace/`."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from pathlib import Path
from typing import Any

from gateway.loop.state import Plain
from gateway.loop.workspace.durable import replace
from gateway.loop.workspace.snapshot import Damage, Manifest, Snapshots
from gateway.tools.workspace import sha256

_DOCUMENT = re.compile(r"(\d{4,})\.json")


class CheckpointDocument(Plain):
    """`state` is the LoopState; `conditions` are name → met, None where it was not evaluated yet. `manifest` is a file
    of the session's folder `workspace`, and `parts` are all of its files that are needed, name → sha256. `notes` say
    what of the workspace is not in it, and why."""

    session: str
    agent: str
    number: int
    iteration: int
    at: float
    why: str
    conditions: dict[str, bool | None]
    state: dict[str, Any]
    manifest: str
    parts: dict[str, str]
    commit: str = ""
    ref: str = ""
    notes: tuple[str, ...] = ()


class CheckpointFolder:
    """The checkpoints in a session's folder. Everything here blocks."""

    def __init__(self, folder: Path, snapshots: Snapshots) -> None:
        self._documents = folder / "checkpoints"
        self._snapshots = snapshots
        self._sound: dict[str, tuple[tuple[int, ...], str]] = {}

    def numbers(self) -> list[int]:
        """Of all that have a document, sorted."""
        names = os.listdir(self._documents) if self._documents.is_dir() else []
        return sorted(int(match[1]) for match in map(_DOCUMENT.fullmatch, names) if match)

    def missing(self) -> list[int]:
        """Of those before the last that have a snapshot and no document."""
        there = self.numbers()
        return [each for each in range(1, max(there, default=0)) if each not in there and self.snapshot_files(each)]

    def snapshot_files(self, number: int) -> list[Path]:
        """What the snapshot of a checkpoint wrote."""
        return sorted(self._snapshots.folder.glob(f"{number:04}-*"))

    def whole(self, number: int) -> CheckpointDocument:
        """A checkpoint of which everything is what was written. Raises Damage."""
        document = self.read(number)
        self.check(document)
        return document

    def newest_whole(self, below: float = math.inf) -> CheckpointDocument | None:
        """That of the highest number below another."""
        for number in reversed(self.numbers()):
            if number < below:
                try:
                    return self.whole(number)
                except Damage:
                    continue
        return None

    def manifest(self, document: CheckpointDocument) -> Manifest:
        """Raises Damage."""
        return self._snapshots.manifest(document.manifest, document.parts[document.manifest])

    def read(self, number: int) -> CheckpointDocument:
        """The document alone. Raises Damage."""
        path = self._documents / f"{number:04}.json"
        try:
            read = json.loads(path.read_bytes())
            if read["sha256"] != _checksum(read["document"]):
                raise Damage(f"{path} is not what was written")
            document = CheckpointDocument.model_validate(read["document"])
        except OSError as error:
            raise Damage(f"{path} cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise Damage(f"{path} is no checkpoint's document") from error
        if document.number != number or document.manifest not in document.parts:
            raise Damage(f"{path} is not that of checkpoint {number}")
        return document

    def check(self, document: CheckpointDocument) -> None:
        """See that its files are what was written; those that have not changed since the last time are not read again.
        Raises Damage."""
        for name, checksum in document.parts.items():
            path = self._snapshots.folder / name
            try:
                status = path.stat()
                now = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
                if self._sound.get(name) == (now, checksum):
                    continue
                with path.open("rb") as file:
                    if hashlib.file_digest(file, "sha256").hexdigest() != checksum:
                        raise Damage(f"{path} is not what was written")
            except OSError as error:
                raise Damage(f"{path} cannot be read: {error.strerror}") from error
            self._sound[name] = (now, checksum)

    def clear(self) -> None:
        """Remove what a killed process left half written. Raises OSError."""
        for folder in (self._documents, self._snapshots.folder):
            for each in folder.glob(".*") if folder.is_dir() else ():
                each.unlink(missing_ok=True)

    def write(self, document: CheckpointDocument) -> str:
        """Write a document, in place of one of its number, whose files go; its sha256. Raises OSError."""
        body = document.model_dump(mode="json")
        data = json.dumps({"sha256": _checksum(body), "document": body}, indent=1).encode() + b"\n"
        replace(self._documents / f"{document.number:04}.json", data)
        if document.number == self.numbers()[-1]:  # else a later one may need them
            for each in self.snapshot_files(document.number):
                if each.name not in document.parts:
                    each.unlink(missing_ok=True)
        return sha256(data)


def _checksum(body: Any) -> str:
    return sha256(json.dumps(body, sort_keys=True).encode())
