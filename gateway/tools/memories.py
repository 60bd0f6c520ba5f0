"""What is remembered in one home: `memory.db`, found by full text.

What is replaced or forgotten is overwritten in the file, in its index and in its write-ahead log. A text that was
forgotten stays on a list of its own until it has been erased from the journal, too (`pending`, `erased`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import ToolError
from gateway.tools.fulltext import TOKENIZE, any_of, database, terms, transaction

FILE = "memory.db"
VERSION = 1  # as `user_version`; 0 had no updates and no erasures
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS memories (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, text TEXT NOT NULL,
    session TEXT NOT NULL, turn INTEGER NOT NULL, saved_at REAL NOT NULL
);
CREATE VIRTUAL TABLE IF NOT EXISTS memories_text USING fts5(
    key, text, content='memories', content_rowid='id', tokenize='{TOKENIZE}'
);
CREATE TRIGGER IF NOT EXISTS memory_added AFTER INSERT ON memories BEGIN
    INSERT INTO memories_text(rowid, key, text) VALUES (new.id, new.key, new.text);
END;
CREATE TRIGGER IF NOT EXISTS memory_removed AFTER DELETE ON memories BEGIN
    INSERT INTO memories_text(memories_text, rowid, key, text) VALUES ('delete', old.id, old.key, old.text);
END;
"""
_CHANGES = (
    "ALTER TABLE memories ADD COLUMN updated_session TEXT",
    "ALTER TABLE memories ADD COLUMN updated_turn INTEGER",
    "ALTER TABLE memories ADD COLUMN updated_at REAL",
    """CREATE TRIGGER memory_changed AFTER UPDATE OF text ON memories BEGIN
    INSERT INTO memories_text(memories_text, rowid, key, text) VALUES ('delete', old.id, old.key, old.text);
    INSERT INTO memories_text(rowid, key, text) VALUES (new.id, new.key, new.text);
    END""",
    "CREATE TABLE erasures (id INTEGER PRIMARY KEY, key TEXT NOT NULL, text TEXT NOT NULL)",
    f"PRAGMA user_version = {VERSION}",
)
_COLUMNS = "m.key, m.text, m.session, m.turn, m.saved_at, m.updated_session, m.updated_turn, m.updated_at"


@dataclass(frozen=True)
class Memory:
    """Something remembered: where it was said first, and changed last. Times in seconds since the epoch."""

    key: str
    text: str
    session: str
    turn: int
    saved_at: float
    updated_session: str | None = None
    updated_turn: int | None = None
    updated_at: float | None = None


@dataclass(frozen=True)
class Erasure:
    """What was forgotten, and may still stand in the journal."""

    id: int
    key: str
    text: str


class Memories:
    """The memories of a home. Raises ToolError: damaged, locked, read-only, full disk, written by a newer version."""

    def __init__(self, home: Path) -> None:
        self.path = home / FILE

    def save(self, key: str | None, text: str, *, session: str, turn: int, now: float, otherwise: str) -> str:
        """Remember; the key that it has. A text that is there already is left as it is, where no key is given or it
        is the same one; what else is there under the key is replaced. `otherwise` is the key of a new text."""
        with self._open() as connection, transaction(connection):
            if key is None:
                same = connection.execute("SELECT key FROM memories WHERE text = ?", (text,)).fetchone()
                if same is not None:
                    return str(same[0])
                key = otherwise
            known = connection.execute("SELECT text FROM memories WHERE key = ?", (key,)).fetchone()
            if known != (text,):  # else its date stays that of the first time
                connection.execute("DELETE FROM memories WHERE key = ?", (key,))
                connection.execute(
                    "INSERT INTO memories (key, text, session, turn, saved_at) VALUES (?, ?, ?, ?, ?)",
                    (key, text, session, turn, now),
                )
                if known is not None:
                    _reindex(connection)
        return key

    def update(self, key: str, text: str, *, session: str, turn: int, now: float) -> None:
        """Put another text in the place of the one under this key; when and where it was first said stays."""
        with self._open() as connection, transaction(connection):
            known = connection.execute("SELECT text FROM memories WHERE key = ?", (key,)).fetchone()
            if known is None:
                raise unknown(key)
            if known != (text,):
                connection.execute(
                    "UPDATE memories SET text = ?, updated_session = ?, updated_turn = ?, updated_at = ? WHERE key = ?",
                    (text, session, turn, now, key),
                )
                _reindex(connection)

    def forget(self, key: str) -> Memory | None:
        """Remove what is under the key, and list its text for erasure; None where that was done before.

        Raises ToolError where nothing is, or was lately, under the key.
        """
        if not self.path.exists():
            raise unknown(key)
        with self._open() as connection, transaction(connection):
            row = connection.execute(f"SELECT {_COLUMNS} FROM memories AS m WHERE key = ?", (key,)).fetchone()
            if row is None:
                if connection.execute("SELECT 1 FROM erasures WHERE key = ?", (key,)).fetchone():
                    return None
                raise unknown(key)
            found = Memory(*row)
            connection.execute("INSERT INTO erasures (key, text) VALUES (?, ?)", (key, found.text))
            connection.execute("DELETE FROM memories WHERE key = ?", (key,))
            _reindex(connection)
        return found

    def search(self, query: str, *, session: str | None = None, limit: int) -> list[Memory]:
        """The best first: those that have any of the query's words, of one session or of all."""
        words = terms(query)
        if not words or not self.path.exists():
            return []
        with self._open() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM memories_text JOIN memories AS m ON m.id = memories_text.rowid "
                "WHERE memories_text MATCH ? AND (? IS NULL OR m.session = ?) "
                "ORDER BY bm25(memories_text), m.saved_at DESC, m.id DESC LIMIT ?",
                (any_of(words), session, session, limit),
            ).fetchall()
        return [Memory(*row) for row in rows]

    def all(self, *, session: str | None = None) -> list[Memory]:
        """Every memory, the newest first."""
        if not self.path.exists():
            return []
        with self._open() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM memories AS m WHERE ? IS NULL OR session = ? "
                "ORDER BY coalesce(updated_at, saved_at) DESC, id DESC",
                (session, session),
            ).fetchall()
        return [Memory(*row) for row in rows]

    def pending(self) -> list[Erasure]:
        """What was forgotten and is not erased everywhere yet."""
        if not self.path.exists():
            return []
        with self._open() as connection:
            return [Erasure(*row) for row in connection.execute("SELECT id, key, text FROM erasures ORDER BY id")]

    def erased(self, done: Sequence[Erasure]) -> None:
        """These stand nowhere else any more: now they go from here, too, and from what the file has kept of them."""
        with self._open() as connection:
            with transaction(connection):
                connection.executemany("DELETE FROM erasures WHERE id = ?", [(each.id,) for each in done])
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with database(self.path, _SCHEMA) as connection:
            connection.execute("PRAGMA secure_delete = ON")
            if _version(connection) < VERSION:
                with transaction(connection):
                    if _version(connection) < VERSION:  # nobody else was faster
                        for change in _CHANGES:
                            connection.execute(change)
            if _version(connection) > VERSION:
                raise ToolError(
                    f"the database {self.path.name} was written by a newer version", hint="use that, or move it away"
                )
            yield connection


def unknown(key: str) -> ToolError:
    return ToolError(
        f"nothing is remembered under the key {key!r}", hint="`echelon memory list` shows the keys that there are"
    )


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _reindex(connection: sqlite3.Connection) -> None:
    """Make the index anew: it would keep the words of a row that is gone, and a mark that they are."""
    connection.execute("INSERT INTO memories_text(memories_text) VALUES ('rebuild')")
