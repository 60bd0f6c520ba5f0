"""Checkpoints of a session: the state of the loop, and the workspace as it was.

A checkpoint is a document that names a snapshot of the workspace by checksum. The document is written last, so that it
is there or not, whatever happens meanwhile; and it may be written again.
"""

from __future__ import annotations

import asyncio
import errno
import os
import threading
import time
from pathlib import Path

from pydantic import ValidationError

from gateway.errors import CheckpointDamaged, CheckpointFailed, OutsideWorkspace, ToolError, UsageError, WorkspaceGone
from gateway.loop.checkpoint_folder import CheckpointDocument, CheckpointFolder
from gateway.loop.state import CheckpointRecord, LoopState, Plain
from gateway.loop.workspace.git_ref import REFS, commit
from gateway.loop.workspace.restoring import Restored, restore
from gateway.loop.workspace.snapshot import Damage, Manifest, Snapshots
from gateway.loop.workspace.survey import LARGE_BYTES, large_files

_NAMED = 20  # files that the notes name; the manifest has all
_FULL = tuple(os.strerror(code) for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG))


class Listed(Plain):
    """A checkpoint in a list; `damaged` says what is wrong with it, and is empty where it is whole."""

    number: int
    iteration: int = 0
    at: float = 0.0
    why: str = ""
    met: int = 0
    of: int = 0
    commit: str = ""
    damaged: str = ""


