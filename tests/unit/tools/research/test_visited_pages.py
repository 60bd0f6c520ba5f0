"""The cache of visited pages: what it keeps, and how much."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from gateway.tools.research.freshness import Validators
from gateway.tools.research.visited import Entry, VisitedPages


def entry(name: str, size: int = 1000) -> Entry:
    return Entry(f"http://a/{name}", f"http://b/{name}", Validators('"1"', "Tue"), 1.0, 2.0, os.urandom(size))


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    one, two = entry("one"), entry("two")
    VisitedPages(tmp_path / "v.db").keep([one, two], now=5.0)
    assert VisitedPages(tmp_path / "v.db").find([one.url, "http://a/three"]) == {one.url: one}


def test_beyond_the_bound_what_was_used_last_stays(tmp_path: Path) -> None:
    pages = VisitedPages(tmp_path / "v.db", max_bytes=3500)
    entries = [entry(str(number)) for number in range(4)]
    for number, each in enumerate(entries[:3]):
        pages.keep([each], now=float(number))
    pages.keep([entries[0]], now=10.0)  # used again
    pages.keep([entries[3]], now=11.0)
    assert set(pages.find(each.url for each in entries)) == {entries[number].url for number in (0, 2, 3)}


def test_what_is_gone_is_forgotten(tmp_path: Path) -> None:
    pages = VisitedPages(tmp_path / "v.db")
    pages.keep([entry("one")], now=1.0)
    pages.keep([], [entry("one").url], now=2.0)
    assert pages.find([entry("one").url]) == {}


def test_a_page_that_is_too_big_is_not_kept(tmp_path: Path) -> None:
    pages = VisitedPages(tmp_path / "v.db")
    pages.keep([entry("big", 4_100_000), entry("small")], now=1.0)
    assert list(pages.find([entry("big").url, entry("small").url])) == [entry("small").url]


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    pages = VisitedPages(tmp_path / "file" / "v.db")
    pages.keep([entry("one")], now=1.0)
    assert pages.find([entry("one").url]) == {}


def test_a_damaged_cache_is_made_anew(tmp_path: Path) -> None:
    pages = VisitedPages(tmp_path / "v.db")
    (tmp_path / "v.db").write_bytes(b"no database " * 100)
    assert pages.find(["http://a/"]) == {}
    pages.keep([entry("one")], now=1.0)
    assert pages.find([entry("one").url])
    with sqlite3.connect(tmp_path / "v.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
