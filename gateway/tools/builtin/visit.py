"""internet.visit: one page of the web, read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import BaseModel, Field

from gateway.engine.ports import Effect
from gateway.errors import NotNow, ToolError
from gateway.tools.policy import Policy, Verdict
from gateway.tools.registry import Schema, Situation, ToolContext, ToolResult, Touches, tool
from gateway.tools.research.addresses import addresses_in, target
from gateway.tools.research.visit import visit

MAX_TEXT = 12_000  # characters of one call


class VisitArgs(BaseModel):
    url: str = Field(description="address of the page or PDF, with http:// or https://")
    passage: Annotated[int, Field(ge=1)] = Field(1, description="number of the passage to read from")


def _subject(args: VisitArgs, ctx: ToolContext) -> str:
    """The address as it is asked for: `HTTP://Example.com/a/../b` and `http://example.com/b` are one."""
    try:
        return str(target(args.url))
    except ToolError:
        return args.url


def _narrow(schema: Schema, ctx: ToolContext, situation: Situation) -> Schema:
    """To the addresses that the user has named; where something was read already, else to those that were found: a page
    must not make one up, which could carry off what was read."""
    named = addresses_in(situation.request)
    read = [each for each in (*situation.earlier, *situation.results) if each["tool"].startswith(("internet.", "mcp."))]
    found = [passage["source"] for each in read for passage in each["data"].get("passages", ()) if "source" in passage]
    offered = named or list(dict.fromkeys(each for each in found if each.startswith(("http://", "https://"))))
    if not offered and not read:
        return schema
    if not offered:
        raise NotNow("no address is known that could be visited", hint="name one in the request")
    url = {**schema["properties"]["url"], "enum": offered}
    return {**schema, "properties": {**schema["properties"], "url": url}}


@tool(
    "internet.visit",
    effect=Effect.READ,
    deadline_s=60,
    touches=(Touches.NETWORK, Touches.HOME),
    subject=_subject,
    narrow=_narrow,
)
async def internet_visit(args: VisitArgs, ctx: ToolContext) -> ToolResult:
    """Read one page or PDF of the web whose address is known.

    data: {source: final address, title, date: YYYY-MM-DD or "", passages: [{title, source, heading, quote, code}],
    total: how many passages the page has, next: number of the first that was left out, or null, note: what is to be
    known about it}. Quotes are the page's, letter for letter. ok: there is a page.
    """
    section = ctx.settings.get("research") or {}
    (page,) = await visit([args.url], section, ctx.home, now=ctx.now, denied=visit_denied(ctx))
    if page.page is None:
        return ToolResult(ok=False, text=page.problem, data={"source": page.source, "passages": []})
    passages = page.page.passages
    if args.passage > len(passages):
        raise ToolError(f"{page.source} has {len(passages)} passages: there is none with the number {args.passage}")
    shown: list[dict[str, str]] = []
    lines = [page.title, f"source: {page.source}", *([f"date: {page.date}"] if page.date else [])]
    lines += [page.problem] if page.problem else []
    room = MAX_TEXT
    for number, each in enumerate(passages[args.passage - 1 :], args.passage):
        quote = "\n\n".join(block.text for block in each.blocks)
        if shown and len(quote) > room:
            lines += ["", f"… {len(passages) - number + 1} more passages; read on with passage={number}"]
            break
        quote = quote[:MAX_TEXT]
        room -= len(quote)
        heading = each.heading or page.title
        source = f"{page.source}#{each.anchor}" if each.anchor else page.source
        code = next((block.text for block in each.blocks if block.code), "")
        shown.append({"title": page.title, "source": source, "heading": heading, "quote": quote, "code": code})
        lines += ["", f"[{number}] {heading}", quote]
    after = args.passage + len(shown)
    data = {
        "source": page.source,
        "title": page.title,
        "date": page.date,
        "passages": shown,
        "total": len(passages),
        "next": after if after <= len(passages) else None,
        "note": page.problem,
    }
    return ToolResult(text="\n".join(lines), data=data)


def visit_denied(ctx: ToolContext) -> Callable[[str], bool]:
    """Whether the configuration denies internet.visit an address: this holds for whatever visits pages, and for where
    these lead."""
    policy = Policy(ctx.settings.get("tools", {}))
    return lambda url: policy.verdict(internet_visit, {"url": url}, ctx) is Verdict.DENY
