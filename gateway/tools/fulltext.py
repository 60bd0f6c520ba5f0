"""SQLite full-text search, as the memory and the corpus use it: connections, queries in anyone's words, errors."""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gateway.engine.wal import write_ahead
from gateway.errors import ToolError
from gateway.tools.stopwords import STOP_WORDS

TOKENIZE = "porter unicode61"
BUSY_S = 10.0  # how long to wait for another process's write
MAX_TERMS = 16
_WORD = re.compile(r"[^\W_]+")


@contextmanager
def database(path: Path, schema: str) -> Iterator[sqlite3.Connection]:
    """A connection in WAL mode with `schema` in place; commits nothing by itself. SQLite's errors become ToolErrors."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
        try:
            write_ahead(connection, BUSY_S)
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.executescript(schema)
            yield connection
        finally:
            connection.close()
    except sqlite3.OperationalError as error:
        raise _said(error, path) from error
    except sqlite3.DatabaseError as error:
        hint = f"move {path} away; it is made anew"
        raise ToolError(f"the database {path.name} is damaged: {error}", hint=hint) from error
    except OSError as error:
        raise ToolError(f"the database {path.name} cannot be opened: {error.strerror}", hint=f"check {path}") from error


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """The write lock from the beginning: what is read in it stays true until it is written."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def terms(query: str) -> list[str]:
    """The words of a query that are worth looking for, lower case, each once; all of them if all are common."""
    composed = unicodedata.normalize("NFC", query)  # a mark that stands by itself is no part of a word
    words = list(dict.fromkeys(each.lower() for each in _WORD.findall(composed)))
    telling = [each for each in words if each not in STOP_WORDS and len(each) > 1]
    return (telling or words)[:MAX_TERMS]


def any_of(words: list[str]) -> str:
    """An FTS5 expression that matches rows with any of the words."""
    return " OR ".join(f'"{each}"' for each in words)


def _said(error: sqlite3.OperationalError, path: Path) -> ToolError:
    text = str(error)
    if "locked" in text or "busy" in text:
        return ToolError(f"the database {path.name} is locked by another process", hint="end it, or try again")
    if "full" in text:
        return ToolError(f"the database {path.name} cannot grow: the disk is full", hint="free some space, resume")
    return ToolError(f"the database {path.name} cannot be used: {text}", hint=f"check {path}, or move it away")
