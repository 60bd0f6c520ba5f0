"""Erasing: what a person wants forgotten is taken out of every run that nobody works on, and out of its pages.

A run that has it is written anew: masked in what came from outside (its request, what its calls gave, what people
answered), and run again from that, as a replay does, so that whatever its nodes made of it is made again without it:
prompts, arguments and their digests, states, pages. So it can still be replayed. Where it takes another way without
what was erased, it is masked as it stands, and a replay says that (`Erased`).

Whatever the interruption, erasing again goes on from there: a run's new log is one transaction, in which it is noted
that its pages have yet to be shown (`erased`) and which artifacts have yet to go (`unwanted`).
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gateway.engine import lease as leases
from gateway.engine.files import write_atomically
from gateway.engine.lease import Lease
from gateway.engine.rewriting import Masked, Rewritten, rewrite
from gateway.engine.sessions import named
from gateway.engine.state import RunState, Status, to_json
from gateway.engine.store import RunRow
from gateway.errors import RunBusy, RunNotFound, StoreError

if TYPE_CHECKING:
    from gateway.engine.runs import Runs

SHA256_CHARS = 64


class Eraser(Protocol):
    """Knows what is to be erased."""

    def found(self, text: str) -> bool:
        """Whether a text, plain or JSON, has it."""

    def clean(self, text: str) -> str:
        """The text with a mask in its place."""


async def erase(runs: Runs, eraser: Eraser) -> bool:
    """Everywhere. False where something may be left, since a run is being worked on: to be called again after that.
    Raises StoreError."""
    store, artifacts = runs.store, runs.artifacts
    dirty = await asyncio.to_thread(_dirty, artifacts.root, eraser)
    unshown = {row[0] for row in store.read("SELECT run_id FROM erased WHERE NOT shown")}
    whole = True
    for (run_id,) in store.read("SELECT id FROM runs ORDER BY created, id"):
        try:
            if run_id in unshown or _has(runs, run_id, eraser, dirty):
                await _Erasing(runs, eraser, run_id).do()
        except RunBusy:
            whole = False
        except RunNotFound:  # its session was forgotten meanwhile
            continue
        await asyncio.sleep(0)  # others go on meanwhile
    await _titles(runs, eraser)
    held = [name for (name,) in store.read("SELECT name FROM leases WHERE owner != '' AND name LIKE 'run:%'")]
    if not whole or any(store.held(name, runs.clock.now()) for name in held):
        return False  # it may know what was erased, and write it down yet
    await _sweep(runs, dirty)
    return True


def _dirty(root: Path, eraser: Eraser) -> set[str]:
    """The names of the artifacts that have it. What is no text is no place where it was written."""
    found = set()
    for path in root.glob("*/*"):
        try:
            if eraser.found(path.read_bytes().decode("utf-8", "replace")):
                found.add(path.name)
        except FileNotFoundError:  # a session was forgotten meanwhile
            continue
        except OSError as error:
            raise StoreError(f"cannot read {path}: {error.strerror}", hint=f"check {path}") from error
    return found


def _has(runs: Runs, run_id: str, eraser: Eraser, dirty: set[str]) -> bool:
    """Whether a run's rows have it, or name an artifact that has, other than what it pinned."""
    row = runs.store.run(run_id)
    texts = [row.title, row.question or "", json.dumps(row.context), runs.store.snapshot(run_id)[1]]
    texts += [text for (text,) in runs.store.read("SELECT data FROM events WHERE run_id = ?", (run_id,))]
    wanted = dirty - set(row.pins.values())
    return any(eraser.found(text) or any(sha256 in text for sha256 in wanted) for text in texts)


async def _titles(runs: Runs, eraser: Eraser) -> None:
    """What people have called their sessions."""
    if not runs.store.read("SELECT 1 FROM sqlite_master WHERE name = 'sessions'"):
        return
    titles = runs.store.read("SELECT name, title FROM sessions")
    changed = [(eraser.clean(title), name) for name, title in titles if eraser.found(title)]
    if changed:
        await runs.store.write(
            lambda db: db.executemany("UPDATE sessions SET title = ? WHERE name = ?", changed), durable=True
        )


