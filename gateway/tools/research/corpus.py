"""A folder of documents that can be searched: indexed once, kept up to date by modification time and size."""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import OutsideWorkspace, ToolError
from gateway.tools.fulltext import database, transaction
from gateway.tools.research.index import add, forget, prepare
from gateway.tools.research.pages import SUFFIXES, Page, is_html, is_pdf, read_document
from gateway.tools.research.quoting import Quote, quotes_of
from gateway.tools.research.ranking import ranked
from gateway.tools.workspace import Workspace, sha256

MAX_FILE_BYTES = 8 << 20
MAX_PDF_BYTES = 64 << 20  # most of it is pictures and fonts
_BATCH = 25  # pages in one transaction: a killed indexing loses at most these,
_BATCH_S = 2.0  # or the work of so many seconds
_NOISE = re.compile(r"genindex.*|.*modindex|.*-index|search|contents|index|changelog|copyright|license|download")
_NOISE_FOLDERS = frozenset({"whatsnew", "node_modules"})

Progress = Callable[[int, int], None]
Stamp = tuple[int, int]  # modification time in ns, size in bytes


@dataclass(frozen=True)
class _Document:
    """What was read of a file; `problem` says why there is nothing to index in it."""

    path: str
    stamp: Stamp
    page: Page
    letters: str = ""
    problem: str = ""


NO_DOCUMENTS = "put HTML, Markdown, text or PDF files there, or name another folder with research.corpus_dir"


class Corpus:
    """The documents below `root`, and their index in a database of its own in `index_dir`.

    A document that cannot be read stops no other: `unread` says of each why, after `update`. Links are followed as long
    as they stay inside.
    """

    def __init__(self, root: Path, index_dir: Path) -> None:
        self._root = Path(os.path.realpath(root))
        if not self._root.is_dir():
            raise ToolError(f"the corpus {root} is not a folder", hint="set research.corpus_dir to one with documents")
        self._database = index_dir / f"{sha256(str(self._root).encode())[:16]}.db"
        self._files = Workspace(self._root)
        self.unread: dict[str, str] = {}

    def update(self, progress: Progress | None = None) -> int:
        """Index what is new or has changed, and forget what is gone. `progress(done, total)` counts pages.

        Returns how many documents were read. May be interrupted and run by several processes at once.
        """
        self.unread = {}
        found = dict(self._found())
        with self._open() as connection:
            known = {
                path: (at, size) for path, at, size in connection.execute("SELECT path, modified_ns, size FROM pages")
            }
            stale = sorted(path for path, stamp in found.items() if known.get(path) != stamp)
            _forget_all(connection, [path for path in known if path not in found])
            done = 0
            for batch in self._batches(stale, found):
                with transaction(connection):
                    for each in batch:
                        _keep(connection, each)
                done += len(batch)
                if progress:
                    progress(done, len(stale))
            self.unread |= dict(connection.execute("SELECT path, problem FROM pages WHERE problem != ''"))
        return done

    def has_documents(self) -> bool:
        """Whether there are any, readable or not; nothing is indexed."""
        return next(self._found(), None) is not None

    def search(self, query: str) -> list[Quote]:
        """At most 4 quotes from at most 3 pages, the best first; each stands in its page letter for letter. ToolError
        where no document can be read."""
        with self._open() as connection:
            if not connection.execute("SELECT 1 FROM pages WHERE problem = '' LIMIT 1").fetchone():
                why = "; ".join(f"{path}: {problem}" for path, problem in sorted(self.unread.items())[:3])
                said = f"none of the documents in {self._root} can be read: {why}" if why else ""
                raise ToolError(said or f"there are no documents in {self._root}", hint=NO_DOCUMENTS)
            return quotes_of(connection, ranked(connection, query))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with database(self._database, "") as connection:
            prepare(connection)
            yield connection

    def _found(self) -> Iterator[tuple[str, Stamp]]:
        def told(error: OSError) -> None:
            if not isinstance(error, FileNotFoundError):
                self.unread[os.path.relpath(error.filename, self._root)] = error.strerror or str(error)

        for folder, folders, names in os.walk(self._root, onerror=told):
            folders[:] = [each for each in folders if each[0] not in "._" and each not in _NOISE_FOLDERS]
            for name in names:
                stem, suffix = os.path.splitext(name)
                if suffix.lower() not in SUFFIXES or (is_html(name) and _NOISE.fullmatch(stem)):
                    continue
                full = os.path.join(folder, name)
                path = os.path.relpath(full, self._root)
                try:
                    status = os.stat(full)
                    path.encode()
                except OSError:
                    continue  # a link to nowhere, or gone in the meantime
                except UnicodeEncodeError:
                    self.unread[os.fsencode(path).decode("utf-8", "replace")] = "its name is not UTF-8"
                    continue
                if stat.S_ISREG(status.st_mode) and self._is_inside(full):
                    yield path, (status.st_mtime_ns, status.st_size)

    def _is_inside(self, full: str) -> bool:
        return not os.path.islink(full) or Path(os.path.realpath(full)).is_relative_to(self._root)

    def _batches(self, stale: list[str], found: dict[str, Stamp]) -> Iterator[list[_Document]]:
        """The documents, read outside of any transaction: a slow one must not lock the index."""
        batch: list[_Document] = []
        began = time.monotonic()
        for path in stale:
            document = self._document(path, found[path])
            if document is not None:
                batch.append(document)
            if len(batch) == _BATCH or (batch and time.monotonic() - began > _BATCH_S):
                yield batch
                batch, began = [], time.monotonic()
        if batch:
            yield batch

    def _document(self, path: str, stamp: Stamp) -> _Document | None:
        """What the file says; None where it is gone, leads out of the corpus, or may be readable at another time."""
        limit = MAX_PDF_BYTES if is_pdf(path) else MAX_FILE_BYTES
        if stamp[1] > limit:
            return _Document(path, stamp, Page(), problem=f"larger than {limit >> 20} MB")
        try:
            data = self._files.read(path, limit)
        except OutsideWorkspace:  # it was made a link in the meantime
            return None
        except ToolError as error:
            if os.path.lexists(self._root / path):
                self.unread[path] = str(error)
            return None
        try:
            return _Document(path, stamp, *read_document(path, data))
        except ToolError as error:
            return _Document(path, stamp, Page(), problem=str(error))


def _keep(connection: sqlite3.Connection, new: _Document) -> None:
    same = "SELECT 1 FROM pages WHERE path = ? AND modified_ns = ? AND size = ?"
    if not connection.execute(same, (new.path, *new.stamp)).fetchone():  # else another process was faster
        add(connection, new.path, new.page, new.letters, stamp=new.stamp, problem=new.problem)


def _forget_all(connection: sqlite3.Connection, gone: list[str]) -> None:
    if gone:
        with transaction(connection):
            for path in gone:
                forget(connection, path)
