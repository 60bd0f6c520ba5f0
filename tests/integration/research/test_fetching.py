"""What can go wrong between a page and its reader, each with a real server."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
import struct
import tracemalloc
import zlib
from collections.abc import Awaitable, Callable

import pytest
import trustme
from aiohttp.abc import AbstractResolver, ResolveResult
from web_site import Asked, WebSite, html, page, redirect, web_site

from gateway.errors import ConfigError, ToolError
from gateway.tools.research.addresses import not_public
from gateway.tools.research.fetcher import MAX_BYTES, MAX_REDIRECTS, Fetched, Fetcher
from gateway.tools.research.site import NotFetched
from gateway.tools.research.visit import Visited

Visit = Callable[..., Awaitable[Visited]]
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


async def fetched(site: WebSite, path: str = "/", **how: object) -> Fetched:
    async with Fetcher([site.host], **{"timeout_s": 5, **how}) as fetcher:  # type: ignore[arg-type]
        return await fetcher.fetch(site.url(path))


async def refused(site: WebSite, path: str = "/", **how: object) -> NotFetched:
    with pytest.raises(NotFetched) as caught:
        await fetched(site, path, **how)
    return caught.value


async def test_a_page_comes_with_what_its_site_says_of_it(site: WebSite) -> None:
    site.pages["/a"] = page("words", kind="Text/Plain; charset=Latin-1", ETag='"1"', Cache_Control="max-age=60")
    came = await fetched(site, "/a")
    assert (came.source, came.kind, came.charset, came.body) == (site.url("/a"), "text/plain", "Latin-1", b"words")
    assert (came.validators.etag, came.fresh_s) == ('"1"', 60)


async def test_sites_are_told_who_asks_and_nothing_else(site: WebSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    site.pages["/b"] = page("words", Set_Cookie="a=b")
    site.pages["/"] = page("", status="302 Found", Location="/b", Set_Cookie="c=d")
    await fetched(site)
    assert site.paths() == ["/", "/b"]
    for each in site.asked:
        assert each.headers["user-agent"].startswith("echelon-gateway/")
        assert not {"cookie", "authorization", "referer"} & set(each.headers)


async def test_a_huge_page_is_not_read_further_than_its_bound(site: WebSite) -> None:
    async def flood(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"\r\n")
        while True:
            writer.write(b"x" * 100_000)
            await writer.drain()

    site.pages["/"] = flood
    assert "larger than 5 MB" in str(await refused(site))
    await asyncio.wait_for(site.ended.wait(), 60)


async def test_a_page_of_just_the_bound_is_taken(site: WebSite) -> None:
    site.pages["/"] = page(b"x" * MAX_BYTES)
    assert len((await fetched(site)).body) == MAX_BYTES
    site.pages["/"] = page(b"x" * (MAX_BYTES + 1))
    await refused(site)


def gzipped(size: int) -> bytes:
    return gzip.compress(bytes(size), 6)


def twice_gzipped(size: int) -> bytes:
    """Many members, one after the other."""
    return gzip.compress(bytes(size // 100), 6) * 100


def deflated(size: int) -> bytes:
    return zlib.compress(bytes(size), 6)


def raw_deflated(size: int) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(bytes(size)) + packer.flush()


@pytest.mark.parametrize(
    ("coding", "packed"),
    [("gzip", gzipped), ("gzip", twice_gzipped), ("deflate", deflated), ("deflate", raw_deflated)],
)
async def test_a_bomb_is_unpacked_no_further_than_the_bound(
    site: WebSite, coding: str, packed: Callable[[int], bytes]
) -> None:
    site.pages["/"] = page(packed(60_000_000), Content_Encoding=coding)
    tracemalloc.start()
    try:
        error = await refused(site, timeout_s=60)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "larger than 5 MB" in str(error)
    assert peak < 5 * MAX_BYTES


@pytest.mark.parametrize("coding", ["br", "zstd", "x-unheard-of"])
async def test_a_compression_that_was_not_asked_for_is_not_unpacked(site: WebSite, coding: str) -> None:
    site.pages["/"] = page(b"\x1b\xff\xff\xff" * 100, Content_Encoding=coding)
    error = await refused(site)
    assert error.down and coding.split("-")[0] in str(error)
    assert "br" not in site.asked[-1].headers["accept-encoding"]


async def test_damaged_compression_is_no_page(site: WebSite) -> None:
    site.pages["/"] = page(gzipped(10_000)[:12] + b"\xff" * 30, Content_Encoding="gzip")
    assert (await refused(site)).down


async def test_a_page_that_drips_is_given_up(site: WebSite) -> None:
    async def drip(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)

    site.pages["/"] = drip
    error = await refused(site, timeout_s=0.3)
    assert error.down and "did not come in time" in str(error)
    await asyncio.wait_for(site.ended.wait(), 60)


async def test_a_site_that_says_nothing_is_given_up(site: WebSite) -> None:
    async def silent(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    site.pages["/"] = silent
    assert "did not come in time" in str(await refused(site, timeout_s=0.2))


async def test_waiting_for_a_slot_is_not_counted_as_the_page_s_time(site: WebSite) -> None:
    async def slow(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.1)
        writer.write(page("words"))

    site.pages |= {f"/{number}": slow for number in range(8)}
    async with Fetcher([site.host], timeout_s=0.5, per_host=1) as fetcher:
        came = await asyncio.gather(*(fetcher.fetch(site.url(f"/{number}")) for number in range(8)))
    assert len(came) == 8
    assert site.most_at_once == 1


async def test_one_site_gets_no_more_requests_at_once_than_allowed(site: WebSite) -> None:
    async def together(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if site.at_once == 3:
            full.set()
        await full.wait()
        writer.write(page("words"))

    full = asyncio.Event()
    site.pages |= {f"/{number}": together for number in range(9)}
    async with Fetcher([site.host], per_host=3) as fetcher:
        await asyncio.gather(*(fetcher.fetch(site.url(f"/{number}")) for number in range(9)))
    assert site.most_at_once == 3


async def test_redirects_are_followed_to_their_end(site: WebSite) -> None:
    for number, status in enumerate(("301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent")):
        site.pages[f"/{number}"] = redirect(f"{number + 1}#part", status)
    site.pages["/5"] = page("words")
    assert (await fetched(site, "/0")).source == site.url("/5")


async def test_redirects_without_end_are_given_up(site: WebSite) -> None:
    site.pages["/"] = redirect("/")
    assert "redirects more than" in str(await refused(site))
    assert site.paths() == ["/"] * (MAX_REDIRECTS + 1)


PRIVATE = [
    "http://localhost:{port}/secret",
    "http://LOCALHOST.:{port}/secret",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:{port}/secret",
    "http://127.1:{port}/secret",
    "http://0x7f.1:{port}/secret",
    "http://0x7f000001:{port}/secret",
    "http://0177.0.0.1:{port}/secret",
    "http://2130706433:{port}/secret",
    "http://127.0.0.1.:{other}/secret",
    "http://①②⑦.⓪.⓪.①:{other}/secret",
    "http://0:{port}/secret",
    "http://0.0.0.0:{port}/secret",
    "http://[::1]:{port}/secret",
    "http://[::]:{port}/secret",
    "http://[::ffff:127.0.0.1]:{port}/secret",
    "http://[::ffff:7f00:1]:{port}/secret",
    "http://[::127.0.0.1]:{port}/secret",
    "http://[64:ff9b::7f00:1]:{port}/secret",
    "http://[2002:7f00:1::]:{port}/secret",
    "http://[fe80::1%25lo]:{port}/secret",
    "http://169.254.169.254/latest/meta-data/",
    "http://10.0.0.1/",
    "http://100.64.0.1/",
    "//localhost:{port}/secret",
    "http://public.example@127.0.0.1:{port}/secret",
    "http://user:password@127.0.0.1:{port}/secret",
    "http://public.example\\@127.0.0.1:{port}/secret",
    "file:///etc/passwd",
    "gopher://127.0.0.1:{port}/secret",
    "javascript:alert(1)",
    "http://[",
]


@pytest.mark.parametrize("place", PRIVATE)
async def test_a_redirect_to_what_nobody_named_is_not_followed(site: WebSite, place: str) -> None:
    """The page's own address is named; each of these leads to the same machine in other words, or to worse."""
    async with web_site() as other:
        for each in (site, other):
            each.pages["/secret"] = page("the secret")
        site.pages["/"] = redirect(place.format(port=site.port, other=other.port))
        with pytest.raises(ToolError):
            await fetched(site, respect_robots=False)
        assert site.paths() == ["/"]
        assert other.asked == []


