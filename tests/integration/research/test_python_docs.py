"""The corpus over the whole documentation of Python, as Debian's package python3-doc installs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.corpus import DOCS, FIRST, entries, pages, queries
from gateway.tools.research.corpus import Corpus

QUESTIONS = {
    "asyncio task groups": "library/asyncio-task.html",
    "I want a skill about asyncio task groups. Look it up in the docs first.": "library/asyncio-task.html",
    "sub-commands with argparse": "library/argparse.html",
    "default factories of dataclasses": "library/dataclasses.html",
    "Which function in Python's textwrap module removes common leading whitespace?": "library/textwrap.html",
    "Which exception does json.loads raise when the document is not valid JSON?": "library/json.html",
    "json errors": "library/json.html",
    "What does maxsize=None mean for functools.lru_cache?": "library/functools.html",
    "sqlite3 transactions": "library/sqlite3.html",
    "what heapq.nsmallest does": "library/heapq.html",
    "collections.defaultdict default_factory": "library/collections.html",
    "which function of shutil makes a zip archive of a folder": "library/shutil.html",
}


@pytest.mark.slow  # it indexes all pages; `make bench` does, too
@pytest.mark.skipif(not (DOCS / "objects.inv").exists(), reason="needs the Debian package python3-doc")
def test_the_right_pages_are_found(tmp_path: Path) -> None:
    corpus = Corpus(DOCS, tmp_path)
    corpus.update()
    first = {question: pages([each.source for each in corpus.search(question)])[0] for question in QUESTIONS}
    assert first == QUESTIONS
    asked = queries(DOCS, 100, seed=1)
    right = [entry.page in pages([each.source for each in corpus.search(query)])[:FIRST] for entry, query in asked]
    assert sum(right) >= 0.9 * len(asked)


def test_an_inventory_is_read(tmp_path: Path) -> None:
    import zlib

    lines = (
        "json.loads py:function 1 library/json.html#$ -\n"
        "a b std:label -1 guide.html#a-b The A and B\n"
        "python-grammar:digit std:token -1 lex.html#grammar-$ -\n"
    )
    file = tmp_path / "objects.inv"
    file.write_bytes(
        b"# Sphinx inventory version 2\n# Project: P\n# Version: 1\n# zlib\n" + zlib.compress(lines.encode())
    )
    found = list(entries(file))
    assert [each.page for each in found] == ["library/json.html", "guide.html", "lex.html"]
    assert [each.described for each in found] == ["function json.loads", "section The A and B", "grammar rule digit"]
