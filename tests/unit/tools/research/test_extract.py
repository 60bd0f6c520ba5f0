"""What of a page is read: its own text, as passages that stand in it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import ToolError
from gateway.tools.research.extract import MAX_JUDGED, Extracted, extract
from gateway.tools.research.pages import squeezed

SENTENCE = "The harbour was built in the year of the great storm, and has been rebuilt many times since then. "
MENU = "".join(f"<li><a href='/{number}'>Section number {number}</a></li>" for number in range(20))


def texts(found: Extracted) -> list[str]:
    return [block.text for passage in found.page.passages for block in passage.blocks]


def test_menus_around_the_text_are_left_out() -> None:
    """No `main`, no `nav`: only the text itself tells what the page is about."""
    page = (
        f"<html><body><div class='menu'><ul>{MENU}</ul></div><div class='content'><h1>Harbours</h1>"
        f"<p>{SENTENCE * 3}</p><p>{SENTENCE.replace('harbour', 'lighthouse') * 3}</p></div>"
        "<div class='sidebar'><h3>Popular</h3><ul><li><a href='/x'>Ten ships that you must see</a></li></ul></div>"
        "</body></html>"
    )
    found = texts(extract("text/html", "", page.encode()))
    assert found == [(SENTENCE * 3).strip(), (SENTENCE.replace("harbour", "lighthouse") * 3).strip()]


def test_tables_and_examples_of_the_text_are_kept() -> None:
    page = (
        f"<html><body><main><h1>Harbours</h1><p>{SENTENCE}</p><table><tr><th>Name</th><th>Ships</th></tr>"
        f"<tr><td>North</td><td>40</td></tr></table><p>{SENTENCE}</p><pre>count  --all</pre></main></body></html>"
    )
    assert texts(extract("text/html", "", page.encode())) == [
        SENTENCE.strip(), "Name Ships", "North 40", SENTENCE.strip(), "count  --all"
    ]  # fmt: skip


def test_a_page_without_a_kind_is_known_by_its_beginning() -> None:
    html = f"<!-- made by hand -->\n<!DOCTYPE html><title>Harbours</title><p>{SENTENCE}</p>".encode()
    assert extract("", "", html).title == "Harbours"
    assert texts(extract("", "", b"a < b <p>")) == ["a < b <p>"]
    with pytest.raises(ToolError, match="damaged"):
        extract("", "", b"%PDF-1.4 rubbish")


def test_a_page_too_long_to_be_judged_is_read_whole() -> None:
    page = f"<html><body><p>{SENTENCE}</p>{'<p>More words here.</p>' * (MAX_JUDGED // 20)}</body></html>"
    assert texts(extract("text/html", "", page.encode()))[0] == SENTENCE.strip()


tags = st.sampled_from(
    ["<p>", "</p>", "<div>", "</table>", "<tr><td>", "<pre>", "<h2>", "<script>", "<!--", "&amp", "<"]
)


@given(st.lists(st.one_of(tags, st.text(max_size=40), st.just(SENTENCE)), max_size=20).map("".join))
def test_every_block_stands_in_the_page_however_broken_it_is(page: str) -> None:
    try:
        found = extract("text/html", "", f"<html><body>{page}".encode("utf-8", "replace"))
    except ToolError:
        return
    assert all(squeezed(each) in found.letters for each in texts(found))


def test_a_reader_that_lacks_a_library_says_so_rather_than_blame_the_page() -> None:
    program = (
        "import runpy, sys; sys.modules['trafilatura'] = None; "
        "runpy.run_module('gateway.tools.research.extract', run_name='__main__')"
    )
    body = b"<html><body><main><p>" + b"A text that is long enough. " * 20 + b"</p></main></body></html>"
    asked = json.dumps({"kind": "text/html", "charset": "", "size": len(body)}).encode() + b"\n" + body
    said = subprocess.run([sys.executable, "-c", program], input=asked, capture_output=True, check=True).stdout
    assert "not installed whole" in json.loads(said)["problem"]