@pytest.mark.parametrize("place", PRIVATE)
async def test_what_nobody_named_is_not_asked_for_directly_either(site: WebSite, place: str) -> None:
    site.pages["/secret"] = page("the secret")
    async with Fetcher([], timeout_s=5) as fetcher:
        with pytest.raises(ToolError):
            await fetcher.fetch(place.format(port=site.port, other=site.port))
    assert site.asked == []


async def test_a_robots_txt_that_redirects_inside_is_not_followed(site: WebSite) -> None:
    site.pages |= {"/robots.txt": redirect(f"http://localhost:{site.port}/secret"), "/secret": page("the secret")}
    site.pages["/"] = page("words")
    assert "loopback" in str(await refused(site))
    assert site.paths() == []


class Changing(AbstractResolver):
    """A name server that answers differently every time."""

    def __init__(self, *answers: list[str]) -> None:
        self._answers = list(answers)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return [
            ResolveResult(hostname=host, host=each, port=port, family=socket.AF_INET, proto=0, flags=0)
            for each in found
        ]

    async def close(self) -> None:
        pass


def only_first_is_public(address: str) -> str:
    """127.0.0.2 plays the part of a public address."""
    return "" if address == "127.0.0.2" else not_public(address)


@pytest.fixture
def second_loopback() -> None:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.2", 0))
        except OSError:
            pytest.skip("this machine has no 127.0.0.2")


