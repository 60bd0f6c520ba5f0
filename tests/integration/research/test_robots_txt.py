"""robots.txt: there, not there, and in the way."""

from __future__ import annotations

import asyncio

import pytest
from web_site import Asked, WebSite, page, redirect, web_site

from gateway.tools.research.fetcher import Fetcher
from gateway.tools.research.site import NotFetched

FORBIDS = page("User-agent: *\nDisallow: /private\n", kind="text/plain")


async def fetch(site: WebSite, *paths: str, timeout_s: float = 5, respect_robots: bool = True) -> list[str]:
    """What came of each: the content, or what was wrong."""
    async with Fetcher([site.host], timeout_s=timeout_s, respect_robots=respect_robots) as fetcher:

        async def one(path: str) -> str:
            try:
                return (await fetcher.fetch(site.url(path))).body.decode()
            except NotFetched as error:
                return str(error)

        return await asyncio.gather(*(one(path) for path in paths))


@pytest.fixture(autouse=True)
def pages(site: WebSite) -> None:
    site.pages |= {"/private/x": page("private"), "/open": page("open")}


async def test_what_a_site_forbids_is_left_alone(site: WebSite) -> None:
    site.pages["/robots.txt"] = FORBIDS
    private, opened = await fetch(site, "/private/x", "/open")
    assert "robots.txt" in private and "forbids /private/x" in private
    assert opened == "open"
    assert [each.path for each in site.asked] == ["/robots.txt", "/open"]


async def test_rules_for_us_by_name_go_before_those_for_all(site: WebSite) -> None:
    site.pages["/robots.txt"] = page("User-agent: *\nDisallow: /\n\nUser-agent: Echelon-Gateway\nDisallow: /open\n")
    private, opened = await fetch(site, "/private/x", "/open")
    assert private == "private" and "forbids" in opened


async def test_a_redirect_to_what_is_forbidden_is_not_followed(site: WebSite) -> None:
    site.pages |= {"/robots.txt": FORBIDS, "/away": redirect("/private/x")}
    (said,) = await fetch(site, "/away")
    assert "forbids" in said and site.paths() == ["/away"]


async def test_the_rules_of_each_site_are_its_own(site: WebSite) -> None:
    site.pages["/robots.txt"] = FORBIDS
    async with web_site() as other:
        other.pages["/"] = redirect(site.url("/private/x"))
        async with Fetcher([site.host, other.host]) as fetcher:
            with pytest.raises(NotFetched, match="forbids"):
                await fetcher.fetch(other.url())
    assert site.paths() == []


async def test_without_a_robots_txt_everything_may_be_visited(site: WebSite) -> None:
    assert await fetch(site, "/private/x", "/open", "/open") == ["private", "open", "open"]
    assert [each.path for each in site.asked].count("/robots.txt") == 1


async def test_of_a_huge_robots_txt_the_beginning_counts(site: WebSite) -> None:
    async def endless(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /private\n")
        while True:
            writer.write(b"# nothing to say, at length\n" * 1000)
            await writer.drain()

    site.pages["/robots.txt"] = endless
    private, opened = await fetch(site, "/private/x", "/open", timeout_s=30)
    assert "forbids" in private and opened == "open"
    await asyncio.wait_for(site.ended.wait(), 60)


async def test_a_robots_txt_that_hangs_keeps_its_site_closed_not_the_others(site: WebSite) -> None:
    async def hangs(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    site.pages["/robots.txt"] = hangs
    async with web_site() as other:
        other.pages["/"] = page("other")
        async with Fetcher([site.host, other.host], timeout_s=0.3) as fetcher:
            closed, opened = await asyncio.gather(
                fetcher.fetch(site.url("/open")), fetcher.fetch(other.url()), return_exceptions=True
            )
    assert isinstance(closed, NotFetched) and closed.down and "robots.txt did not come in time" in str(closed)
    assert not isinstance(opened, BaseException) and opened.body == b"other"
    assert site.paths() == []


async def test_a_robots_txt_that_the_site_fails_to_give_keeps_it_closed(site: WebSite) -> None:
    site.pages["/robots.txt"] = page("", status="500 Oh")
    (said,) = await fetch(site, "/open")
    assert "robots.txt" in said and "500" in said and site.paths() == []


async def test_a_robots_txt_that_is_forbidden_itself_forbids_nothing(site: WebSite) -> None:
    site.pages["/robots.txt"] = page("", status="403 No")
    assert await fetch(site, "/open") == ["open"]


async def test_rubbish_for_a_robots_txt_forbids_nothing(site: WebSite) -> None:
    site.pages["/robots.txt"] = page(bytes(range(256)) * 40, kind="image/png")
    assert await fetch(site, "/open") == ["open"]


async def test_the_configuration_may_say_not_to_ask(site: WebSite) -> None:
    site.pages["/robots.txt"] = FORBIDS
    assert await fetch(site, "/private/x", respect_robots=False) == ["private"]
    assert [each.path for each in site.asked] == ["/private/x"]
