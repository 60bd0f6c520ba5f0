"""Pages of the web, visited: fetched or taken from the cache, and cut into passages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pydantic import ValidationError

from gateway.config import Research
from gateway.engine.ports import Json
from gateway.errors import ToolError
from gateway.tools.research.addresses import target
from gateway.tools.research.extract import Extracted
from gateway.tools.research.fetcher import Fetched, Fetcher
from gateway.tools.research.pages import Page
from gateway.tools.research.readers import Readers, extracted
from gateway.tools.research.site import NotFetched
from gateway.tools.research.visited import Entry, VisitedPages

DATABASE = "visited.db"  # in the home


@dataclass(frozen=True)
class Visited:
    """A page that was visited.

    `url` is the address that was asked for, `source` the final one, after redirects; `date` is YYYY-MM-DD or empty.
    `page` has its passages, `letters` all of its letters without white space, in which every quote must stand.
    `problem` says why there is no page; where there is one, that it may be outdated.
    """

    url: str
    source: str
    title: str
    date: str
    page: Page | None
    letters: str
    problem: str = ""
    from_cache: bool = False


def research_settings(section: Mapping[str, Json]) -> Research:
    """The configuration's section `research` from plain data; ToolError where it cannot be used."""
    try:
        return Research.model_validate(dict(section))
    except ValidationError as error:
        raise ToolError(f"the configuration of research is wrong: {error.errors()[0]['msg']}") from error


async def visit(
    urls: Sequence[str],
    settings: Mapping[str, Json],
    home: Path,
    *,
    now: float,
    denied: Callable[[str], bool] = lambda url: False,
) -> list[Visited]:
    """The pages in the order of `urls`; `settings` is the configuration's section `research`. What is `denied` is not
    visited, also where a page leads there. Raises for no page, only for a configuration that cannot be used."""
    section = research_settings(settings)
    cache = VisitedPages(home / DATABASE)
    known = await asyncio.to_thread(cache.find, {url for url in urls if _is_address(url)})
    fetcher = Fetcher(
        section.allow_hosts, timeout_s=section.page_timeout_s, respect_robots=section.respect_robots, denied=denied
    )
    async with fetcher, Readers() as readers:
        visits = {
            url: _Visit(url, _unless_denied(known.get(url), denied), fetcher, readers, now)
            for url in dict.fromkeys(urls)
        }
        done = dict(zip(visits, await asyncio.gather(*(each.run() for each in visits.values())), strict=True))
    kept = [each.kept for each in visits.values() if each.kept]
    gone = [each.url for each in visits.values() if each.gone]
    if kept or gone:
        await asyncio.to_thread(cache.keep, kept, gone, now=now)
    return [done[url] for url in urls]


@dataclass
class _Visit:
    """One page. Afterwards `kept` is what the cache is to keep, and `gone` whether it is to forget the page."""

    url: str
    known: Entry | None
    fetcher: Fetcher
    readers: Readers
    now: float
    kept: Entry | None = None
    gone: bool = False

    async def run(self) -> Visited:
        try:
            found = await self._understood()
            if self.known and found and self.known.fresh_until > self.now:
                self.kept = self.known
                return self._shown(self.known, found, from_cache=True)
            return await self._fetched(found)
        except ToolError as error:
            return self._none(_said(error))
        except Exception as error:  # whatever is odd about a page, the other pages are not lost by it
            self.kept = None
            said = f"{type(error).__name__}: {error}".encode(errors="backslashreplace").decode()
            return self._none(f"it cannot be read: {' '.join(said.split())[:200]}")

    def _none(self, problem: str) -> Visited:
        return Visited(self.url, self.url, "", "", None, "", problem)

    async def _understood(self) -> Extracted | None:
        """What is kept of the page; forgotten where another version kept it in another form."""
        if self.known is None:
            return None
        try:
            return await asyncio.to_thread(extracted, self.known.document)
        except ValueError:
            self.known = None
            return None

    async def _fetched(self, found: Extracted | None) -> Visited:
        known = self.known
        try:
            came = await self.fetcher.fetch(self.url, (known.source, known.validators) if known else None)
        except NotFetched as error:
            if known is None or found is None or not error.down:
                self.gone = known is not None
                raise
            day = datetime.fromtimestamp(known.fetched_at, UTC).date().isoformat()
            shown = self._shown(known, found, from_cache=True)
            return replace(shown, problem=f"this is a copy of {day}: {error}")
        if came.unchanged and known and found:
            said = came.validators if came.validators.questions() else known.validators
            self._keep(came, replace(known, validators=said))
            return self._shown(known, found, from_cache=True)
        try:
            document = await self.readers.read(came)
        except ToolError as error:
            raise ToolError(f"{came.source} cannot be read: {error}") from error
        entry = Entry(self.url, came.source, came.validators, self.now, self.now, document)
        self._keep(came, entry)
        return self._shown(entry, await asyncio.to_thread(extracted, document), from_cache=False)

    def _keep(self, came: Fetched, entry: Entry) -> None:
        """A page that another address led to is asked for each time: it may lead elsewhere now."""
        if came.fresh_s is None:
            self.gone = self.known is not None
            return
        fresh_s = came.fresh_s if str(target(self.url)) == came.source else 0
        self.kept = replace(entry, fetched_at=self.now, fresh_until=self.now + fresh_s)

    def _shown(self, entry: Entry, found: Extracted, *, from_cache: bool) -> Visited:
        title = found.title or _name(entry.source)
        return Visited(self.url, entry.source, title, found.date, found.page, found.letters, from_cache=from_cache)


def _is_address(url: str) -> bool:
    try:
        target(url)
    except ToolError:
        return False
    return True


def _unless_denied(known: Entry | None, denied: Callable[[str], bool]) -> Entry | None:
    """What was kept before the configuration denied it is not shown any more."""
    return None if known and (denied(str(target(known.url))) or denied(known.source)) else known


def _name(source: str) -> str:
    """What a page without a title is called: the last part of its path, else its host."""
    parts = urlsplit(source)
    return unquote(parts.path.rstrip("/").rpartition("/")[2]) or parts.netloc


def _said(error: ToolError) -> str:
    return f"{error} ({error.hint})" if error.hint else str(error)