@pytest.mark.usefixtures("second_loopback")
async def test_a_name_that_changes_its_answer_leads_nowhere_else() -> None:
    """First the outside, then the inside: what is connected to is what was judged, each time."""
    async with web_site("127.0.0.2") as outside, web_site("127.0.0.1", outside.port) as inside:
        for each in (outside, inside):
            each.pages["/"] = page("words", Connection="close")
        resolver = Changing(["127.0.0.2"], ["127.0.0.2"], ["127.0.0.1"])
        url = f"http://rebound.example:{outside.port}/"
        for _ in range(2):
            async with Fetcher(
                [], timeout_s=5, respect_robots=False, resolver=resolver, judge=only_first_is_public
            ) as fetcher:
                assert (await fetcher.fetch(url)).body == b"words"
        async with Fetcher(
            [], timeout_s=5, respect_robots=False, resolver=resolver, judge=only_first_is_public
        ) as fetcher:
            with pytest.raises(NotFetched, match="loopback"):
                await fetcher.fetch(url)
        assert len(outside.asked) == 2
        assert inside.asked == []


@pytest.mark.usefixtures("second_loopback")
async def test_of_several_answers_only_the_public_ones_are_tried() -> None:
    async with web_site("127.0.0.2") as outside, web_site("127.0.0.1", outside.port) as inside:
        outside.pages["/"] = inside.pages["/"] = page("words")
        resolver = Changing(["127.0.0.1", "127.0.0.2"])
        async with Fetcher([], respect_robots=False, resolver=resolver, judge=only_first_is_public) as fetcher:
            await fetcher.fetch(f"http://both.example:{outside.port}/")
        assert (len(outside.asked), len(inside.asked)) == (1, 0)


async def test_a_named_host_is_reached_by_its_name_only(site: WebSite) -> None:
    site.pages["/"] = page("words")
    async with Fetcher(["localhost"]) as fetcher:
        assert (await fetcher.fetch(f"http://localhost:{site.port}/")).body == b"words"
        with pytest.raises(NotFetched, match="loopback"):
            await fetcher.fetch(site.url())


