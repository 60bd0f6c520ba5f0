"""Passages in SQLite's full-text search, with the names that they define: what ranking and quoting read."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePath

from gateway.tools.fulltext import TOKENIZE, transaction
from gateway.tools.research.pages import Block, Page, Passage

VERSION = 2  # of the schema, and of what is written into it: an index of another version is made anew
SUFFIX_SHARE = 0.6  # what `dedent` counts as a name of what is called `textwrap.dedent`
_NEXT, _CODE = "\x1e", "\x1d"  # between blocks, before a code block: no letters to the tokenizer
_NAME = re.compile(r"(?<![\w-])--?[A-Za-z0-9][\w-]*|\w+(?:\.\w+)*")
_TABLES = ("passages_text", "names", "passages", "pages")
_SCHEMA = (
    """CREATE TABLE pages (
        path TEXT PRIMARY KEY, modified_ns INTEGER NOT NULL, size INTEGER NOT NULL, date TEXT NOT NULL,
        letters TEXT NOT NULL, problem TEXT NOT NULL
    )""",
    """CREATE TABLE passages (
        id INTEGER PRIMARY KEY, path TEXT NOT NULL, anchor TEXT NOT NULL,
        title TEXT NOT NULL, section TEXT NOT NULL, heading TEXT NOT NULL, words TEXT NOT NULL, text TEXT NOT NULL
    )""",
    "CREATE INDEX passages_by_path ON passages(path)",
    "CREATE TABLE names (name TEXT NOT NULL, passage INTEGER NOT NULL, share REAL NOT NULL)",
    "CREATE INDEX names_by_name ON names(name)",
    "CREATE INDEX names_by_passage ON names(passage)",
    f"""CREATE VIRTUAL TABLE passages_text USING fts5(
        title, section, heading, words, text, content='passages', content_rowid='id', tokenize='{TOKENIZE}'
    )""",
    """CREATE TRIGGER passage_added AFTER INSERT ON passages BEGIN
        INSERT INTO passages_text(rowid, title, section, heading, words, text)
        VALUES (new.id, new.title, new.section, new.heading, new.words, new.text);
    END""",
    """CREATE TRIGGER passage_removed AFTER DELETE ON passages BEGIN
        INSERT INTO passages_text(passages_text, rowid, title, section, heading, words, text)
        VALUES ('delete', old.id, old.title, old.section, old.heading, old.words, old.text);
        DELETE FROM names WHERE passage = old.id;
    END""",
)
COLUMNS = "p.id, p.path, p.anchor, p.title, p.section, p.heading, p.text"


@dataclass(frozen=True)
class Row:
    """A passage of the index."""

    id: int
    path: str
    anchor: str
    title: str
    section: str
    heading: str
    text: str

    @property
    def place(self) -> tuple[str, str]:
        return self.path, self.anchor

    @property
    def blocks(self) -> list[Block]:
        return [Block(each.removeprefix(_CODE), each.startswith(_CODE)) for each in self.text.split(_NEXT)]


def prepare(connection: sqlite3.Connection) -> None:
    """Make the tables, in place of those of another version."""
    if _version(connection) == VERSION:
        return
    with transaction(connection):
        if _version(connection) == VERSION:
            return  # another process was faster
        for statement in (*(f"DROP TABLE IF EXISTS {each}" for each in _TABLES), *_SCHEMA):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")


def add(
    connection: sqlite3.Connection,
    path: str,
    page: Page,
    letters: str,
    *,
    stamp: tuple[int, int] = (0, 0),
    problem: str = "",
) -> None:
    """Put a page into the index, in place of what was there under its path. `letters` are all of its letters without
    white space, `stamp` its modification time in ns and its size, `problem` says why it has no passages."""
    forget(connection, path)
    connection.execute("INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?)", (path, *stamp, page.date, letters, problem))
    for each in page.passages:
        inserted = connection.execute(
            "INSERT INTO passages (path, anchor, title, section, heading, words, text) VALUES (?, ?, ?, ?, ?, ?, ?)",
            _values(path, page.title, each),
        )
        connection.executemany(
            "INSERT INTO names VALUES (?, ?, ?)",
            [(name, inserted.lastrowid, share) for name, share in _names(each.names).items()],
        )


def forget(connection: sqlite3.Connection, path: str) -> None:
    connection.execute("DELETE FROM passages WHERE path = ?", (path,))
    connection.execute("DELETE FROM pages WHERE path = ?", (path,))


def name_tokens(text: str) -> list[str]:
    """The parts of a name or a query that names are compared by: words, dotted names and options, in lower case."""
    return [each.lower() for each in _NAME.findall(text)]


def _version(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found


def _names(names: Iterable[str]) -> dict[str, float]:
    """Every form that names are looked for in, with what it counts: the whole one 1; of a heading such as `json — JSON
    encoder`, what stands before the dash; the ends of a dotted name less."""
    found: dict[str, float] = {}
    for name in chain.from_iterable((each, re.split(r" [—–|] |\(", each)[0]) for each in names):
        tokens = name_tokens(name)
        found[" ".join(tokens)] = 1.0
        if len(tokens) == 1:
            parts = tokens[0].split(".")
            for start in range(1, len(parts)):
                found.setdefault(".".join(parts[start:]), SUFFIX_SHARE)
    found.pop("", None)
    return found


def _values(path: str, title: str, passage: Passage) -> tuple[str, ...]:
    """Path, anchor, title, section, heading, words, text. Section and heading are empty where they only repeat the
    page's title, which would count it twice."""
    section = "" if passage.section == title else passage.section
    heading = "" if passage.heading == title else passage.heading
    text = _NEXT.join((_CODE if each.code else "") + each.text for each in passage.blocks)
    return path, passage.anchor, title, section, heading, _words(path, f"{section} {heading}"), text


def _words(path: str, headings: str) -> str:
    """The words of the path, and what hyphens and capitals hide from the tokenizer: `sub-commands` is found as
    `subcommands`, `TaskGroup` as `task group`."""
    joined = [each.replace("-", "") for each in re.findall(r"\w+-\w+", headings)]
    humps = re.findall(r"\b[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+\b", headings)
    split = [re.sub(r"(?<!^)(?=[A-Z])", " ", each) for each in humps]
    return " ".join([*PurePath(path).with_suffix("").parts, *joined, *split])
