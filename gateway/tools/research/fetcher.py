"""Pages fetched at once from many sites: bounded in number, size, time and redirects."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from gateway.tools.research import robots
from gateway.tools.research.addresses import NamedHosts, not_public, target
from gateway.tools.research.freshness import Validators, fresh_s, retry_after_s, validators
from gateway.tools.research.site import REDIRECTS, NotFetched, Reply, Site

if TYPE_CHECKING:
    from aiohttp.abc import AbstractResolver
    from yarl import URL

MAX_BYTES = 5_000_000  # of one page, decompressed
MAX_REDIRECTS = 5
PER_HOST = 4  # requests to one site at once
TIMEOUT_S = 15.0  # for one page with its redirects, from when the site has a slot for it
ROBOTS_S = 5.0
HTML = frozenset({"text/html", "application/xhtml+xml"})
PDF = "application/pdf"
_NO_TEXT = frozenset({"text/css", "text/javascript", "text/event-stream"})


@dataclass(frozen=True)
class Fetched:
    """A page as it came. `source` is its final address; `kind` the content type without parameters, empty where the
    site gave none; `charset` what the site says. `fresh_s` is None where the page may not be kept. `unchanged`: it is
    still what the validators stand for, and has no `body`."""

    source: str
    kind: str = ""
    charset: str = ""
    body: bytes = b""
    validators: Validators = field(default_factory=Validators)
    fresh_s: float | None = 0.0
    unchanged: bool = False


class Fetcher:
    """Used as `async with`. `denied` tells of an address, in the form that `target` gives it, whether the configuration
    forbids to visit it. `judge`, `resolver` and `ssl` are what tests replace; see Site."""

    def __init__(
        self,
        allow_hosts: Iterable[str] = (),
        *,
        timeout_s: float = TIMEOUT_S,
        respect_robots: bool = True,
        per_host: int = PER_HOST,
        denied: Callable[[str], bool] = lambda url: False,
        judge: Callable[[str], str] = not_public,
        resolver: AbstractResolver | None = None,
        ssl: Any = True,
    ) -> None:
        self._named = NamedHosts(allow_hosts)
        self._timeout_s = timeout_s
        self._per_host = per_host
        self._denied = denied
        self._judge = judge
        self._resolver = resolver
        self._ssl = ssl
        self._sites: dict[URL, Site] = {}
        self._robots = robots.Robots(self._get_robots) if respect_robots else None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._robots:
            await self._robots.close()
        for each in self._sites.values():
            await each.close()

    async def fetch(self, url: str, known: tuple[str, Validators] | None = None) -> Fetched:
        """The page at `url`, in whatever way the site names it; `known` is the final address and the validators of what
        is there already. ToolError says why there is none (NotFetched, and whether the site is down)."""
        place, asked = known or ("", Validators())

        def questions(at: URL) -> Mapping[str, str]:
            return asked.questions() if str(at) == place else {}

        source, reply = await self._follow(
            self._allowed(target(url)), questions, limit=MAX_BYTES, timeout_s=self._timeout_s, wanted=_is_readable
        )
        if reply.status == 304 and str(source) == place:
            return Fetched(place, validators=validators(reply.headers), fresh_s=fresh_s(reply.headers), unchanged=True)
        if reply.status != 200:
            raise _bad_status(source, reply)
        if not _is_readable(reply):
            raise NotFetched(f"{source} is {_kind(reply)}, not a page with text")
        if len(reply.body) > MAX_BYTES:
            raise NotFetched(f"{source} is larger than {MAX_BYTES // 1_000_000} MB")
        return Fetched(
            str(source), _kind(reply), _charset(reply), reply.body, validators(reply.headers), fresh_s(reply.headers)
        )

    async def _follow(
        self,
        url: URL,
        questions: Callable[[URL], Mapping[str, str]],
        *,
        limit: int,
        timeout_s: float,
        wanted: Callable[[Reply], bool],
        obey: bool = True,
    ) -> tuple[URL, Reply]:
        """The first reply that is no redirect, and where it came from. Each step is checked like the first."""
        left = timeout_s
        for _ in range(MAX_REDIRECTS + 1):
            if obey and self._robots:
                await self._robots.check(url)
            site = self._site(url)
            async with site.slots:
                began = asyncio.get_running_loop().time()
                reply = await self._patient(site, url, questions(url), limit=limit, timeout_s=left, wanted=wanted)
                left -= asyncio.get_running_loop().time() - began
            if reply.status not in REDIRECTS or "Location" not in reply.headers:
                return url, reply
            url = self._allowed(target(reply.headers["Location"], url))
        raise NotFetched(f"{url.host} redirects more than {MAX_REDIRECTS} times")

    def _allowed(self, url: URL) -> URL:
        if self._denied(str(url)):
            hint = "see tools.deny and tools.policy in the configuration"
            raise NotFetched(f"the configuration denies internet.visit {url}", hint=hint)
        return url

    async def _patient(
        self,
        site: Site,
        url: URL,
        headers: Mapping[str, str],
        *,
        limit: int,
        timeout_s: float,
        wanted: Callable[[Reply], bool],
    ) -> Reply:
        """One reply within the time; asked for once more where the site wants that, and there is time for it."""
        ends = asyncio.get_running_loop().time() + timeout_s
        try:
            async with asyncio.timeout_at(ends):
                reply = await site.get(url, headers, limit=limit, wanted=wanted)
                pause = retry_after_s(reply.headers) if reply.status in (429, 503) else None
                if pause is not None and asyncio.get_running_loop().time() + pause < ends:
                    await asyncio.sleep(pause)
                    reply = await site.get(url, headers, limit=limit, wanted=wanted)
                return reply
        except TimeoutError:
            hint = "research.page_timeout_s says how long is waited"
            raise NotFetched(f"{url} did not come in time", hint=hint, down=True) from None

    async def _get_robots(self, url: URL) -> tuple[int, bytes]:
        _, reply = await self._follow(
            url,
            lambda at: {},
            limit=robots.MAX_BYTES,
            timeout_s=min(ROBOTS_S, self._timeout_s),
            wanted=lambda reply: reply.status == 200,
            obey=False,
        )
        return reply.status, reply.body

    def _site(self, url: URL) -> Site:
        origin = url.origin()
        if origin not in self._sites:
            self._sites[origin] = Site(
                origin,
                named=url in self._named,
                slots=self._per_host,
                judge=self._judge,
                resolver=self._resolver,
                ssl=self._ssl,
            )
        return self._sites[origin]


def _kind(reply: Reply) -> str:
    return reply.headers.get("Content-Type", "").partition(";")[0].strip().lower()


def _charset(reply: Reply) -> str:
    from aiohttp.helpers import parse_mimetype

    return parse_mimetype(reply.headers.get("Content-Type", "")).parameters.get("charset", "")


def _is_readable(reply: Reply) -> bool:
    """Whether the body is worth reading: a page, by what the site says it is. Nothing said: its bytes will tell."""
    kind = _kind(reply)
    text = kind.startswith("text/") and kind not in _NO_TEXT
    return reply.status == 200 and (not kind or kind in HTML or kind == PDF or text)


def _bad_status(url: URL, reply: Reply) -> NotFetched:
    pause = retry_after_s(reply.headers)
    wait = f", and asks to wait {pause:.0f} s" if pause is not None else ""
    return NotFetched(f"{url} answered {reply.status}{wait}", down=reply.status >= 500 or reply.status == 429)