class Checkpoints:
    """The checkpoints of the session whose documents are in `folder`. `apart` is a folder of the workspace that they do
    not take, such as Echelon's home where it is in there; the session's own folder never is taken."""

    def __init__(self, folder: Path, workspace: Path, *, apart: Path | None = None) -> None:
        self.folder = folder
        self.workspace = workspace
        self._apart = apart or folder
        self._snapshots = Snapshots(folder / "workspace", workspace, self._apart)
        self._files = CheckpointFolder(folder, self._snapshots)
        self._writing = threading.Lock()

    async def save(
        self, *, number: int, why: str, at: float, session: str, agent: str, state: LoopState
    ) -> CheckpointRecord:
        """Write checkpoint `number`, in place of one of that number. `at` is seconds since the epoch.

        Raises CheckpointFailed where the disk refuses, with the others as they were, and WorkspaceGone.
        """
        began = time.monotonic()
        conditions = {name: _met(state, name) for name in state.exits}
        ref = f"{REFS}/{session}/{number}"
        lines = [f"Checkpoint {number} of session {session}, after iteration {state.iteration}", ""]
        lines += [f"{name}: {_in_words(met)}" for name, met in conditions.items()]
        try:
            snapshot, committed = await asyncio.gather(
                asyncio.to_thread(self._snapshot, number),
                self._commit(ref, "\n".join(lines), at),
                return_exceptions=True,
            )
            if isinstance(snapshot, BaseException):
                raise snapshot
            if isinstance(committed, BaseException):
                raise committed
            (manifest, name, parts), (made, trouble) = snapshot, committed
            notes = (*([f"no commit: {trouble}"] if trouble else []), *_notes(manifest))
            document = CheckpointDocument(
                session=session,
                agent=agent,
                number=number,
                iteration=state.iteration,
                at=at,
                why=why,
                conditions=conditions,
                state=state.model_dump(mode="json"),
                manifest=name,
                parts=parts,
                commit=made,
                ref=ref if made else "",
                notes=notes,
            )
            checksum = await asyncio.to_thread(self._write, document)
        except WorkspaceGone as error:
            raise self._gone(error) from error
        except OSError as error:
            where = f" ({error.filename})" if error.filename else ""
            raise self._failed(f"{error.strerror or error}{where}") from error
        return CheckpointRecord(
            number=number,
            iteration=state.iteration,
            at=at,
            why=why,
            sha256=checksum,
            commit=document.commit,
            ref=document.ref,
            notes=notes,
            s=round(time.monotonic() - began, 3),
        )

    def all(self) -> list[Listed]:
        """By number. Blocks: what was not looked at before by this object is read from the disk."""
        return [self._listed(number) for number in sorted([*self._files.numbers(), *self._files.missing()])]

    def load(self, number: int) -> CheckpointDocument:
        """A whole checkpoint. Blocks; raises CheckpointDamaged, which has the newest whole one before it, and
        UsageError where there never was one of that number."""
        if number not in self._files.numbers() and not self._files.snapshot_files(number):
            raise UsageError(
                f"session {self.folder.name} has no checkpoint {number}",
                hint=f"echelon loop checkpoints {self.folder.name} lists them",
            )
        try:
            document = self._files.whole(number)
            LoopState.model_validate(document.state)
        except (Damage, ValidationError) as error:
            raise self._damaged(number, str(error)) from error
        return document

    async def restore_workspace(self, number: int) -> Restored:
        """Bring the workspace back to a checkpoint; what is there instead is moved into the session's folder. May be
        repeated. Raises as `load`, WorkspaceGone, and CheckpointFailed where the disk refuses."""
        return await asyncio.to_thread(self._restore, number)

    def _listed(self, number: int) -> Listed:
        try:
            document = self._files.read(number)
        except Damage as error:
            return Listed(number=number, damaged=str(error))
        damaged = ""
        try:
            self._files.check(document)
        except Damage as error:
            damaged = str(error)
        return Listed(
            number=number,
            iteration=document.iteration,
            at=document.at,
            why=document.why,
            met=sum(met is True for met in document.conditions.values()),
            of=len(document.conditions),
            commit=document.commit,
            damaged=damaged,
        )

    def _restore(self, number: int) -> Restored:
        document = self.load(number)
        away = self.folder / "aside"
        try:
            manifest = self._files.manifest(document)
            count = len(os.listdir(away)) if away.is_dir() else 0
            return restore(
                number, self.workspace, self._snapshots, manifest, away / f"{count + 1:04}", apart=self._apart
            )
        except (Damage, OutsideWorkspace) as error:
            raise self._damaged(number, str(error)) from error
        except OSError as error:
            raise CheckpointFailed(
                f"the workspace could not be brought back: {error.strerror} ({error.filename or self.workspace})",
                hint="see to the disk's space and permissions, then give the same command again",
            ) from error

    def _snapshot(self, number: int) -> tuple[Manifest, str, dict[str, str]]:
        """The snapshot, its manifest's file, and all files that it needs, name → sha256."""
        with self._writing:
            self._files.clear()
            before = self._files.newest_whole(number)
            saved = self._snapshots.save(number, self._files.manifest(before) if before else None)
        parts = dict(before.parts) if before else {}
        parts |= {each.name: each.sha256 for each in (saved.file, saved.tar) if each}
        needed = (saved.file.name, *saved.manifest.tars)
        return saved.manifest, saved.file.name, {name: parts[name] for name in needed}

    def _write(self, document: CheckpointDocument) -> str:
        with self._writing:
            return self._files.write(document)

    async def _commit(self, ref: str, message: str, at: float) -> tuple[str, str]:
        """The commit's id, and why there is none."""
        try:
            apart = await asyncio.to_thread(self._not_for_git)
            index = self.folder / "git-index"
            return await commit(self.workspace, ref, message, index, at=at, leave_out=apart), ""
        except ToolError as error:
            if any(each in str(error) for each in _FULL):
                raise self._failed(str(error)) from error
            return "", str(error)

    def _damaged(self, number: int, what: str) -> CheckpointDamaged:
        found = self._files.newest_whole(number)
        before = found.number if found else None
        name = self.folder.name
        hint = (
            f"the newest whole one before it is {before}: echelon loop resume {name} --from {before}"
            if found
            else f"there is no whole one before it; echelon loop resume {name} goes on from where the session stopped"
        )
        return CheckpointDamaged(f"checkpoint {number} is damaged: {what}", before=before, hint=hint)

    def _gone(self, error: WorkspaceGone) -> WorkspaceGone:
        found = self._files.newest_whole()
        if found is None:
            return WorkspaceGone(str(error), hint=f"put the folder {self.workspace} back; there is no whole checkpoint")
        command = f"echelon loop resume {self.folder.name} --from {found.number} --restore-workspace"
        return WorkspaceGone(str(error), hint=f"bring it back from the newest checkpoint: {command}")

    def _failed(self, what: str) -> CheckpointFailed:
        return CheckpointFailed(
            f"the checkpoint could not be written: {what}",
            hint="free some disk space, then: "
            f"echelon loop resume {self.folder.name} (the checkpoints before it are whole)",
        )

    def _not_for_git(self) -> list[str]:
        """What the snapshot does not take, either."""
        root, apart = os.path.realpath(self.workspace), os.path.realpath(self._apart)
        inside = [os.path.relpath(apart, root)] if apart.startswith(f"{root}/") else []
        return [*inside, *large_files(self.workspace, self._apart)]


def _met(state: LoopState, name: str) -> bool | None:
    result = state.evaluation.of(name) if state.evaluation else None
    return result.met if result else None


def _in_words(met: bool | None) -> str:
    return {True: "met", False: "not met", None: "not evaluated"}[met]


def _notes(manifest: Manifest) -> tuple[str, ...]:
    seen = manifest.survey
    left = {path: f"it is larger than {LARGE_BYTES:,} bytes" for path, each in seen.files.items() if each.is_large}
    left |= seen.left_out
    notes = [f"{path} is left out: {why}" for path, why in list(left.items())[:_NAMED]]
    return (*notes, *([f"{len(left) - _NAMED} more are left out"] if len(left) > _NAMED else []))
