"""The memory's tools: what was worth remembering, in every session of one home."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, Field

from gateway.engine.ports import Effect
from gateway.errors import NotNow, ToolError
from gateway.tools.code.write_brief import fact_brief
from gateway.tools.memories import Memories, Memory, unknown
from gateway.tools.registry import Schema, Situation, ToolContext, ToolResult, Touches, tool
from gateway.tools.told import told_fact
from gateway.tools.workspace import sha256

MAX_FOUND = 5
MAX_CHOICES = 20  # memories that a model may choose from
CHOICE = 200  # characters of each of them that it is shown
OWN_WORDS = 300  # characters of a request that is remembered as it stands
MAX_SAVED = 4_000  # characters of one memory
KEY = "the key of the memory: `echelon memory list` shows it, and memory.search has it in its data"
HERE = "this"  # the session that the turn is in


class SaveArgs(BaseModel):
    text: str = Field(max_length=MAX_SAVED, description="what to remember: one whole sentence that makes sense alone")
    key: str | None = Field(None, max_length=100, description="a name for it; saving under it again replaces it")


class SearchArgs(BaseModel):
    query: str = Field(description="a few words about what is looked for", json_schema_extra={"maxLength": 200})
    session: str | None = Field(
        None, max_length=100, description=f'only what was said in this session: its name, or "{HERE}"; default: all'
    )


class UpdateArgs(BaseModel):
    key: str = Field(max_length=100, description=KEY)
    text: str = Field(max_length=MAX_SAVED, description="what to remember instead: one whole sentence")


class ForgetArgs(BaseModel):
    key: str = Field(max_length=100, description=KEY)


def _narrow_save(schema: Schema, ctx: ToolContext, situation: Situation) -> Schema:
    """To the text alone: a key that a small model makes up would replace the wrong memory one day. And, where they are
    few and about nothing else, to the user's own words: nothing is lost in retelling. Where a goal says the fact itself
    ("remember that …"), that is it; else it has to be put into words from what was found."""
    if situation.whole and len(situation.request) <= OWN_WORDS:
        return {**schema, "properties": {"text": {"const": situation.request}}}
    told = [fact for goal in situation.goals if (fact := told_fact(goal))]
    if len(told) == len(situation.goals) > 0:
        facts = " ".join(f"{fact[:1].upper()}{fact[1:]}." for fact in told)
        return {**schema, "properties": {"text": {"const": facts}}}
    text = {"type": "string", "contentMediaType": "text/plain", "description": fact_brief(situation)}
    return {**schema, "properties": {"text": text}}


def _narrow_search(schema: Schema, ctx: ToolContext, situation: Situation) -> Schema:
    """To the query alone: what is remembered is wanted, wherever it was said."""
    return {**schema, "properties": {"query": schema["properties"]["query"]}}


def _narrow_key(schema: Schema, ctx: ToolContext, situation: Situation) -> Schema:
    """The key to those of the memories that this task has seen, each with its text: what was not looked at can be
    neither changed nor forgotten."""
    seen = _seen(situation)
    if not seen:
        raise NotNow("no memory was found in this task yet", hint="memory.search first")
    shown = "; ".join(f"{key}: {_short(text)}" for key, text in seen.items())
    key = {"type": "string", "enum": list(seen), "description": f"which memory, by its key ({shown})"}
    return {**schema, "properties": {**schema["properties"], "key": key}}


def _narrow_update(schema: Schema, ctx: ToolContext, situation: Situation) -> Schema:
    narrowed = _narrow_key(schema, ctx, situation)
    text = {"type": "string", "contentMediaType": "text/plain", "description": fact_brief(situation)}
    return {**narrowed, "properties": {**narrowed["properties"], "text": text}}


def _seen(situation: Situation) -> dict[str, str]:
    """Texts by key, the latest search first; without what was forgotten since."""
    seen: dict[str, str] = {}
    gone = {
        str(each["args"].get("key")) for each in situation.results if each["tool"] == "memory.forget" and each["ok"]
    }
    for result in reversed((*situation.earlier, *situation.results)):
        if result["tool"] == "memory.search" and result["ok"]:
            for each in result["data"].get("memories", ()):
                seen.setdefault(str(each["key"]), str(each["text"]))
    return {key: text for key, text in list(seen.items())[:MAX_CHOICES] if key not in gone}


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= CHOICE else f"{flat[:CHOICE]} […]"


def _subject_key(args: UpdateArgs | ForgetArgs, ctx: ToolContext) -> str:
    return args.key.strip()


@tool(
    "memory.save",
    effect=Effect.IDEMPOTENT,
    touches=(Touches.HOME,),
    subject=lambda args, ctx: args.text.strip(),
    narrow=_narrow_save,
)
async def memory_save(args: SaveArgs, ctx: ToolContext) -> ToolResult:
    """Remember something for later turns and sessions.

    data: {key, changed: what, for people}. Without a key, the text's hash is it: the same text is remembered once.
    """
    text = _given(args.text)
    where: dict[str, Any] = {"session": ctx.session, "turn": ctx.turn, "now": ctx.now}
    named, hashed = (args.key or "").strip() or None, sha256(text.encode())[:16]
    key = await asyncio.to_thread(Memories(ctx.home).save, named, text, **where, otherwise=hashed)
    said = f"remembered: {text}"
    return ToolResult(text=said, data={"key": key, "changed": said})


@tool(
    "memory.search",
    effect=Effect.READ,
    touches=(Touches.HOME,),
    subject=lambda args, ctx: args.query.strip(),
    narrow=_narrow_search,
)
async def memory_search(args: SearchArgs, ctx: ToolContext) -> ToolResult:
    """Look for something that was remembered in this or an earlier session.

    data: {memories: [{key, text, session, turn, date: YYYY-MM-DD, updated: YYYY-MM-DD or null}]}, the best first, at
    most five; ok also if none is found.
    """
    session = ctx.session if args.session == HERE else args.session
    found = await asyncio.to_thread(Memories(ctx.home).search, args.query, session=session, limit=MAX_FOUND)
    text = "\n".join(f"{number}. {line_of(each)}" for number, each in enumerate(found, 1))
    return ToolResult(
        text=text or "nothing is remembered about that", data={"memories": [_data(each) for each in found]}
    )


@tool(
    "memory.update",
    effect=Effect.IDEMPOTENT,
    touches=(Touches.HOME,),
    subject=_subject_key,
    narrow=_narrow_update,
)
async def memory_update(args: UpdateArgs, ctx: ToolContext) -> ToolResult:
    """Correct something that is remembered: another text takes the place of the one that memory.search found.

    data: {key, changed: what, for people}. When and where it was first said stays; the former text is not kept.
    """
    text, key = _given(args.text), args.key.strip()
    where: dict[str, Any] = {"session": ctx.session, "turn": ctx.turn, "now": ctx.now}
    await asyncio.to_thread(Memories(ctx.home).update, key, text, **where)
    said = f"remembered instead: {text}"
    return ToolResult(text=said, data={"key": key, "changed": said})


async def _what_goes(args: ForgetArgs, ctx: ToolContext) -> str:
    found = {each.key: each.text for each in await asyncio.to_thread(Memories(ctx.home).all)}
    key = args.key.strip()
    if key not in found:
        raise unknown(key)
    return f"It says: {found[key]}"


@tool(
    "memory.forget",
    effect=Effect.IDEMPOTENT,
    touches=(Touches.HOME,),
    ask=True,  # it cannot be taken back, and the model may have chosen the wrong one
    subject=_subject_key,
    preview=_what_goes,
    narrow=_narrow_key,
)
async def memory_forget(args: ForgetArgs, ctx: ToolContext) -> ToolResult:
    """Forget something that is remembered, for good.

    data: {key, changed: what, for people}. What is forgotten is erased from the record of the turns, too, once they
    have ended; so the result does not say it again. Forgetting twice is forgetting once.
    """
    key = args.key.strip()
    found = await asyncio.to_thread(Memories(ctx.home).forget, key)
    where = f" (said in session {found.session}, turn {found.turn}, {day(found.saved_at)})" if found else ""
    said = f"one memory is forgotten{where}"
    return ToolResult(text=said, data={"key": key, "changed": said})


def line_of(memory: Memory) -> str:
    """A memory with its origin, on a line."""
    updated = f", updated {day(memory.updated_at)}" if memory.updated_at is not None else ""
    return f"{memory.text} (session {memory.session}, turn {memory.turn}, {day(memory.saved_at)}{updated})"


def day(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"


def _data(memory: Memory) -> Mapping[str, Any]:
    return {
        "key": memory.key,
        "text": memory.text,
        "session": memory.session,
        "turn": memory.turn,
        "date": day(memory.saved_at),
        "updated": None if memory.updated_at is None else day(memory.updated_at),
    }


def _given(text: str) -> str:
    if not text.strip():
        raise ToolError("there is nothing to remember: text is empty")
    return text.strip()
