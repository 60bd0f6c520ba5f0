"""What visited pages say about a question: the corpus's ranking and quoting, on an index that lives in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from urllib.parse import urldefrag

from gateway.tools.research.index import COLUMNS, Row, add, prepare
from gateway.tools.research.quoting import Quote, quotes_of
from gateway.tools.research.ranking import ranked
from gateway.tools.research.visit import Visited


def select(question: str, visited: Sequence[Visited], *, anyway: bool = False) -> list[Quote]:
    """The passages that answer the question best, from at most 3 of the pages; of pages with the same text, from one.
    With `anyway` they are followed by how the pages begin: somebody wants these, whatever they say.

    `source` is the page's address, with the anchor where the passage has one. Pages without text are passed over.
    """
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        prepare(connection)
        for each in visited:
            if each.page is not None:
                page = replace(each.page, title=each.title or each.page.title, date=each.date or each.page.date)
                add(connection, urldefrag(each.source).url, page, each.letters)
        rows = ranked(connection, question)
        if anyway:
            rows += [Row(*each) for each in connection.execute(f"SELECT {COLUMNS} FROM passages AS p ORDER BY id")]
        return quotes_of(connection, rows)
