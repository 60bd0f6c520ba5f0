"""Pages as their readers get them: passages, titles and dates, whatever the bytes were; and what is kept of them."""

from __future__ import annotations

import asyncio
import gzip
import sqlite3
import zlib
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from web_site import Asked, WebSite, html, page, redirect

from gateway.errors import ToolError
from gateway.tools.research.fetcher import Fetched
from gateway.tools.research.pages import squeezed
from gateway.tools.research.readers import Readers, extracted
from gateway.tools.research.visit import Visited, visit

Visit = Callable[..., Awaitable[Visited]]
GERMAN = "Die Größe der Straßen und die Höhe der Häuser ändern sich früher oder später überall in der Stadt. " * 3
ARTICLE = """<!doctype html><html><head><title>The harbour — Town News</title>
<meta property="article:published_time" content="2026-03-04T05:06:07Z"></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/all">All the news</a></li></ul></nav>
<article><h1>The harbour</h1><p>The harbour was built in the year of the great storm, and has been rebuilt since.</p>
<h2 id="ships">Its ships</h2><p>Forty <b>ships</b> lie in it, most of them <a href="/">older</a> than their owners.</p>
<pre>ships --count
  40</pre></article><footer><p>All rights reserved by the Town News</p></footer></body></html>"""


def texts(visited: Visited) -> list[str]:
    assert visited.page is not None, visited.problem
    return [block.text for passage in visited.page.passages for block in passage.blocks]


async def test_a_page_is_read_as_passages_that_stand_in_it(site: WebSite, visit_page: Visit) -> None:
    site.pages["/harbour"] = page(ARTICLE)
    visited = await visit_page("/harbour")
    assert (visited.title, visited.date, visited.problem) == ("The harbour", "2026-03-04", "")
    assert (visited.url, visited.source, visited.from_cache) == (site.url("/harbour"), site.url("/harbour"), False)
    assert texts(visited) == [
        "The harbour was built in the year of the great storm, and has been rebuilt since.",
        "Forty ships lie in it, most of them older than their owners.",
        "ships --count\n  40",
    ]
    assert visited.page and [each.anchor for each in visited.page.passages] == ["", "ships"]
    assert all(squeezed(each) in visited.letters for each in texts(visited))


async def test_pages_come_in_the_order_they_were_asked_for(site: WebSite, tmp_path: Path) -> None:
    async def last(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await others.wait()
        writer.write(page("The first one.", kind="text/plain"))

    async def first(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(page("The second one.", kind="text/plain"))
        others.set()

    others = asyncio.Event()
    site.pages |= {"/1": last, "/2": first}
    urls = [site.url("/1"), "no address", site.url("/2"), site.url("/gone"), site.url("/1")]
    visited = await visit(urls, {"allow_hosts": [site.host]}, tmp_path, now=1.0)
    assert [each.url for each in visited] == urls
    assert [bool(each.page) for each in visited] == [True, False, True, False, True]
    assert "404" in visited[3].problem and "not the address of a page" in visited[1].problem
    assert site.paths().count("/1") == 1


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/html; charset=utf-8", html(GERMAN).encode("latin-1")),  # the header lies
        ("text/html; charset=iso-8859-1", html(GERMAN).encode()),
        ("text/html", html(GERMAN, head='<meta charset="windows-1252">').encode("cp1252")),
        ("text/html", html(GERMAN).encode("cp1252")),  # nobody says anything
        ("text/html; charset=klingon", html(GERMAN).encode()),
        ("text/html", html(GERMAN).encode("utf-16")),
        ("", html(GERMAN).encode()),
        ("text/plain", GERMAN.encode("utf-8-sig")),
    ],
)
async def test_the_words_survive_a_wrong_or_missing_encoding(
    site: WebSite, visit_page: Visit, kind: str, body: bytes
) -> None:
    site.pages["/"] = page(body, kind=kind)
    assert texts(await visit_page()) == [GERMAN.strip()]


async def test_compressed_pages_are_read(site: WebSite, visit_page: Visit) -> None:
    site.pages["/"] = page(gzip.compress(b"Words and words."), kind="text/plain", Content_Encoding="gzip")
    assert texts(await visit_page()) == ["Words and words."]


async def test_markdown_is_read_as_it_is(site: WebSite, visit_page: Visit) -> None:
    site.pages["/a/guide.md"] = page("# Guide\n\nUse it:\n\n```\nuse  it\n```\n", kind="text/markdown")
    visited = await visit_page("/a/guide.md")
    assert visited.title == "Guide"
    assert texts(visited) == ["Use it:", "use  it"]


async def test_a_page_without_a_title_is_called_after_its_address(site: WebSite, visit_page: Visit) -> None:
    site.pages["/a/note%20one.txt"] = page("Only words.", kind="text/plain")
    assert (await visit_page("/a/note%20one.txt")).title == "note one.txt"