def test_what_is_no_host_cannot_be_named() -> None:
    for each in ("http://wiki.local", "wiki.local/pages", "me@wiki.local", "wiki.local:", "", ":80", "a b"):
        with pytest.raises(ConfigError, match="allow_hosts"):
            Fetcher([each])


@pytest.mark.parametrize(
    "kind", ["image/png", "application/octet-stream", "application/zip", "video/mp4", "text/css", "font/woff2"]
)
async def test_what_is_not_text_is_not_read(site: WebSite, kind: str) -> None:
    async def endless(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(page(b"x", kind=kind).replace(b"Content-Length: 1", b"Content-Length: 9000000000"))
        await asyncio.Event().wait()

    site.pages["/"] = endless
    error = await refused(site)
    assert kind in str(error) and not error.down


async def test_a_connection_that_breaks_off_is_no_page(site: WebSite) -> None:
    async def broken(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(page(b"x" * 1000)[:-500])
        await writer.drain()
        handle = writer.get_extra_info("socket")
        handle.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # end with a reset
        writer.transport.abort()

    site.pages["/"] = broken
    assert (await refused(site)).down


async def test_an_answer_that_is_not_http_is_no_page(site: WebSite) -> None:
    site.pages["/"] = b"SSH-2.0-OpenSSH_9.9\r\n\r\n"
    assert (await refused(site, respect_robots=False)).down


async def test_a_server_that_is_not_there_is_no_page(unused_port: int) -> None:
    async with Fetcher([f"127.0.0.1:{unused_port}"]) as fetcher:
        with pytest.raises(NotFetched, match="cannot be reached") as caught:
            await fetcher.fetch(f"http://127.0.0.1:{unused_port}/")
    assert caught.value.down


@pytest.fixture
def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def test_a_site_without_tls_is_not_asked_in_the_clear(site: WebSite) -> None:
    async with Fetcher([site.host], timeout_s=5) as fetcher:
        with pytest.raises(NotFetched, match="securely"):
            await fetcher.fetch(f"https://{site.host}/")
    assert site.asked == []


async def test_a_certificate_must_be_known_and_of_this_site() -> None:
    authority = trustme.CA()
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    for name, trust, wrong in (
        ("127.0.0.1", trusting, ""),
        ("127.0.0.1", True, "certificate"),
        ("other.example", trusting, "mismatch"),
    ):
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        authority.issue_cert(name).configure_cert(tls)
        async with web_site(tls=tls) as site:
            site.pages["/"] = page("words")
            async with Fetcher([site.host], timeout_s=10, ssl=trust) as fetcher:
                if wrong:
                    with pytest.raises(NotFetched, match=wrong) as caught:
                        await fetcher.fetch(site.url())
                    assert "securely" in str(caught.value)
                    assert site.asked == []
                else:
                    assert (await fetcher.fetch(site.url())).body == b"words"


@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
async def test_a_site_that_asks_for_patience_is_asked_once_more(site: WebSite, status: str) -> None:
    async def busy(asked: Asked, writer: asyncio.StreamWriter) -> None:
        again = site.paths().count("/") > 1
        writer.write(page("words") if again else page("", status=status, Retry_After="0"))

    site.pages["/"] = busy
    assert (await fetched(site)).body == b"words"
    site.pages["/"] = page("", status=status, Retry_After="3600")
    site.asked.clear()
    error = await refused(site)
    assert error.down and f"answered {status[:3]}, and asks to wait 3600 s" in str(error)
    assert site.paths() == ["/"]


@pytest.mark.parametrize(("status", "down"), [("404 Not Found", False), ("401 No", False), ("500 Oh", True)])
async def test_an_answer_without_a_page_says_its_status(site: WebSite, status: str, down: bool) -> None:
    site.pages["/"] = page(html("sorry"), status=status)
    error = await refused(site)
    assert status[:3] in str(error) and error.down is down
