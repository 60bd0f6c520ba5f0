"""The run store: SQLite in WAL mode. No code outside `gateway/engine` knows where events live.

Writes happen on the event loop's thread with a connection that never waits (a commit without fsync takes some 50 µs, a
hop to another thread and back costs more); when the database is locked, or the write must reach the disk, they go to a
thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from gateway.engine import lease as leases
from gateway.engine.events import Event
from gateway.engine.lease import Lease
from gateway.engine.state import Status, to_json
from gateway.engine.wal import write_ahead
from gateway.errors import LeaseLost, RunBusy, RunNotFound, StoreError

T = TypeVar("T")
BUSY_S = 30.0
CHECKPOINT_EVERY = 2000  # commits
SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
  id TEXT PRIMARY KEY, graph TEXT NOT NULL, title TEXT NOT NULL, session TEXT, ordinal INTEGER, parent TEXT,
  seed INTEGER NOT NULL, context TEXT NOT NULL, limits TEXT NOT NULL, pins TEXT NOT NULL,
  status TEXT NOT NULL, stop_reason TEXT, question TEXT, created REAL NOT NULL, updated REAL NOT NULL,
  cancel INTEGER NOT NULL DEFAULT 0);
CREATE UNIQUE INDEX IF NOT EXISTS runs_session ON runs (session, ordinal) WHERE session IS NOT NULL;
CREATE INDEX IF NOT EXISTS runs_parent ON runs (parent) WHERE parent IS NOT NULL;
CREATE TABLE IF NOT EXISTS events (
  run_id TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, at REAL NOT NULL, data TEXT NOT NULL,
  PRIMARY KEY (run_id, seq)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS snapshots (run_id TEXT PRIMARY KEY, seq INTEGER NOT NULL, state TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS signals (
  run_id TEXT NOT NULL, seq INTEGER NOT NULL, name TEXT NOT NULL, at REAL NOT NULL, data TEXT NOT NULL,
  PRIMARY KEY (run_id, seq)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS erased (run_id TEXT PRIMARY KEY, replayable INTEGER NOT NULL, shown INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS unwanted (sha256 TEXT PRIMARY KEY) WITHOUT ROWID;
"""
COLUMNS = (
    "id, graph, title, session, ordinal, parent, seed, context, limits, pins, "
    "status, stop_reason, question, created, updated, cancel"
)
INSERT_EVENT = (
    "INSERT INTO events SELECT ?, ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM leases WHERE name = ? AND epoch = ?)"
)


@dataclass(frozen=True)
class RunRow:
    """A run as the store knows it; `session` and `ordinal` are set for runs that follow each other in a session."""

    id: str
    graph: str
    title: str
    session: str | None
    ordinal: int | None
    parent: str | None
    seed: int
    context: dict[str, Any]
    limits: dict[str, float]
    pins: dict[str, str]
    status: str
    stop_reason: str | None
    question: str | None
    created: float
    updated: float
    cancel: bool


@dataclass(frozen=True)
class Signal:
    """Something that a run was told from outside; `seq` counts from 1 within the run."""

    seq: int
    name: str
    data: dict[str, Any]
    at: float


@dataclass(frozen=True)
class Progress:
    """What a write says about the run's row."""

    status: str
    stop_reason: str | None = None
    question: str | None = None
    limits: Mapping[str, float] | None = None  # None: as they were


class _Locked(Exception):
    """Another connection is writing just now."""


