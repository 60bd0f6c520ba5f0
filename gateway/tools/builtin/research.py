"""internet.research: what documents say about a question, in their own words."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pydantic import BaseModel, Field

from gateway.engine.ports import Effect
from gateway.errors import ToolError
from gateway.tools.registry import ToolContext, ToolResult, tool

MAX_QUOTED = 2_200  # characters of all quotes together


class ResearchArgs(BaseModel):
    query: str = Field(description="the topic, in the words of the request", json_schema_extra={"maxLength": 200})


class Found(BaseModel):
    """A passage that was found: `quote` stands in the source letter for letter; `code` is the code example in it, if it
    has one; `source` is the document's path in the corpus, with the anchor."""

    title: str
    source: str
    heading: str
    quote: str
    code: str = ""


@tool("internet.research", effect=Effect.READ, deadline_s=180)
async def internet_research(args: ResearchArgs, ctx: ToolContext) -> ToolResult:
    """Look something up in the documents and get the passages that explain it, with their sources.

    data: {passages: [{title, source, heading, quote, code}]}, the best first, at most 4 from 3 documents. ok: something
    was found. The corpus is indexed when it is first used, which may take some seconds, and when it has changed.
    """
    settings = ctx.settings.get("research") or {}
    folder = settings.get("corpus_dir")
    provider = settings.get("provider") or "corpus"
    if provider != "corpus" and not (folder and provider == "ddgs"):  # the default: naming a folder chooses the folder
        raise ToolError(
            f"the research provider {provider} is not available",
            hint="set research.provider to corpus, and research.corpus_dir to a folder with documents",
        )
    if not folder:
        raise ToolError(
            "no documents are configured to do research in",
            hint="set research.corpus_dir (ECHELON_RESEARCH__CORPUS_DIR) to a folder with HTML, Markdown or text files",
        )
    found = await asyncio.to_thread(_search, folder, ctx.home / "corpus", args.query)
    if not found:
        return ToolResult(
            ok=False, text=f"the documents say nothing about {args.query!r}: try other words", data={"passages": []}
        )
    lines = []
    for number, each in enumerate(found, 1):
        lines += [f"[{number}] {each.title} · {each.heading}", f"source: {each.source}", each.quote, ""]
    return ToolResult(text="\n".join(lines).rstrip(), data={"passages": [each.model_dump() for each in found]})


def _search(folder: str, index: Path, query: str) -> list[Found]:
    from gateway.tools.research.corpus import Corpus

    corpus = Corpus(Path(folder).expanduser(), index)
    corpus.update()
    found: list[Found] = []
    room = MAX_QUOTED
    for each in corpus.search(query):
        if len(each.text) <= room:
            room -= len(each.text)
            found.append(
                Found(title=each.title, source=each.source, heading=each.heading, quote=each.text, code=each.code)
            )
    return found
