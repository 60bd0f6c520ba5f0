"""A folder of documents that can be searched: indexed once, kept up to date by modification time and size."""

from __future__ import annotations

import math
import os
import re
import sqlite3
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path, PurePath

from gateway.errors import ToolError
from gateway.tools.fulltext import TOKENIZE, any_of, database, terms, transaction
from gateway.tools.research.pages import HTML_SUFFIXES, SUFFIXES, Block, Passage, letters, read_page, squeezed
from gateway.tools.stopwords import OF_THE_TASK
from gateway.tools.workspace import sha256

MAX_PAGES = 3  # that one search quotes from
MAX_PASSAGES = 4
MAX_QUOTE = 600  # characters of one quote
MAX_FILE_BYTES = 8 << 20
_BATCH = 25  # pages in one transaction: a killed indexing loses at most these
_CANDIDATES = 80
_NOISE = re.compile(r"genindex.*|.*modindex|.*-index|search|contents|index|changelog|copyright|license|download")
_NOISE_FOLDERS = frozenset({"whatsnew", "node_modules"})
GAP = "[…]"  # stands in a quote for what is left out
_NEXT, _CODE = "\x1e", "\x1d"  # between blocks, before a code block: no letters to the tokenizer
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS pages (
    path TEXT PRIMARY KEY, modified_ns INTEGER NOT NULL, size INTEGER NOT NULL, title TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS passages (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL, anchor TEXT NOT NULL,
    title TEXT NOT NULL, section TEXT NOT NULL, heading TEXT NOT NULL, words TEXT NOT NULL, text TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS passages_by_path ON passages(path);
CREATE VIRTUAL TABLE IF NOT EXISTS passages_text USING fts5(
    title, section, heading, words, text, content='passages', content_rowid='id', tokenize='{TOKENIZE}'
);
CREATE TRIGGER IF NOT EXISTS passage_added AFTER INSERT ON passages BEGIN
    INSERT INTO passages_text(rowid, title, section, heading, words, text)
    VALUES (new.id, new.title, new.section, new.heading, new.words, new.text);
END;
CREATE TRIGGER IF NOT EXISTS passage_removed AFTER DELETE ON passages BEGIN
    INSERT INTO passages_text(passages_text, rowid, title, section, heading, words, text)
    VALUES ('delete', old.id, old.title, old.section, old.heading, old.words, old.text);
END;
"""
_WEIGHTS = "3.0, 5.0, 4.0, 3.0, 2.0"  # title, section, heading, words of the path, text
_COLUMNS = "p.id, p.path, p.anchor, p.title, p.section, p.heading, p.text"
_WHOLE = 400  # characters from which on a passage counts as an explanation, not as a mere mention

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Quote:
    """`text` is blocks of the page, letter for letter, with a blank line between them; `code` is the first of them that
    is a code example, or empty. `source` is the page's path in the corpus and the anchor."""

    title: str
    source: str
    heading: str
    text: str
    code: str = ""


@dataclass(frozen=True)
class _Row:
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


class Corpus:
    """The documents below `root`, and their index in a database of its own in `index_dir`."""

    def __init__(self, root: Path, index_dir: Path) -> None:
        self._root = Path(os.path.realpath(root))
        if not self._root.is_dir():
            raise ToolError(f"the corpus {root} is not a folder", hint="set research.corpus_dir to one with documents")
        self._database = index_dir / f"{sha256(str(self._root).encode())[:16]}.db"

    def update(self, progress: Progress | None = None) -> int:
        """Index what is new or has changed, and forget what is gone. `progress(done, total)` counts pages.

        Returns how many pages were indexed. May be interrupted and run by several processes at once.
        """
        found = dict(self._files())
        with database(self._database, _SCHEMA) as connection:
            known = {path: (at, size) for path, at, size, _ in connection.execute("SELECT * FROM pages")}
            stale = sorted(path for path, stamp in found.items() if known.get(path) != stamp)
            if gone := [path for path in known if path not in found]:
                with transaction(connection):
                    for path in gone:
                        _forget(connection, path)
            for start in range(0, len(stale), _BATCH):
                batch = stale[start : start + _BATCH]
                with transaction(connection):
                    for path in batch:
                        self._index(connection, path, found[path])
                if progress:
                    progress(start + len(batch), len(stale))
        return len(stale)

    def search(self, query: str) -> list[Quote]:
        """At most 4 quotes from at most 3 pages, the best first; each stands in its page letter for letter."""
        words = terms(query)
        words = [each for each in words if each not in OF_THE_TASK] or words
        if not words:
            return []
        with database(self._database, _SCHEMA) as connection:
            rows = _ranked(connection, words)
            return self._quotes(connection, rows)

    def _files(self) -> Iterator[tuple[str, tuple[int, int]]]:
        for folder, folders, names in os.walk(self._root):
            folders[:] = [each for each in folders if each[0] not in "._" and each not in _NOISE_FOLDERS]
            for name in names:
                stem, suffix = os.path.splitext(name)
                if suffix.lower() not in SUFFIXES or (suffix.lower() in HTML_SUFFIXES and _NOISE.fullmatch(stem)):
                    continue
                full = os.path.join(folder, name)
                try:
                    status = os.stat(full)
                except OSError:
                    continue  # a link to nowhere, or gone in the meantime
                if stat.S_ISREG(status.st_mode) and status.st_size <= MAX_FILE_BYTES:
                    yield os.path.relpath(full, self._root), (status.st_mtime_ns, status.st_size)

    def _index(self, connection: sqlite3.Connection, path: str, stamp: tuple[int, int]) -> None:
        same = "SELECT 1 FROM pages WHERE path = ? AND modified_ns = ? AND size = ?"
        if connection.execute(same, (path, *stamp)).fetchone():
            return  # another process was faster
        page = read_page(path, self._read(path))
        _forget(connection, path)
        connection.execute("INSERT INTO pages VALUES (?, ?, ?, ?)", (path, *stamp, page.title))
        connection.executemany(
            "INSERT INTO passages (path, anchor, title, section, heading, words, text) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [_columns(path, page.title, each) for each in page.passages],
        )

    def _read(self, path: str) -> str:
        try:
            return (self._root / path).read_text("utf-8", "replace")
        except OSError as error:
            raise ToolError(f"{path} of the corpus cannot be read: {error.strerror}") from error

    def _quotes(self, connection: sqlite3.Connection, rows: list[_Row]) -> list[Quote]:
        quotes: list[Quote] = []
        told: set[tuple[str, str]] = set()
        pages: dict[str, str] = {}
        for row in rows:
            if row.place in told or (row.path not in pages and len(pages) == MAX_PAGES):
                continue
            if row.path not in pages:
                pages[row.path] = letters(row.path, self._read(row.path))
            found, used = _passage_quotes(row, _following(connection, row))
            told.update(each.place for each in used)
            for each in found:
                text = _as_it_stands(each.text, pages[row.path])
                if text is not None and text not in (known.text for known in quotes):
                    quotes.append(replace(each, text=text))
            if len(quotes) >= MAX_PASSAGES:
                break
        return quotes[:MAX_PASSAGES]


def _forget(connection: sqlite3.Connection, path: str) -> None:
    connection.execute("DELETE FROM passages WHERE path = ?", (path,))
    connection.execute("DELETE FROM pages WHERE path = ?", (path,))


def _stored(passage: Passage) -> str:
    return _NEXT.join((_CODE if each.code else "") + each.text for each in passage.blocks)


def _columns(path: str, title: str, passage: Passage) -> tuple[str, ...]:
    """Path, anchor, title, section, heading, words, text. Section and heading are empty where they only repeat the
    page's title, which would count it twice."""
    section = "" if passage.section == title else passage.section
    heading = "" if passage.heading == title else passage.heading
    return path, passage.anchor, title, section, heading, _words(path, f"{section} {heading}"), _stored(passage)


def _words(path: str, headings: str) -> str:
    """The words of the path, and what hyphens and capitals hide from the tokenizer: `sub-commands` is found as
    `subcommands`, `TaskGroup` as `task group`."""
    joined = [each.replace("-", "") for each in re.findall(r"\w+-\w+", headings)]
    humps = re.findall(r"\b[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+\b", headings)
    split = [re.sub(r"(?<!^)(?=[A-Z])", " ", each) for each in humps]
    return " ".join([*PurePath(path).with_suffix("").parts, *joined, *split])


def _ranked(connection: sqlite3.Connection, words: list[str]) -> list[_Row]:
    """Passages by BM25, weighed by how many of the words, the rare ones above all, they have; each once, from where the
    text under its heading begins, if it begins to speak of the matter there."""
    total = connection.execute("SELECT count(*) FROM passages").fetchone()[0]
    weight: dict[str, float] = {}
    having: dict[str, set[int]] = {}
    for word in words:
        found = connection.execute("SELECT rowid FROM passages_text WHERE passages_text MATCH ?", (f'"{word}"',))
        having[word] = {row[0] for row in found}
        if having[word]:
            weight[word] = math.log(1 + total / len(having[word]))

    def covered(row: _Row) -> float:
        return sum(each for word, each in weight.items() if row.id in having[word]) / (sum(weight.values()) or 1)

    rows = connection.execute(
        f"SELECT {_COLUMNS}, bm25(passages_text, {_WEIGHTS}) AS score FROM passages_text "
        "JOIN passages AS p ON p.id = passages_text.rowid WHERE passages_text MATCH ? ORDER BY score LIMIT ?",
        (any_of([*words, *(first + second for first, second in pairwise(words))]), _CANDIDATES),
    ).fetchall()
    scored = []
    for *values, bm25 in rows:
        row = _Row(*values)
        scored.append((-bm25 * covered(row) ** 2 * min(1.0, len(row.text) / _WHOLE) ** 0.5, -row.id, row))
    ranked = []
    for _, _, row in sorted(scored, reverse=True, key=lambda each: each[:2]):
        section, heading = _beginnings(connection, row)
        if row.section and covered(section) >= covered(row):
            row = section
        elif covered(heading) >= 0.8 * covered(row):
            row = heading
        ranked.append(row)
    return ranked


def _beginnings(connection: sqlite3.Connection, row: _Row) -> tuple[_Row, _Row]:
    """The first passage of the row's section, and the first under its heading."""
    query = f"SELECT {_COLUMNS} FROM passages AS p WHERE path = ? AND {{}} = ? ORDER BY id LIMIT 1"
    section = connection.execute(query.format("section"), (row.path, row.section)).fetchone()
    heading = connection.execute(query.format("anchor"), row.place).fetchone()
    return _Row(*section), _Row(*heading)


def _following(connection: sqlite3.Connection, row: _Row) -> list[_Row]:
    """The passages after it that belong to it: those of its section, or with its signature if it has one."""
    same = "section" if row.heading == row.section else "anchor"
    query = f"SELECT {_COLUMNS} FROM passages AS p WHERE path = ? AND {same} = ? AND id > ? ORDER BY id LIMIT 12"
    return [_Row(*each) for each in connection.execute(query, (row.path, getattr(row, same), row.id))]


def _passage_quotes(row: _Row, following: list[_Row]) -> tuple[list[Quote], list[_Row]]:
    """What the passage says, continued while there is room, and the first example after it; and the passages that were
    used."""
    passages = [row, *following]
    chosen = _fitting([each for passage in passages for each in passage.blocks])
    quotes = [_quote(row, chosen)]
    used, left = [row], len(chosen) - len(row.blocks)
    for passage in following:
        if left > 0:
            used.append(passage)
            left -= len(passage.blocks)
    if quotes[0].code:
        return quotes, used
    for passage in following:
        code = next((i for i, each in enumerate(passage.blocks) if each.code), None)
        if code is not None:
            introduced = code > 0 and passage.blocks[code - 1].text.endswith(":")
            quotes.append(_quote(passage, _fitting(passage.blocks[code - introduced :])))
            return quotes, [*used, passage]
    return quotes, used


def _fitting(blocks: list[Block]) -> list[Block]:
    """The first blocks that fit a quote; the first is cut at the end of a sentence or line if it does not."""
    chosen: list[Block] = []
    room = MAX_QUOTE
    for block in blocks:
        if len(block.text) > room:
            if not chosen or room > MAX_QUOTE // 3:
                chosen.append(_cut(block, room))
            break
        chosen.append(block)
        room -= len(block.text) + 2
    while len(chosen) > 1 and chosen[-1].text.endswith(":") and not chosen[-1].code:
        chosen.pop()  # it introduces what is not quoted
    return chosen


def _cut(block: Block, room: int) -> Block:
    text = block.text[:room]
    end = text.rfind("\n") if block.code else max(text.rfind(". ") + 1, text.rfind(".\n") + 1)
    if end < room // 3:
        end = text.rfind(" ")
    return Block(text[: end if end > 0 else room].rstrip(), block.code)


def _quote(row: _Row, blocks: list[Block]) -> Quote:
    source = f"{row.path}#{row.anchor}" if row.anchor else row.path
    code = next((each.text for each in blocks if each.code), "")
    return Quote(row.title, source, row.heading or row.title, "\n\n".join(each.text for each in blocks), code)


def _as_it_stands(quote: str, page: str) -> str | None:
    """The quote with `[…]` where the page has more between two blocks, such as a note on versions; None where they do
    not stand in the page, letter for letter and in this order."""
    said: list[str] = []
    at = 0
    for block in quote.split("\n\n"):
        wanted = squeezed(block)
        found = page.find(wanted, at)
        if found < 0:
            return None
        left_out = re.sub(r"[`~]{3,}\w*|\W", "", page[at:found])  # a fence, or a list's marks, are not
        said += [GAP, block] if said and left_out else [block]
        at = found + len(wanted)
    return "\n\n".join(said)