async def _sweep(runs: Runs, dirty: set[str]) -> None:
    """Remove the artifacts that had it and that no run names any more, and what free pages and logs still have."""
    store = runs.store
    unwanted = {row[0] for row in store.read("SELECT sha256 FROM unwanted")} | dirty
    if unwanted:
        for name in unwanted - named(store):
            if len(name) == SHA256_CHARS:
                runs.artifacts.remove(name)
            else:  # what a crash has left beside an artifact
                (runs.artifacts.root / name[1:3] / name).unlink(missing_ok=True)
    await store.compact()
    await store.write(lambda db: db.execute("DELETE FROM unwanted"), durable=True)


@dataclass
class _Erasing:
    """From one run."""

    runs: Runs
    eraser: Eraser
    run_id: str

    async def do(self) -> None:
        """Raises RunBusy while somebody works on it."""
        store = self.runs.store
        lease = await store.acquire(f"run:{self.run_id}", f"{self.runs.owner}:erasing", self.runs.clock.now())
        try:
            row = store.run(self.run_id)
            known = store.read("SELECT replayable FROM erased WHERE run_id = ?", (self.run_id,))
            masked = Masked(self.runs.artifacts, self.eraser.clean, frozenset(row.pins.values()))
            rewritten = await rewrite(
                self.runs.types.get(row.graph),
                row,
                store.events(row.id),
                store.snapshot(row.id),
                masked,
                self.runs.redact,
                replayable=not known or bool(known[0][0]),
            )
            await store.write(self._written(rewritten, masked.replaced, lease), durable=True)
            await asyncio.to_thread(self._show, rewritten.row, self.runs.store.snapshot(row.id)[1], masked)
            await store.write(
                lambda db: db.execute("UPDATE erased SET shown = 1 WHERE run_id = ?", (self.run_id,)), durable=True
            )
        finally:
            await store.release(lease)

    def _written(self, new: Rewritten, replaced: set[str], lease: Lease) -> Callable[[sqlite3.Connection], None]:
        def work(db: sqlite3.Connection) -> None:
            leases.verify(db, lease)
            db.executemany(
                "UPDATE events SET data = ? WHERE run_id = ? AND seq = ?",
                [(to_json(event.data), self.run_id, event.seq) for event in new.events],
            )
            db.execute("UPDATE snapshots SET state = ? WHERE run_id = ?", (new.state, self.run_id))
            db.execute(
                "UPDATE runs SET title = ?, context = ?, question = ? WHERE id = ?",
                (new.row.title, json.dumps(new.row.context), new.row.question, self.run_id),
            )
            db.execute("INSERT OR REPLACE INTO erased VALUES (?, ?, 0)", (self.run_id, new.replayable))
            db.executemany("INSERT OR IGNORE INTO unwanted VALUES (?)", [(each,) for each in sorted(replaced)])

        return work

    def _show(self, row: RunRow, saved: str, masked: Masked) -> None:
        """Its pages anew: also those that are shown once, and whatever else lies beside them."""
        kind = self.runs.types.get(row.graph)
        if kind is None or kind.project is None:
            return
        state = RunState.load(saved, kind.state)
        if row.status == Status.STOPPED and state.status is Status.RUNNING:
            state = replace(state, status=Status.STOPPED, stop_reason=row.stop_reason)
        projection = kind.project(row, kind.context.model_validate(row.context), state, self.runs.artifacts)
        try:
            for name in projection.artifacts:
                (projection.folder / name).unlink(missing_ok=True)
            projection.write(self.runs.artifacts, set())
            shown = {projection.folder / name for name in (*projection.texts, *projection.artifacts)}
            for path in sorted(each for each in projection.folder.rglob("*") if each.is_file() and each not in shown):
                old = path.read_bytes().decode("utf-8", "replace")
                new = masked.document(old)
                if new != old:
                    write_atomically(path, new.encode())
        except OSError as error:
            raise StoreError(
                f"cannot write {error.filename}: {error.strerror}", hint="free some disk space, then it is tried again"
            ) from error
