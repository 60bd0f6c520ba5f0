"""SQLite's write-ahead log."""

from __future__ import annotations

import sqlite3
import time


def write_ahead(db: sqlite3.Connection, patience_s: float) -> None:
    """Switch it on, for good. Where several processes do so with a new database at once, SQLite refuses without the
    wait that its `timeout` asks for, since each holds what the others wait for; so it is asked again, for `patience_s`
    seconds. Raises sqlite3.OperationalError."""
    until = time.monotonic() + patience_s
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
        time.sleep(0.01)
