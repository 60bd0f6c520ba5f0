"""Sessions as the store has them: listed, titled, and forgotten with everything that only they have."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from gateway.engine.artifacts import ArtifactStore
from gateway.engine.store import Store
from gateway.errors import RunBusy, RunNotFound

_SCHEMA = "CREATE TABLE IF NOT EXISTS sessions (name TEXT PRIMARY KEY, title TEXT NOT NULL)"
_SHA256 = re.compile(r"\b[0-9a-f]{64}\b")
_TEXTS = (
    ("SELECT context || pins FROM runs WHERE id {within}"),
    ("SELECT data FROM events WHERE run_id {within}"),
    ("SELECT state FROM snapshots WHERE run_id {within}"),
)
# A session's runs, and those that their calls began
_WITHIN = """(WITH RECURSIVE mine (id) AS (
  SELECT id FROM runs WHERE session = :session UNION SELECT runs.id FROM runs JOIN mine ON runs.parent = mine.id)
  SELECT id FROM mine)"""


@dataclass(frozen=True)
class SessionRow:
    """A session: `title` is what a person called it, else its first request. Times in seconds since the epoch."""

    name: str
    title: str
    turns: int
    status: str
    created: float
    updated: float


def sessions(store: Store) -> list[SessionRow]:
    """Every session, the one that was used last first."""
    titles = dict(store.read("SELECT name, title FROM sessions")) if _has_titles(store) else {}
    found = store.read(
        "SELECT session, count(*), min(created), max(updated), "
        "(SELECT title FROM runs AS r WHERE r.session = runs.session ORDER BY ordinal LIMIT 1), "
        "(SELECT status FROM runs AS r WHERE r.session = runs.session ORDER BY ordinal DESC LIMIT 1) "
        "FROM runs WHERE session IS NOT NULL GROUP BY session ORDER BY max(updated) DESC, session"
    )
    return [
        SessionRow(name, titles.get(name, first), turns, status, created, updated)
        for name, turns, created, updated, first, status in found
    ]


async def entitle(store: Store, session: str, title: str) -> None:
    """Call a session by a title. Raises RunNotFound."""
    store.at(session)

    def work(db: sqlite3.Connection) -> None:
        db.execute(_SCHEMA)
        db.execute("INSERT OR REPLACE INTO sessions VALUES (?, ?)", (session, title))

    await store.write(work)


async def forget(store: Store, artifacts: ArtifactStore, session: str, now: float) -> int:
    """Remove a session's runs, events and snapshots, and the artifacts that no other run names; how many runs.

    What is deleted is overwritten in the database, too. Raises RunNotFound, and RunBusy while a run is worked on.
    """
    ids = [row[0] for row in store.read(f"SELECT id FROM runs WHERE id IN {_WITHIN}", {"session": session})]
    if not ids:
        raise RunNotFound(f"there is no session {session!r}", hint="`echelon sessions list` shows what there is")
    busy = [run_id for run_id in ids if store.held(f"run:{run_id}", now)]
    if busy or store.held(f"session:{session}", now):
        raise RunBusy(f"session {session} is being worked on", hint="end that first: echelon runs cancel ID")
    mine = named(store, f"IN {_WITHIN}", session)

    def work(db: sqlite3.Connection) -> None:
        db.execute("PRAGMA secure_delete = ON")
        within = f"IN {_WITHIN}"
        for table in ("events", "snapshots", "signals", "erased"):
            db.execute(f"DELETE FROM {table} WHERE run_id {within}", {"session": session})
        db.execute(f"DELETE FROM runs WHERE id {within}", {"session": session})
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'sessions'").fetchone():
            db.execute("DELETE FROM sessions WHERE name = ?", (session,))

    await store.write(work, durable=True)
    await store.compact()
    for sha256 in mine - named(store, f"NOT IN {_WITHIN}", session):  # asked last: others may have begun meanwhile
        artifacts.remove(sha256)
    return len(ids)


def named(store: Store, within: str = "IS NOT NULL", session: str = "") -> set[str]:
    """The artifacts that some runs name, anywhere: all of the runs, unless told `within` which."""
    found: set[str] = set()
    for query in _TEXTS:
        rows: Iterable[tuple[str]] = store.read(query.format(within=within), {"session": session})
        for (text,) in rows:
            found.update(_SHA256.findall(text))
    return found


def _has_titles(store: Store) -> bool:
    return bool(store.read("SELECT 1 FROM sqlite_master WHERE name = 'sessions'"))
