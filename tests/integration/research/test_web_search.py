"""internet.research on the web: SearXNG and the pages it finds are local servers, ddgs is the real library behind a
proxy that is not there, or answers of its documented form."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from gateway.errors import ToolError
from gateway.tools.builtin.research import internet_research
from gateway.tools.registry import ToolContext, ToolResult
from gateway.tools.research.pages import squeezed
from gateway.tools.research.searxng import MAX_BYTES, Searxng

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

PAGE = """<html><head><title>{title}</title><meta property="article:published_time" content="2024-05-06T07:08:09Z">
</head><body><main><article><h1>{title}</h1>
<p>{first} This page is about the keeping of ships in harbours, and what their crews have to know before they leave.</p>
<h2>Mooring lines</h2><p>{second}</p>
<p>Nothing else has to be said about the matter, but a page needs some text, so here
it stands, with a second sentence after the first one.</p></article></main></body></html>"""
HERON = PAGE.format(
    title="Heron", first="The heron is a ship.", second="Mooring lines hold a ship at the quay, fore and aft."
)
OTHER = PAGE.format(
    title="Egret", first="The egret is a boat.", second="A boat is pulled up to the beach with a winch."
)


class NoArtifacts:
    def put(self, data: bytes) -> str:
        return ""

    def get(self, sha256: str) -> bytes:
        raise KeyError(sha256)


@pytest.fixture
def research(tmp_path: Path) -> Callable[..., Awaitable[ToolResult]]:
    async def run(query: str, tools: dict[str, Any] | None = None, **settings: Any) -> ToolResult:
        (tmp_path / "home").mkdir(exist_ok=True)
        configured = {"research": settings, "tools": tools or {}}
        ctx = ToolContext(tmp_path, tmp_path / "home", NoArtifacts(), now=1_790_000_000.0, settings=configured)
        return await internet_research.run(internet_research.args(query=query), ctx)

    return run


@asynccontextmanager
async def serving(**handlers: Handler) -> AsyncIterator[TestServer]:
    app = web.Application()
    for name, handler in handlers.items():
        app.router.add_get(f"/{name}", handler)
    async with TestServer(app, host="127.0.0.1") as server:
        yield server


def html(text: str, status: int = 200) -> Handler:
    async def handler(request: web.Request) -> web.Response:
        return web.Response(text=text, content_type="text/html", status=status)

    return handler


def answering(*urls: str, **more: Any) -> Handler:
    async def handler(request: web.Request) -> web.Response:
        assert request.query["format"] == "json" and request.query["q"]
        results = [{"url": each, "title": "a hit", "content": "a snippet"} for each in urls]
        return web.json_response({"query": request.query["q"], "results": results, **more})

    return handler


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


async def searched(handler: Handler, research: Callable[..., Awaitable[ToolResult]], **settings: Any) -> ToolResult:
    async with serving(search=handler) as searxng:
        return await research("mooring lines", provider="searxng", searxng_url=str(searxng.make_url("/")), **settings)


async def test_what_a_search_finds_is_visited_and_quoted_with_its_source(research: Any) -> None:
    async with serving(heron=html(HERON), egret=html(OTHER), gone=html("no", 404)) as site:
        urls = [str(site.make_url(each)) for each in ("/egret", "/heron", "/heron#again", "/gone")]
        host = f"127.0.0.1:{site.port}"
        result = await searched(answering(*urls), research, allow_hosts=[host])
    assert result.ok
    first = result.data["passages"][0]
    assert "Mooring lines hold a ship at the quay, fore and aft." in first["quote"]
    assert first["source"].split("#")[0] == urls[1]
    assert first["title"] == "Heron" and first["date"] == "2024-05-06"
    assert squeezed(first["quote"].split("\n\n")[0]) in squeezed(HERON)
    assert result.text.startswith(f"[1] Heron · {first['heading']}\nsource: {first['source']} · 2024-05-06\n")
    assert result.data["provider"] == "searxng"
    assert [each["source"] for each in result.data["unread"]] == [urls[3]]
    assert result.text.splitlines()[-1].startswith(f"could not be read: {urls[3]} (")


async def test_only_as_many_pages_are_visited_as_the_configuration_says(research: Any) -> None:
    asked: list[str] = []

    async def page(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.Response(text=HERON, content_type="text/html")

    async with serving(a=page, b=page, c=page) as site:
        urls = [str(site.make_url(each)) for each in ("/a", "/a/", "/b", "/c")]
        host = f"127.0.0.1:{site.port}"
        result = await searched(answering(*urls), research, allow_hosts=[host], max_pages=2)
    assert sorted(asked) == ["/a", "/b"]
    assert [each["quote"] for each in result.data["passages"]].count(result.data["passages"][0]["quote"]) == 1
    assert {each["source"].split("#")[0] for each in result.data["passages"]} == {urls[0]}, "b is a mirror of a"


async def test_a_hit_on_a_private_address_is_refused_and_told(research: Any) -> None:
    asked: list[str] = []

    async def secret(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.Response(text=HERON, content_type="text/html")

    async with serving(heron=html(HERON)) as site, serving(secret=secret) as inside:
        url = str(inside.make_url("/secret"))
        host = f"127.0.0.1:{site.port}"
        result = await searched(answering(url, str(site.make_url("/heron"))), research, allow_hosts=[host])
        with pytest.raises(ToolError, match="none of the pages") as error:
            await searched(answering(url), research)
    assert asked == []
    assert result.ok and [each["source"] for each in result.data["unread"]] == [url]
    assert "loopback" in str(error.value) and "allow_hosts" in error.value.hint


async def test_nothing_found_is_no_error(research: Any) -> None:
    result = await searched(answering(), research)
    assert not result.ok and result.text == "the search found nothing about 'mooring lines': try other words"
    result = await searched(answering("ftp://old.example/", "javascript:alert(1)", "http://["), research)
    assert not result.ok and result.data["passages"] == []
    async with serving(egret=html("<html><body><main><p>Of something else.</p></main></body></html>")) as site:
        url, host = str(site.make_url("/egret")), f"127.0.0.1:{site.port}"
        result = await searched(answering(url), research, allow_hosts=[host])
    assert not result.ok and result.text.startswith("the pages say nothing about 'mooring lines'")


async def moved(request: web.Request) -> web.Response:
    raise web.HTTPFound("http://169.254.169.254/search")


async def slow(request: web.Request) -> web.Response:
    await asyncio.sleep(60)
    return web.Response()


async def endless(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    for _ in range(MAX_BYTES // 65_536 + 2):
        await response.write(b" " * 65_536)
    return response


def raw(text: str) -> Handler:
    async def handler(request: web.Request) -> web.Response:
        return web.Response(text=text, content_type="application/json")

    return handler


@pytest.mark.parametrize(
    ("handler", "said", "hint"),
    [
        (html("forbidden", 403), "refuses to answer in JSON", "search.formats"),
        (html("slow down", 429), "too many requests", "limiter"),
        (html("oh", 500), "answers 500", "log"),
        (html("<!doctype html><p>Welcome"), "a web page that is not JSON", "search.formats"),
        (raw('{"results": [{"ur'), "something that is not JSON", "searxng_url"),
        (raw("[]"), "no search result", "searxng_url"),
        (raw(json.dumps({"results": "many"})), "no search result", "searxng_url"),
        (moved, "redirects to http://169.254.169.254/search", "searxng_url"),
        (endless, "more than 4 MB", "searxng_url"),
        (answering(unresponsive_engines=[["brave", "timeout"]]), "do not answer: brave: timeout", "settings.yml"),
    ],
)
async def test_trouble_with_searxng_says_what_to_do(handler: Handler, said: str, hint: str, research: Any) -> None:
    with pytest.raises(ToolError) as error:
        await searched(handler, research)
    assert said in str(error.value) and hint in error.value.hint


async def test_a_search_that_takes_too_long_is_given_up(research: Any) -> None:
    with pytest.raises(ToolError, match=r"does not answer within 0\.1 s") as error:
        await searched(slow, research, page_timeout_s=0.1)
    assert "research.corpus_dir" in error.value.hint


async def test_searxng_that_is_down_is_an_error_and_no_other_source_is_used(research: Any, tmp_path: Path) -> None:
    (tmp_path / "moor.md").write_text("# Mooring lines\n\nMooring lines hold a ship.\n")
    url = f"http://user:secret@127.0.0.1:{closed_port()}"
    with pytest.raises(ToolError, match=r"SearXNG at http://127\.0\.0\.1:.* cannot be reached") as error:
        await research("mooring lines", provider="searxng", searxng_url=url, corpus_dir=str(tmp_path))
    assert "research.corpus_dir" in error.value.hint
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("url", ["not an address", "ftp://host", "http://", "http://host:99999"])
def test_an_address_of_searxng_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ToolError, match=r"research\.searxng_url is no address"):
        Searxng(url)


async def test_searxng_may_live_below_a_path() -> None:
    app = web.Application()
    app.router.add_get("/tools/searx/search", answering("https://docs.example/a"))
    async with TestServer(app, host="127.0.0.1") as server:
        for path in ("/tools/searx", "/tools/searx/"):
            hits = await Searxng(str(server.make_url(path))).search("ü & =", 5)
            assert [(each.url, each.title, each.snippet) for each in hits] == [
                ("https://docs.example/a", "a hit", "a snippet")
            ]


async def test_no_network_is_an_error_that_names_the_alternative(
    research: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DDGS_PROXY", f"http://127.0.0.1:{closed_port()}")  # the real library, which reaches nothing
    with pytest.raises(ToolError) as error:
        await research("mooring lines", provider="ddgs")
    assert str(error.value) == "the web search (ddgs) cannot be reached"
    assert "network connection" in error.value.hint and "research.corpus_dir" in error.value.hint


@pytest.fixture
def ddgs_says(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Any], None]]:
    """Replaces the library's class by one that answers, or raises, what is given."""

    def says(answer: Any) -> None:
        class Stand:
            def __init__(self, proxy: str | None = None, timeout: int | None = 5, *, verify: bool | str = True) -> None:
                assert timeout

            def text(self, query: str, **more: Any) -> list[dict[str, Any]]:
                assert set(more) == {"max_results"}
                if isinstance(answer, Exception):
                    raise answer
                found: list[dict[str, Any]] = answer
                return found

        monkeypatch.setattr("ddgs.DDGS", Stand)

    yield says