@pytest.mark.parametrize("body", [b"", b"  \n", b"<html><body></body></html>", b"<body><script>x()</script></body>"])
async def test_an_empty_page_says_so(site: WebSite, visit_page: Visit, body: bytes) -> None:
    site.pages["/"] = page(body)
    visited = await visit_page()
    assert visited.page is None and "it has no text" in visited.problem


@pytest.mark.parametrize("kind", ["text/html", "text/plain", ""])
async def test_binary_content_under_another_name_is_found_out(site: WebSite, visit_page: Visit, kind: str) -> None:
    site.pages["/"] = page(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, kind=kind)
    visited = await visit_page()
    assert visited.page is None and "binary" in visited.problem


async def test_a_damaged_pdf_says_so(site: WebSite, visit_page: Visit) -> None:
    site.pages["/"] = page(b"%PDF-1.7\n" + b"rubbish " * 100, kind="application/pdf")
    visited = await visit_page()
    assert visited.page is None and "damaged" in visited.problem


async def test_broken_html_is_read_as_far_as_it_goes(site: WebSite, visit_page: Visit) -> None:
    site.pages["/"] = page("<p>One <b>bold</i> word<p>Two &amp words<div><table><td>Three words in a cell</div></html")
    assert texts(await visit_page())[0] == "One bold word"


async def test_elements_nested_without_end_are_refused(site: WebSite, visit_page: Visit) -> None:
    site.pages["/"] = page("<div>" * 5000 + "words")
    assert "nested too deeply" in (await visit_page()).problem


async def test_a_page_that_takes_too_long_to_read_costs_only_itself() -> None:
    tangled = Fetched("http://a.example/", "text/html", body=b"<div>" * 200_000 + b"words")
    plain = Fetched("http://a.example/b", "text/plain", body=b"Plain words.")
    async with Readers(1, deadline_s=3) as readers:
        with pytest.raises(ToolError, match="could not be read within 3 s"):
            await readers.read(tangled)
        assert extracted(await readers.read(plain)).letters == "Plainwords."


async def test_a_fresh_page_is_taken_from_the_cache(site: WebSite, visit_page: Visit) -> None:
    site.pages["/"] = page(html(GERMAN), Cache_Control="public, max-age=100")
    first = await visit_page()
    again = await visit_page(later=99)
    assert len(site.paths()) == 1
    assert again.from_cache and not again.problem
    assert (again.page, again.letters, again.title) == (first.page, first.letters, first.title)
    await visit_page(later=101)
    assert len(site.paths()) == 2


@pytest.mark.parametrize(
    ("validator", "question"),
    [({"ETag": 'W/"one"'}, "if-none-match"), ({"Last_Modified": "Tue, 01 Sep 2026 10:00:00 GMT"}, "if-modified-since")],
)
async def test_a_stale_page_is_asked_about(
    site: WebSite, visit_page: Visit, validator: dict[str, str], question: str
) -> None:
    async def answer(asked: Asked, writer: asyncio.StreamWriter) -> None:
        known = asked.headers.get(question) == next(iter(validator.values()))
        unchanged = page("", status="304 Not Modified", Cache_Control="max-age=50", **validator)
        writer.write(unchanged if known else page(html(GERMAN), **validator))

    site.pages["/"] = answer
    await visit_page()
    again = await visit_page(later=10)
    assert again.from_cache and texts(again) == [GERMAN.strip()]
    assert len(site.paths()) == 2
    await visit_page(later=59)  # fresh for as long as the last answer said
    assert len(site.paths()) == 2
    site.pages["/"] = page("Other words.", kind="text/plain", **validator)
    changed = await visit_page(later=61)
    assert not changed.from_cache and texts(changed) == ["Other words."]
    assert texts(await visit_page(later=62)) == ["Other words."]


