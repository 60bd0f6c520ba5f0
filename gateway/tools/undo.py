"""Changes to the workspace's files that can be taken back.

The log lies outside the workspace, one JSON file for each changed file: what stood there before (an artifact, by
sha256), what stood there after, and a digest of the request. An entry is written before the file is, so that a request
that was interrupted and is made again finds out whether it was carried out. What is taken back stays in the log until
the next change, marked. A lock beside the log keeps two turns, in whatever processes, from changing one file at once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from gateway.errors import ToolError
from gateway.tools.registry import ToolContext
from gateway.tools.workspace import MAX_FILE_BYTES, Workspace, sha256

_KEPT = 20  # changes of one file that the log remembers
_LOCK_S = 8.0  # a change takes milliseconds; longer than that waits only who is stuck


@dataclass(frozen=True)
class Change:
    """`before` and `after` are the content's sha256; `before` is None for a file that was not there. `request` made it,
    and `undone` took it back; they are digests."""

    before: str | None
    after: str
    request: str
    undone: str = ""


class Changes:
    """The log of one file's changes, oldest first."""

    def __init__(self, ctx: ToolContext, path: str) -> None:
        self._ctx = ctx
        self._workspace = Workspace(ctx.workspace)
        self._path = self._workspace.relative(path)
        key = sha256(f"{self._workspace.root}\0{self._path}".encode())[:32]
        self._file = ctx.home / "undo" / f"{key}.json"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the file while it is read, checked and written. ToolError where somebody else does not let it go."""
        from filelock import FileLock, Timeout

        lock = self._file.with_suffix(".lock")
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(lock, timeout=_LOCK_S, poll_interval=0.01):
                yield
        except Timeout:
            raise ToolError(f"{self._path} is being changed by another turn", hint="try again later") from None

    def done_before(self, request: BaseModel) -> Change | None:
        """The newest change, if this very request made it and its result still stands."""
        newest = self._newest()
        if (
            newest
            and newest.request == digest_of(request, self._ctx)
            and newest.after == self._workspace.digest(self._path)
        ):
            return newest
        return None

    def make(self, request: BaseModel, data: bytes, standing: bytes | None) -> Change:
        """Write the file, with what stood there kept. `standing` is what the change was made from, None for no file:
        ToolError if something else stands there by now."""
        if len(data) > MAX_FILE_BYTES:
            raise ToolError(f"{self._path} would be larger than {MAX_FILE_BYTES:,} bytes, which tools do not read")
        now = self._workspace.read(self._path) if self._workspace.exists(self._path) else None
        if now != standing:
            raise ToolError(
                f"{self._path} was changed by something else in this moment: it is left as it is",
                hint="read it again and make the change to what stands there now",
            )
        before = None if now is None else self._ctx.artifacts.put(now)
        change = Change(before, sha256(data), digest_of(request, self._ctx))
        entries = [each for each in self._entries() if not each.undone]
        if before != change.after and entries[-1:] != [change]:
            self._save([*entries, change])
        self._workspace.write(self._path, data)
        return change

    def take_back(self, before: str | None, after: str) -> None:
        """Restore what stood before this change, and forget it. Done twice it is done once; ToolError if the file has
        been changed since."""
        with self.locked():
            if self._stands(before, after):
                self._put_back(before)
            entries = self._entries()
            if entries and (entries[-1].before, entries[-1].after) == (before, after):
                self._save(entries[:-1])

    def restore_last(self, request: BaseModel) -> Change | None:
        """Restore what stood before the newest change that is not taken back yet; None if none is known. The same
        request made again restores the same."""
        with self.locked():
            digest = digest_of(request, self._ctx)
            entries = self._entries()
            change = next((each for each in entries if each.undone == digest), None) or self._newest()
            if change is None:
                return None
            stands = self._stands(change.before, change.after)
            if not change.undone:
                at = entries.index(change)
                self._save([*entries[:at], replace(change, undone=digest), *entries[at + 1 :]])
            if stands:
                self._put_back(change.before)
            return change

    def _stands(self, before: str | None, after: str) -> bool:
        """Whether the file is as the change left it, rather than as it was before; ToolError if it is neither."""
        now = self._workspace.digest(self._path)
        if now not in (before, after):
            raise ToolError(
                f"{self._path} was changed by something else since: it is left as it is",
                hint="compare it with the version you want and edit it by hand",
            )
        return now != before

    def _put_back(self, before: str | None) -> None:
        if before is None:
            self._workspace.remove(self._path)
        else:
            self._workspace.write(self._path, self._ctx.artifacts.get(before))

    def _newest(self) -> Change | None:
        return next((each for each in reversed(self._entries()) if not each.undone), None)

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


def digest_of(request: BaseModel, ctx: ToolContext) -> str:
    """What tells this request from all others: of the same call it is the same."""
    # made again in another call, the same request is a new one
    return sha256(f"{ctx.session}\0{ctx.turn}\0{ctx.call}\0{request.model_dump_json()}".encode())