async def test_ddgs_hits_are_visited(research: Any, ddgs_says: Callable[[Any], None]) -> None:
    async with serving(heron=html(HERON)) as site:
        url = str(site.make_url("/heron"))
        ddgs_says([{"title": "Heron", "href": url, "body": "a ship"}, {"title": "no address", "href": "", "body": ""}])
        result = await research("mooring lines", allow_hosts=[f"127.0.0.1:{site.port}"])
    assert result.data["provider"] == "ddgs"
    assert result.data["passages"][0]["source"].split("#")[0] == url


async def test_trouble_with_ddgs_is_told_apart(research: Any, ddgs_says: Callable[[Any], None]) -> None:
    from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

    for trouble, said in (
        (RatelimitException("202"), "too many requests"),
        (TimeoutException("timed out"), "does not answer in time"),
        (DDGSException(DDGSException("ConnectError: refused (https://x/?q=1)")), "cannot be reached$"),
        (DDGSException(DDGSException("DNSError: DNSError('no records')")), "cannot be reached$"),
        (DDGSException("BodyError: BodyError('https://x/?q=1')"), "cannot be used: BodyError$"),
    ):
        ddgs_says(trouble)
        with pytest.raises(ToolError, match=said):
            await research("mooring lines")
    ddgs_says(DDGSException("No results found."))
    assert not (await research("mooring lines")).ok


