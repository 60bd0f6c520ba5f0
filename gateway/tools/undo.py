"""Changes to the workspace's files that can be taken back.

The log lies outside the workspace, one JSON file for each changed file: what stood there before (an artifact, by
sha256), what stood there after, and a digest of the request. An entry is written before the file is, so that a request
that was interrupted and is made again finds out whether it was carried out.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from gateway.errors import ToolError
from gateway.tools.registry import ToolContext
from gateway.tools.workspace import Workspace, sha256

_KEPT = 20  # changes of one file that the log remembers


@dataclass(frozen=True)
class Change:
    """`before` and `after` are the content's sha256; `before` is None for a file that was not there."""

    before: str | None
    after: str
    request: str


class Changes:
    """The log of one file's changes, oldest first."""

    def __init__(self, ctx: ToolContext, path: str) -> None:
        self._ctx = ctx
        self._workspace = Workspace(ctx.workspace)
        self._path = self._workspace.relative(path)
        key = sha256(f"{self._workspace.root}\0{self._path}".encode())[:32]
        self._file = ctx.home / "undo" / f"{key}.json"

    def done_before(self, request: BaseModel) -> Change | None:
        """The newest change, if this very request made it and its result still stands."""
        newest = self._newest()
        if (
            newest
            and newest.request == _digest(request, self._ctx)
            and newest.after == self._workspace.digest(self._path)
        ):
            return newest
        return None

    def make(self, request: BaseModel, data: bytes) -> Change:
        """Write the file, with what stood there kept."""
        before: str | None = None
        if self._workspace.exists(self._path):
            before = self._ctx.artifacts.put(self._workspace.read(self._path))
        change = Change(before, sha256(data), _digest(request, self._ctx))
        entries = self._entries()
        if before != change.after and entries[-1:] != [change]:
            self._save([*entries, change])
        self._workspace.write(self._path, data)
        return change

    def take_back(self, before: str | None, after: str) -> None:
        """Restore what stood before this change, and forget it. Done twice it is done once; ToolError if the file has
        been changed since."""
        self._restore(before, after)
        entries = self._entries()
        if entries and (entries[-1].before, entries[-1].after) == (before, after):
            self._save(entries[:-1])

    def restore_last(self) -> Change | None:
        """Restore what stood before the newest change; None if none is known. Done twice it is done once."""
        newest = self._newest()
        if newest:
            self._restore(newest.before, newest.after)
        return newest

    def _restore(self, before: str | None, after: str) -> None:
        now = self._workspace.digest(self._path)
        if now == before:
            return
        if now != after:
            raise ToolError(
                f"{self._path} was changed by something else since: it is left as it is",
                hint="compare it with the version you want and edit it by hand",
            )
        if before is None:
            self._workspace.remove(self._path)
        else:
            self._workspace.write(self._path, self._ctx.artifacts.get(before))

    def _newest(self) -> Change | None:
        entries = self._entries()
        return entries[-1] if entries else None

    def _entries(self) -> list[Change]:
        try:
            return [Change(**each) for each in json.loads(self._file.read_text("utf-8"))]
        except FileNotFoundError:
            return []
        except (ValueError, TypeError):
            return []  # cut short by a crash of the machine: what it knew is lost, the files are not

    def _save(self, entries: list[Change]) -> None:
        rows: list[dict[str, Any]] = [asdict(each) for each in entries[-_KEPT:]]
        replace_file(self._file, json.dumps(rows).encode())


def replace_file(path: Path, data: bytes) -> None:
    """Write a file of the gateway's own home atomically, its folder made."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise ToolError(f"{path} cannot be written: {error.strerror}", hint="check the disk's free space") from error


def _digest(request: BaseModel, ctx: ToolContext) -> str:
    # in a later turn the same request is a new one
    return sha256(f"{ctx.session}\0{ctx.turn}\0{request.model_dump_json()}".encode())
