"""The pages that were visited, as they were read, with what their sites are asked to confirm them by."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import ToolError
from gateway.tools.fulltext import database, transaction
from gateway.tools.research.freshness import Validators

MAX_BYTES = 64_000_000  # of all pages together, compressed
MAX_PAGE_BYTES = 4_000_000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS visited (
    url TEXT PRIMARY KEY, source TEXT NOT NULL, etag TEXT NOT NULL, modified TEXT NOT NULL,
    fetched_at REAL NOT NULL, fresh_until REAL NOT NULL, used_at REAL NOT NULL, document BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS visited_by_use ON visited(used_at);
"""


@dataclass(frozen=True)
class Entry:
    """A page that was asked for as `url`, and came from `source`. Times are seconds since 1970; `document` is an
    Extracted as JSON."""

    url: str
    source: str
    validators: Validators
    fetched_at: float
    fresh_until: float
    document: bytes


class VisitedPages:
    """Kept in a database of its own. A cache that cannot be used is no reason not to visit a page: where it is locked,
    or the disk is full, nothing is found or kept; where it is damaged, it is made anew."""

    def __init__(self, path: Path, max_bytes: int = MAX_BYTES) -> None:
        self._path = path
        self._max_bytes = max_bytes

    def find(self, urls: Iterable[str]) -> dict[str, Entry]:
        found: dict[str, Entry] = {}
        query = "SELECT source, etag, modified, fetched_at, fresh_until, document FROM visited WHERE url = ?"
        try:
            with database(self._path, _SCHEMA) as connection:
                for url in urls:
                    if row := connection.execute(query, (url,)).fetchone():
                        source, etag, modified, fetched_at, fresh_until, document = row
                        said = Validators(etag, modified)
                        found[url] = Entry(url, source, said, fetched_at, fresh_until, zlib.decompress(document))
        except (ToolError, zlib.error) as error:
            self._mend(error)
            return {}
        return found

    def keep(self, entries: Sequence[Entry], gone: Sequence[str] = (), *, now: float) -> None:
        """Put these in the place of what was there, forget what is `gone`, and the least recently used beyond the
        bound."""
        rows = [
            (*(each.url, each.source, each.validators.etag, each.validators.modified), each.fetched_at,
             each.fresh_until, now, document)
            for each in entries
            if len(document := zlib.compress(each.document, 3)) <= MAX_PAGE_BYTES
        ]  # fmt: skip
        try:
            with database(self._path, _SCHEMA) as connection, transaction(connection):
                connection.executemany("DELETE FROM visited WHERE url = ?", [(url,) for url in gone])
                connection.executemany("INSERT OR REPLACE INTO visited VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
                self._shrink(connection)
        except ToolError as error:
            self._mend(error)

    def _shrink(self, connection: sqlite3.Connection) -> None:
        size = connection.execute("SELECT coalesce(sum(length(document)), 0) FROM visited").fetchone()[0]
        if size <= self._max_bytes:
            return
        oldest = connection.execute("SELECT url, length(document) FROM visited ORDER BY used_at, fetched_at").fetchall()
        for url, length in oldest:
            connection.execute("DELETE FROM visited WHERE url = ?", (url,))
            size -= length
            if size <= self._max_bytes:
                return

    def _mend(self, error: Exception) -> None:
        cause = error.__cause__
        if isinstance(cause, sqlite3.DatabaseError) and not isinstance(cause, sqlite3.OperationalError):
            for suffix in ("", "-wal", "-shm"):
                with suppress(OSError):
                    self._path.with_name(self._path.name + suffix).unlink()
