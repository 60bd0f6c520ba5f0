"""internet.research: what documents and pages of the web say about a question, in their own words."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from gateway.config import Research
from gateway.engine.ports import Effect, Json
from gateway.errors import ToolError
from gateway.tools.builtin.visit import visit_denied
from gateway.tools.registry import ToolContext, ToolResult, Touches, tool
from gateway.tools.research.addresses import addresses_in
from gateway.tools.research.visit import research_settings, visit

if TYPE_CHECKING:
    from gateway.tools.research.providers import Provider
    from gateway.tools.research.quoting import Quote

MAX_UNREAD = 20  # sources that could not be read, in the result's data
SHOWN_UNREAD = 3  # and in its text
NAMED = "request"  # in place of a provider's name: the pages were named
FEWEST_HITS = 10  # asked of a provider, of which those are dropped that are one page


class ResearchArgs(BaseModel):
    query: str = Field(description="the topic, in the words of the request", json_schema_extra={"maxLength": 200})


class Found(BaseModel):
    """A passage that was found: `quote` stands in the source letter for letter; `code` is the code example in it, if it
    has one; `source` is the document's path in the corpus, or its address, with the anchor; `date` is YYYY-MM-DD where
    the source says one."""

    title: str
    source: str
    heading: str
    quote: str
    code: str = ""
    date: str = ""


class Unread(BaseModel):
    """A document or page that was found and could not be read."""

    source: str
    problem: str


@tool("internet.research", effect=Effect.READ, deadline_s=180, touches=(Touches.NETWORK,))
async def internet_research(args: ResearchArgs, ctx: ToolContext) -> ToolResult:
    """Look something up in the documents, or in the web, and get the passages that explain it, with their sources.

    data: {passages: [{title, source, heading, quote, code, date}], provider, unread: [{source, problem}]}; passages are
    the best first, at most 4 from 3 documents. ok: something was found. The documents are the pages whose addresses the
    query names, else the configured folder's, else pages of the web. A folder is indexed when it is first used, which
    may take some seconds, and when it has changed.
    """
    section = ctx.settings.get("research") or {}
    settings = research_settings(section)
    if not args.query.strip():
        raise ToolError("the query is empty", hint="say what to look up")
    if named := addresses_in(args.query):
        return await _pages(_without(args.query, named), named, NAMED, section, ctx)
    if settings.provider == "corpus" or (settings.corpus_dir and settings.provider == "ddgs"):
        # the default provider, and a folder is named: that chooses the folder
        return await _in_corpus(args.query, settings.corpus_dir, ctx)
    return await _on_the_web(args.query, settings, section, ctx)


async def _in_corpus(query: str, folder: Path | None, ctx: ToolContext) -> ToolResult:
    if folder is None:
        raise ToolError(
            "no documents are configured to do research in",
            hint="set research.corpus_dir (ECHELON_RESEARCH__CORPUS_DIR) to a folder with HTML, Markdown, text or PDF "
            "files",
        )
    stopped = threading.Event()
    try:
        found, unread = await asyncio.to_thread(_searched, folder, query, ctx, stopped)
    finally:
        stopped.set()
    if not found:
        return _nothing("corpus", f"the documents say nothing about {query!r}: try other words", unread)
    return _told("corpus", found, unread, [])


def _searched(folder: Path, query: str, ctx: ToolContext, stopped: threading.Event) -> tuple[list[Found], list[Unread]]:
    from gateway.tools.research.corpus import Corpus

    def progress(done: int, total: int) -> None:
        if stopped.is_set():  # the call's deadline: what has been indexed stays, the next call goes on from there
            raise ToolError(f"stopped after {done} of {total} documents")
        ctx.progress(f"{done} of {total} documents are indexed")

    corpus = Corpus(folder.expanduser(), ctx.home / "corpus")
    corpus.update(progress)
    unread = [Unread(source=path, problem=problem) for path, problem in sorted(corpus.unread.items())]
    return [_found(each) for each in corpus.search(query)], unread


async def _on_the_web(query: str, settings: Research, section: Json, ctx: ToolContext) -> ToolResult:
    from gateway.tools.research.providers import distinct

    hits = await _provider(settings).search(query, max(FEWEST_HITS, 2 * settings.max_pages))
    urls = [each.url for each in distinct(hits)][: settings.max_pages]
    if not urls:
        return _nothing(settings.provider, f"the search found nothing about {query!r}: try other words", [])
    return await _pages(query, urls, settings.provider, section, ctx)


async def _pages(query: str, urls: list[str], provider: str, section: Json, ctx: ToolContext) -> ToolResult:
    """What pages say about the query; those that the request names are wanted whatever they say."""
    from gateway.tools.research.select import select

    visited = await visit(urls, section, ctx.home, now=ctx.now, denied=visit_denied(ctx))
    unread = [Unread(source=each.url, problem=each.problem) for each in visited if each.page is None]
    if len(unread) == len(urls):
        raise ToolError(
            f"none of the pages ({len(urls)}) could be read: {_listed(unread)}",
            hint="try other words; research.allow_hosts names hosts that are not public",
        )
    anyway = provider == NAMED
    found = [_found(each) for each in await asyncio.to_thread(select, query, visited, anyway=anyway)]
    if not found:
        return _nothing(provider, f"the pages say nothing about {query!r}: try other words", unread)
    return _told(provider, found, unread, unread)


def _without(query: str, addresses: Sequence[str]) -> str:
    for each in addresses:
        query = query.replace(each, " ")
    return " ".join(query.split())


def _provider(settings: Research) -> Provider:
    if settings.provider == "ddgs":
        from gateway.tools.research.ddgs import Ddgs

        return Ddgs()
    if not settings.searxng_url:
        raise ToolError(
            "no SearXNG instance is configured to search with",
            hint="set research.searxng_url (ECHELON_RESEARCH__SEARXNG_URL), or research.corpus_dir to a folder with "
            "documents",
        )
    from gateway.tools.research.searxng import Searxng

    return Searxng(settings.searxng_url, settings.page_timeout_s)


def _found(quote: Quote) -> Found:
    return Found(
        title=quote.title,
        source=quote.source,
        heading=quote.heading,
        quote=quote.text,
        code=quote.code,
        date=quote.date,
    )


def _told(provider: str, found: Sequence[Found], unread: Sequence[Unread], said: Sequence[Unread]) -> ToolResult:
    """The passages as text and data; of what could not be read, `said` is told in the text."""
    lines = []
    for number, each in enumerate(found, 1):
        date = f" · {each.date}" if each.date else ""
        lines += [f"[{number}] {each.title} · {each.heading}", f"source: {each.source}{date}", each.quote, ""]
    if said:
        lines.append(f"could not be read: {_listed(said)}")
    return ToolResult(text="\n".join(lines).rstrip(), data=_data(provider, found, unread))


def _nothing(provider: str, said: str, unread: Sequence[Unread]) -> ToolResult:
    text = f"{said}\ncould not be read: {_listed(unread)}" if unread else said
    return ToolResult(ok=False, text=text, data=_data(provider, [], unread))


def _data(provider: str, found: Sequence[Found], unread: Sequence[Unread]) -> dict[str, Json]:
    return {
        "passages": [each.model_dump() for each in found],
        "provider": provider,
        "unread": [each.model_dump() for each in unread[:MAX_UNREAD]],
    }


def _listed(unread: Sequence[Unread]) -> str:
    """In one line."""
    shown = [f"{each.source} ({' '.join(each.problem.split())})" for each in unread[:SHOWN_UNREAD]]
    more = [f"and {len(unread) - SHOWN_UNREAD} more"] if len(unread) > SHOWN_UNREAD else []
    return "; ".join([*shown, *more])