async def test_pages_that_the_query_names_are_read_and_nothing_is_searched(research: Any) -> None:
    async with serving(heron=html(HERON), egret=html(OTHER)) as site:
        host = f"127.0.0.1:{site.port}"
        url = str(site.make_url("/heron"))
        found = await research(f"What holds a ship at the quay, by {url}?", allow_hosts=[host])
        whole = await research(f"Summarise {url}.", allow_hosts=[host], provider="corpus")
    assert found.data["provider"] == whole.data["provider"] == "request"
    assert "Mooring lines hold a ship" in found.data["passages"][0]["quote"]
    assert "The heron is a ship." in whole.data["passages"][0]["quote"], "how it begins, where nothing else is asked"
    assert {each["source"].split("#")[0] for each in found.data["passages"]} == {url}


async def test_a_named_page_that_cannot_be_read_is_an_error(research: Any) -> None:
    with pytest.raises(ToolError, match="none of the pages"):
        await research("What does http://127.0.0.1:9/x say?")


async def test_what_may_not_be_visited_is_not_read_by_a_search_either(research: Any) -> None:
    asked: list[str] = []

    async def secret(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.Response(text=HERON, content_type="text/html")

    async def away(request: web.Request) -> web.Response:
        raise web.HTTPFound("/secret")

    denying = {"policy": {"internet.visit": {"deny": ["*/secret"]}}}
    async with serving(heron=html(HERON), secret=secret, away=away) as site:
        urls = [str(site.make_url(each)) for each in ("/secret", "/away", "/heron")]
        host = f"127.0.0.1:{site.port}"
        result = await searched(answering(*urls), research, allow_hosts=[host], tools=denying)
        with pytest.raises(ToolError, match=r"the configuration denies internet\.visit"):
            await research(f"What does {urls[1]} say?", allow_hosts=[host], tools=denying)
    assert asked == []
    assert {each["source"].split("#")[0] for each in result.data["passages"]} == {urls[2]}
    assert [each["source"] for each in result.data["unread"]] == urls[:2]


@pytest.mark.parametrize("query", ["", " \t\n"])
async def test_an_empty_query_is_said_to_be_one(research: Any, query: str) -> None:
    with pytest.raises(ToolError, match="the query is empty"):
        await research(query)
