"""Passages out of visited pages."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gateway.tools.research.pages import letters, read_page, squeezed
from gateway.tools.research.providers import Hit, distinct
from gateway.tools.research.quoting import GAP, MAX_PAGES, MAX_PASSAGES
from gateway.tools.research.select import select
from gateway.tools.research.visit import Visited

WINCH = (
    "A winch pulls a boat up to the beach, over wooden rails that have been greased with soap or with tallow. Its drum "
    "holds forty metres of rope, and a pawl keeps it from running back when nobody holds the handle. Before the first "
    "boat of the season is pulled up, the rope is looked over for broken strands. It is turned by hand, or by a motor."
)


def visited(source: str, text: str, *, title: str = "", date: str = "") -> Visited:
    return Visited(source, source, title, date, read_page("page.md", text), letters("page.md", text))


def test_the_best_passages_come_with_address_title_and_date() -> None:
    pages = [
        visited("https://a.example/x", "# Sails\n\nA sail catches the wind.\n"),
        visited("https://b.example/y#top", f"# Winches\n\n{WINCH}\n", title="All of winches", date="2025-02-03"),
    ]
    first, *_ = select("How does a winch pull a boat?", pages)
    assert (first.title, first.source, first.date) == ("All of winches", "https://b.example/y#winches", "2025-02-03")
    assert first.text == WINCH


def test_of_mirrors_only_one_is_quoted() -> None:
    text = f"# Winches\n\n{WINCH}\n"
    mirror = visited("https://mirror.example/", text.replace("by hand", "with a hand"))
    other = visited("https://other.example/", "# Other winches\n\nThere are winches that lift anchors.\n")
    found = select("winch boat", [visited("https://a.example/", text), mirror, other])
    assert [each.heading for each in found] == ["Winches", "Other winches"]


def test_pages_that_could_not_be_read_are_passed_over() -> None:
    gone = Visited("https://gone.example/", "https://gone.example/", "", "", None, "", "404")
    assert select("winch", [gone]) == []
    assert select("winch", []) == []
    assert [each.source for each in select("sail", [gone, visited("https://a.example/", "Sails and more.")])] == [
        "https://a.example/"
    ]


words = st.lists(st.sampled_from("winch boat sail anchor the of pulls :".split()), min_size=1, max_size=30).map(
    " ".join
)


@given(st.lists(st.lists(words, min_size=1, max_size=5).map("\n\n".join), max_size=5), words)
def test_every_quote_stands_in_its_page(texts: list[str], question: str) -> None:
    pages = {f"https://{number}.example/": text for number, text in enumerate(texts)}
    quotes = select(question, [visited(source, text) for source, text in pages.items()])
    assert len(quotes) <= MAX_PASSAGES
    assert len({each.source for each in quotes}) <= MAX_PAGES
    for each in quotes:
        whole = squeezed(pages[each.source])
        assert all(squeezed(block) in whole for block in each.text.split("\n\n") if block != GAP)


def test_hits_on_one_page_are_one() -> None:
    urls = ["http://a.example/x", "https://A.example/x/", "https://www.a.example/x#part", "https://a.example/x?p=2"]
    assert [each.url for each in distinct(map(Hit, urls))] == [urls[0], urls[3]]
    assert (
        distinct(map(Hit, ["", "ftp://a.example/", "//a.example", "https://", "http://[", "mailto:a@b.example"])) == []
    )