class Store:
    """One per process and database. Raises StoreError (locked for too long, full, corrupt) with what to do about it."""

    def __init__(self, path: Path, *, term_s: float = leases.TERM_S) -> None:
        self.path = path
        self.term_s = term_s
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store")
        self._commits = 0
        self._closed = False
        with self._explained():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # what is in it is its owner's
            with contextlib.suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
            self._patient = self._connect(BUSY_S, "FULL")
            self._patient.executescript(SCHEMA + leases.SCHEMA)
            self._quick = self._connect(0.0, "NORMAL")
            # Its fsync would stall the event loop: see _checkpoint.
            self._quick.execute("PRAGMA wal_autocheckpoint = 0")

    def _connect(self, timeout_s: float, synchronous: str) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
        write_ahead(db, BUSY_S)
        db.execute(f"PRAGMA synchronous = {synchronous}")
        db.execute(f"PRAGMA busy_timeout = {timeout_s * 1000:.0f}")
        return db

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._thread.shutdown()
            self._quick.close()
            self._patient.close()

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            said = str(error)
            if "full" in said or "disk I/O" in said:
                raise StoreError(
                    f"cannot write to {self.path}: {said}", hint="free some disk space; nothing written before is lost"
                ) from error
            if "locked" in said:
                raise StoreError(
                    f"{self.path} has been locked by another process for {BUSY_S:.0f} s",
                    hint="end the process that holds it, then resume the run",
                ) from error
            raise StoreError(
                f"{self.path} cannot be used: {said}",
                hint="it may be damaged: move it away (a new one is made), or restore a copy",
            ) from error
        except OSError as error:
            raise StoreError(
                f"cannot open {self.path}: {error.strerror}", hint="check ECHELON_HOME and its permissions"
            ) from error

    async def write(self, work: Callable[[sqlite3.Connection], T], *, durable: bool = False) -> T:
        """For modules of the engine: run `work` in a transaction, at once where that needs no waiting, else in the
        thread."""
        if not durable:
            with contextlib.suppress(_Locked):
                return self._write_now(work)
        with self._explained():
            return await asyncio.get_running_loop().run_in_executor(self._thread, _transaction, self._patient, work)

    def _write_now(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            result = _transaction(self._quick, work)
        except sqlite3.Error as error:
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                raise _Locked from None
            with self._explained():
                raise
        self._commits += 1
        if self._commits % CHECKPOINT_EVERY == 0 and not self._closed:
            self._thread.submit(self._checkpoint)
        return result

    def read(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
        """For modules of the engine: a query's rows. In WAL mode readers wait for nobody, but where another process is
        just recovering the log."""
        with self._explained():
            try:
                return self._quick.execute(sql, values).fetchall()
            except sqlite3.OperationalError as error:
                if "locked" not in str(error):
                    raise
            self._quick.execute(f"PRAGMA busy_timeout = {BUSY_S * 1000:.0f}")
            try:
                return self._quick.execute(sql, values).fetchall()
            finally:
                self._quick.execute("PRAGMA busy_timeout = 0")

    async def compact(self) -> None:
        """Write the database anew, without what was deleted or replaced, which free pages still have; empty the
        write-ahead log. Where others read or write just now, that is left to their next checkpoint."""

        def rewrite() -> None:
            with contextlib.suppress(sqlite3.OperationalError):
                self._patient.execute("VACUUM")
            with contextlib.suppress(sqlite3.OperationalError):
                self._patient.execute("PRAGMA wal_checkpoint(TRUNCATE)")

        await asyncio.get_running_loop().run_in_executor(self._thread, rewrite)

    def _checkpoint(self) -> None:
        with contextlib.suppress(sqlite3.Error):  # a failed checkpoint is made up for by the next
            self._patient.execute("PRAGMA wal_checkpoint(PASSIVE)")

    # runs

    async def create(self, row: RunRow, events: Sequence[Event], state: str, owner: str) -> tuple[RunRow, Lease]:
        """Insert a run with its first events and snapshot, leased to `owner`. In a session it gets the next ordinal."""

        def work(db: sqlite3.Connection) -> tuple[int | None, Lease]:
            ordinal = row.ordinal
            if row.session is not None and ordinal is None:
                ordinal = db.execute(
                    "SELECT coalesce(max(ordinal), 0) + 1 FROM runs WHERE session = ?", (row.session,)
                ).fetchone()[0]
            if db.execute("SELECT 1 FROM runs WHERE id = ?", (row.id,)).fetchone():
                raise RunBusy(f"run {row.id} exists already", hint=f"echelon runs resume {row.id}")
            db.execute(
                f"INSERT INTO runs ({COLUMNS}) VALUES ({', '.join('?' * 16)})",
                (
                    *(row.id, row.graph, row.title, row.session, ordinal, row.parent, row.seed),
                    *(json.dumps(row.context), json.dumps(row.limits), json.dumps(row.pins)),
                    *(row.status, row.stop_reason, row.question, row.created, row.updated, 0),
                ),
            )
            lease = leases.acquire(db, f"run:{row.id}", owner, row.created, self.term_s)
            _insert(db, row.id, events, state, lease)
            return ordinal, lease

        ordinal, lease = await self.write(work)
        return replace(row, ordinal=ordinal), lease

    def run(self, run_id: str) -> RunRow:
        """The run with this id, or with an id that begins so. Raises RunNotFound."""
        found = self.read(f"SELECT {COLUMNS} FROM runs WHERE id LIKE ? ESCAPE '!' LIMIT 2", (_like(run_id) + "%",))
        exact = [row for row in found if row[0] == run_id] or found
        if len(exact) != 1:
            raise RunNotFound(
                f"{'no run' if not exact else 'more than one run'} with an id that begins with {run_id!r}",
                hint="`echelon runs list` shows them",
            )
        return _row(exact[0])

    def runs(
        self, *, session: str | None = None, parent: str | None = None, graph: str | None = None, limit: int = 50
    ) -> list[RunRow]:
        """The newest runs first."""
        where, values = [], []
        for column, value in (("session", session), ("parent", parent), ("graph", graph)):
            if value is not None:
                where.append(f"{column} = ?")
                values.append(value)
        clause = f"WHERE {' AND '.join(where)}" if where else ""
        sql = f"SELECT {COLUMNS} FROM runs {clause} ORDER BY created DESC, id DESC LIMIT ?"
        found = self.read(sql, (*values, limit))
        return [_row(each) for each in found]

    def at(self, session: str, ordinal: int | None = None) -> RunRow:
        """A session's run by its ordinal; None means the last. Raises RunNotFound."""
        where = "session = ? AND (ordinal = ? OR ? IS NULL) ORDER BY ordinal DESC LIMIT 1"
        found = self.read(f"SELECT {COLUMNS} FROM runs WHERE {where}", (session, ordinal, ordinal))
        if not found:
            which = "no turn" if ordinal is None else f"no turn {ordinal}"
            raise RunNotFound(f"{which} in session {session!r}", hint="`echelon turns list` shows what there is")
        return _row(found[0])

    async def append(
        self,
        run_id: str,
        lease: Lease,
        events: Sequence[Event],
        state: str | None = None,
        progress: Progress | None = None,
        *,
        durable: bool = False,
    ) -> None:
        """Append events, and with a node's last one its snapshot, in one transaction. LeaseLost: nothing is written."""
        await self.write(partial(_append, run_id, lease, events, state, progress), durable=durable)

    def append_now(
        self, run_id: str, lease: Lease, event: Event, state: str | None = None, progress: Progress | None = None
    ) -> bool:
        """The same at once; False where another writer has the database, then nothing is written."""
        try:
            self._write_now(partial(_append, run_id, lease, [event], state, progress))
        except _Locked:
            return False
        return True

    def snapshot(self, run_id: str) -> tuple[int, str]:
        """(sequence number of the last event before it, state)."""
        found = self.read("SELECT seq, state FROM snapshots WHERE run_id = ?", (run_id,))
        if not found:
            raise StoreError(f"run {run_id} has no snapshot", hint="it cannot be resumed; start it again")
        seq, state = found[0]
        return seq, state

    def events(self, run_id: str, after: int = 0, limit: int = -1) -> list[Event]:
        """A run's events with a sequence number above `after`, in order."""
        sql = "SELECT seq, kind, data, at FROM events WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?"
        found = self.read(sql, (run_id, after, limit))
        return [Event(seq, kind, json.loads(data), at) for seq, kind, data, at in found]

    def last_seq(self, run_id: str) -> int:
        return int(self.read("SELECT coalesce(max(seq), 0) FROM events WHERE run_id = ?", (run_id,))[0][0])

    # signals

    async def signal(self, run_id: str, name: str, data: Mapping[str, Any], at: float) -> int:
        """Keep a signal for whoever works on the run, now or later; its number. Several at once get one each."""

        def work(db: sqlite3.Connection) -> int:
            last = db.execute("SELECT coalesce(max(seq), 0) FROM signals WHERE run_id = ?", (run_id,)).fetchone()[0]
            db.execute("INSERT INTO signals VALUES (?, ?, ?, ?, ?)", (run_id, last + 1, name, at, to_json(data)))
            return int(last) + 1

        return await self.write(work, durable=True)

    def signals(self, run_id: str, after: int = 0) -> list[Signal]:
        """A run's signals with a number above `after`, in order."""
        sql = "SELECT seq, name, data, at FROM signals WHERE run_id = ? AND seq > ? ORDER BY seq"
        return [Signal(seq, name, json.loads(data), at) for seq, name, data, at in self.read(sql, (run_id, after))]

    # ownership

    async def acquire(self, name: str, owner: str, now: float) -> Lease:
        """Take a lease; RunBusy while a live owner holds it."""
        return await self.write(lambda db: leases.acquire(db, name, owner, now, self.term_s))

    def held(self, name: str, now: float) -> bool:
        """Whether somebody who is alive has the lease."""
        with self._explained():
            return leases.held(self._quick, name, now)

    async def renew(self, lease: Lease, now: float) -> None:
        await self.write(lambda db: leases.renew(db, lease, now, self.term_s))

    def verify(self, lease: Lease) -> None:
        """Raise LeaseLost where somebody else owns it now."""
        with self._explained():
            leases.verify(self._quick, lease)

    async def release(self, lease: Lease) -> None:
        await self.write(lambda db: leases.release(db, lease))

    async def request_cancel(self, run_id: str) -> None:
        """Ask the run's owner to end it, who sees it within a second. Once the run has ended the wish is fulfilled."""
        await self.write(lambda db: db.execute("UPDATE runs SET cancel = 1 WHERE id = ?", (run_id,)))

    def cancel_requested(self, run_id: str) -> bool:
        return bool(self.read("SELECT cancel FROM runs WHERE id = ?", (run_id,))[0][0])


def _transaction(db: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    db.execute("BEGIN IMMEDIATE")
    try:
        result = work(db)
        db.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # the first error is the one to tell
            db.execute("ROLLBACK")
        raise
    return result


def _append(
    run_id: str,
    lease: Lease,
    events: Sequence[Event],
    state: str | None,
    progress: Progress | None,
    db: sqlite3.Connection,
) -> None:
    _insert(db, run_id, events, state, lease)
    if progress is not None:
        ended = progress.status not in (Status.RUNNING, Status.WAITING)
        db.execute(
            "UPDATE runs SET status = ?, stop_reason = ?, question = ?, updated = ?, cancel = cancel * ?, "
            "limits = coalesce(?, limits) WHERE id = ?",
            (
                *(progress.status, progress.stop_reason, progress.question, events[-1].at, not ended),
                *(None if progress.limits is None else json.dumps(dict(progress.limits)), run_id),
            ),
        )


def _insert(db: sqlite3.Connection, run_id: str, events: Sequence[Event], state: str | None, lease: Lease) -> None:
    """Each event is written only while the lease holds: one statement does both, for it is what every step costs."""
    try:
        for event in events:
            values = (run_id, event.seq, event.kind, event.at, to_json(event.data), lease.name, lease.epoch)
            if not db.execute(INSERT_EVENT, values).rowcount:
                leases.verify(db, lease)
    except sqlite3.IntegrityError as error:
        raise LeaseLost(
            f"run {run_id} was continued by somebody else: event {events[0].seq} is already there"
        ) from error
    if state is not None:
        db.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", (run_id, events[-1].seq, state))


def _row(found: Sequence[Any]) -> RunRow:
    row = RunRow(*found)
    context, limits, pins = (json.loads(found[at]) for at in (7, 8, 9))
    return replace(row, context=context, limits=limits, pins=pins, cancel=bool(row.cancel))


def _like(text: str) -> str:
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")