@pytest.mark.parametrize("fault", ["503 Service Unavailable", "429 Too Many Requests", "reset"])
async def test_a_copy_is_used_while_the_site_is_down_and_that_is_said(
    site: WebSite, visit_page: Visit, fault: str
) -> None:
    async def reset(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    site.pages["/"] = page(html(GERMAN))
    await visit_page()
    site.pages["/"] = reset if fault == "reset" else page("", status=fault)
    copy = await visit_page(later=86_400)
    assert texts(copy) == [GERMAN.strip()] and copy.from_cache
    assert copy.problem.startswith("this is a copy of 2026-09-21: ")
    site.pages["/"] = page("New words.", kind="text/plain")
    assert texts(await visit_page(later=86_401)) == ["New words."]


async def test_a_page_that_is_gone_is_gone_from_the_cache(site: WebSite, visit_page: Visit) -> None:
    site.pages["/"] = page(html(GERMAN))
    await visit_page()
    site.pages["/"] = page("", status="410 Gone")
    assert (await visit_page()).page is None
    site.pages["/"] = page("", status="500 Oh")
    assert (await visit_page()).page is None


async def test_what_may_not_be_kept_is_not(site: WebSite, visit_page: Visit) -> None:
    site.pages["/"] = page(html(GERMAN), Cache_Control="no-store, max-age=100")
    await visit_page()
    site.pages["/"] = page("", status="500 Oh")
    assert (await visit_page()).page is None


async def test_where_an_address_leads_is_asked_each_time(site: WebSite, visit_page: Visit) -> None:
    site.pages |= {"/": redirect("/a"), "/a": page(html(GERMAN), Cache_Control="max-age=100", ETag='"a"')}
    site.pages["/b"] = page("Other words.", kind="text/plain")
    assert (await visit_page()).source == site.url("/a")
    site.pages["/"] = redirect("/b")
    moved = await visit_page(later=1)
    assert moved.source == site.url("/b") and texts(moved) == ["Other words."]
    assert "if-none-match" not in site.asked[-1].headers


@pytest.mark.parametrize("damage", [b"not a database", b""])
async def test_a_damaged_cache_keeps_nobody_from_visiting(
    site: WebSite, visit_page: Visit, tmp_path: Path, damage: bytes
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "visited.db").write_bytes(damage * 200)
    site.pages["/"] = page(html(GERMAN), Cache_Control="max-age=100")
    assert texts(await visit_page()) == [GERMAN.strip()]
    assert (await visit_page()).from_cache


async def test_a_page_that_was_kept_in_another_form_is_visited_anew(
    site: WebSite, visit_page: Visit, tmp_path: Path
) -> None:
    site.pages["/"] = page(html(GERMAN), Cache_Control="max-age=100")
    await visit_page()
    with sqlite3.connect(tmp_path / "home" / "visited.db") as connection:
        connection.execute("UPDATE visited SET document = ?", (zlib.compress(b'{"text": "words"}'),))
    connection.close()
    assert texts(await visit_page()) == [GERMAN.strip()]


@pytest.mark.parametrize("header", ["ETag", "Last_Modified"])
async def test_validators_that_are_no_text_are_left_alone(
    site: WebSite, visit_page: Visit, header: str, tmp_path: Path
) -> None:
    site.pages["/good"] = page(html(GERMAN))
    site.pages["/odd"] = page(html(GERMAN), **{header: "marker"}).replace(b"marker", b'"\xff"')
    urls = [site.url("/good"), site.url("/odd")]
    for now in (1.0, 2.0):
        visited = await visit(urls, {"allow_hosts": [site.host]}, tmp_path, now=now)
        assert [texts(each) for each in visited] == [[GERMAN.strip()]] * 2
    assert not {"if-none-match", "if-modified-since"} & set(site.asked[-1].headers)


async def test_an_odd_page_costs_only_itself(site: WebSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site.pages["/good"] = page(html(GERMAN))
    site.pages["/odd"] = page(html(GERMAN), kind="text/plain")
    site.pages["/lost"] = redirect("http://:T]a80[2@")
    read = Readers.read

    async def trips(self: Readers, came: Fetched) -> bytes:
        if came.kind == "text/plain":
            raise LookupError("nobody thought of \udcff\nthis")
        return await read(self, came)

    monkeypatch.setattr(Readers, "read", trips)
    urls = [site.url(each) for each in ("/odd", "/good", "/lost")] + ["http://a.example/\udcff"]
    odd, good, lost, unwritable = await visit(urls, {"allow_hosts": [site.host]}, tmp_path, now=1.0)
    assert texts(good) == [GERMAN.strip()]
    assert odd.page is None and odd.problem == "it cannot be read: LookupError: nobody thought of \\udcff this"
    assert "not the address of a page" in lost.problem and "not the address of a page" in unwritable.problem


async def test_what_was_kept_is_not_shown_once_it_is_denied(site: WebSite, tmp_path: Path) -> None:
    site.pages |= {"/": redirect("/a"), "/a": page(html(GERMAN), Cache_Control="max-age=100")}
    urls, section = [site.url(), site.url("/a")], {"allow_hosts": [site.host]}
    assert all(each.page for each in await visit(urls, section, tmp_path, now=1.0))
    site.pages["/"] = page("", status="503 Service Unavailable")  # else the copy would be shown
    denied = await visit(urls, section, tmp_path, now=2.0, denied=lambda url: url.endswith("/a"))
    assert [each.page for each in denied] == [None, None]
    assert site.paths()[-1] == "/", "what is denied was not asked for again"
