"""Which conversation is where, kept over restarts: digests of conversations, and requests that are under way.

It holds digests, names and numbers, and nothing that was said: a session that is forgotten leaves no text here.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.engine.wal import write_ahead
from gateway.errors import StoreError

BUSY_S = 5.0
KEPT_S = 24 * 3600.0  # which run a request was, for one that repeats it
SCHEMA = """
CREATE TABLE IF NOT EXISTS conversations (
  digest TEXT PRIMARY KEY, session TEXT NOT NULL, turn INTEGER NOT NULL, seq INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS requests (
  name TEXT PRIMARY KEY, identity TEXT NOT NULL, run_id TEXT NOT NULL, question INTEGER NOT NULL, before TEXT NOT NULL,
  ended REAL) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class Position:
    """Where a conversation stands: a session's turn, and the number of its last event. A question that has been
    answered since, or a turn that came since, is another position."""

    session: str
    turn: int
    seq: int


@dataclass(frozen=True)
class Begun:
    """A request that became a run, or the answer to one.

    `question` is the number of the last event before the question that it answers, 0 where it answers none; `before`
    what the run had spent by then; `ended` when it had its reply, in seconds since the epoch, None while it has none.
    """

    identity: str
    run_id: str
    question: int
    before: Mapping[str, float]
    ended: float | None = None


class Chats:
    """The file `chats.db` of one home. Raises StoreError where it cannot be used."""

    def __init__(self, path: Path, now: float) -> None:
        self._path = path
        with self._explained():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
            write_ahead(self._db, BUSY_S)
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.executescript(SCHEMA)
            self._db.execute("DELETE FROM requests WHERE ended < ?", (now - KEPT_S,))

    def close(self) -> None:
        self._db.close()

    def position(self, digest: str) -> Position | None:
        """Where the conversation with this digest stood; None for an unknown one."""
        found = self._read("SELECT session, turn, seq FROM conversations WHERE digest = ?", digest)
        return Position(*found) if found else None

    def remember(self, digest: str, position: Position) -> None:
        self._write(
            "INSERT OR REPLACE INTO conversations VALUES (?, ?, ?, ?)",
            (digest, position.session, position.turn, position.seq),
        )

    def request(self, name: str) -> Begun | None:
        """A request by its identity, or by its Idempotency-Key."""
        found = self._read("SELECT identity, run_id, question, before, ended FROM requests WHERE name = ?", name)
        if found is None:
            return None
        identity, run_id, question, before, ended = found
        return Begun(identity, run_id, question, json.loads(before), ended)

    def begin(self, name: str, begun: Begun) -> None:
        self._write(
            "INSERT OR REPLACE INTO requests VALUES (?, ?, ?, ?, ?, NULL)",
            (name, begun.identity, begun.run_id, begun.question, json.dumps(dict(begun.before))),
        )

    def end(self, name: str, now: float) -> None:
        """The request has its reply."""
        self._write("UPDATE requests SET ended = ? WHERE name = ?", (now, name))

    def _read(self, sql: str, name: str) -> tuple[Any, ...] | None:
        with self._explained():
            found: tuple[Any, ...] | None = self._db.execute(sql, (name,)).fetchone()
        return found

    def _write(self, sql: str, values: tuple[Any, ...]) -> None:
        with self._explained():
            self._db.execute(sql, values)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"{self._path} cannot be used: {error}",
                hint="it may be damaged: moved away, a new one is made, and conversations begin new sessions",
            ) from error
