"""memory.save and memory.search: what was worth remembering, in every session of one home."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from gateway.engine.ports import Effect
from gateway.errors import ToolError
from gateway.tools.code.write_brief import fact_brief
from gateway.tools.fulltext import TOKENIZE, any_of, database, terms, transaction
from gateway.tools.registry import Schema, Situation, ToolContext, ToolResult, tool
from gateway.tools.workspace import sha256

MAX_FOUND = 5
OWN_WORDS = 300  # characters of a request that is remembered as it stands
MAX_SAVED = 4_000  # characters of one memory
# "remember that the key is under the pot", but not "remember the name of that function"
_TOLD = re.compile(
    r"(?:please )?(?:remember|note|keep|write|save|store|record)(?: (?:for later|in mind|down|the fact|this))*"
    r"(?: that |: ?)(\S+ .+?)[\s.!]*",
    re.IGNORECASE,
)
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS memories (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, text TEXT NOT NULL,
    session TEXT NOT NULL, turn INTEGER NOT NULL, saved_at REAL NOT NULL
);
CREATE VIRTUAL TABLE IF NOT EXISTS memories_text USING fts5(
    key, text, content='memories', content_rowid='id', tokenize='{TOKENIZE}'
);
CREATE TRIGGER IF NOT EXISTS memory_added AFTER INSERT ON memories BEGIN
    INSERT INTO memories_text(rowid, key, text) VALUES (new.id, new.key, new.text);
END;
CREATE TRIGGER IF NOT EXISTS memory_removed AFTER DELETE ON memories BEGIN
    INSERT INTO memories_text(memories_text, rowid, key, text) VALUES ('delete', old.id, old.key, old.text);
END;
"""


class SaveArgs(BaseModel):
    text: str = Field(max_length=MAX_SAVED, description="what to remember: one whole sentence that makes sense alone")
    key: str | None = Field(None, max_length=100, description="a name for it; saving under it again replaces it")


class SearchArgs(BaseModel):
    query: str = Field(description="a few words about what is looked for", json_schema_extra={"maxLength": 200})


def _narrow_save(schema: Schema, ctx: ToolContext, situation: Situation) -> Schema:
    """To the text alone: a key that a small model makes up would replace the wrong memory one day. And, where they are
    few and about nothing else, to the user's own words: nothing is lost in retelling. Where a goal says the fact itself
    ("remember that …"), that is it; else it has to be put into words from what was found."""
    if situation.whole and len(situation.request) <= OWN_WORDS:
        return {**schema, "properties": {"text": {"const": situation.request}}}
    told = [found[1] for goal in situation.goals if (found := _TOLD.fullmatch(goal))]
    if len(told) == len(situation.goals) > 0:
        facts = " ".join(f"{fact[:1].upper()}{fact[1:]}." for fact in told)
        return {**schema, "properties": {"text": {"const": facts}}}
    text = {"type": "string", "contentMediaType": "text/plain", "description": fact_brief(situation)}
    return {**schema, "properties": {"text": text}}


@tool("memory.save", effect=Effect.IDEMPOTENT, narrow=_narrow_save)
async def memory_save(args: SaveArgs, ctx: ToolContext) -> ToolResult:
    """Remember something for later turns and sessions.

    data: {key, changed: what, for people}. Without a key, the text's hash is it: the same text is remembered once.
    """
    text = args.text.strip()
    if not text:
        raise ToolError("there is nothing to remember: text is empty")
    key = (args.key or "").strip() or sha256(text.encode())[:16]
    await asyncio.to_thread(_save, ctx, key, text)
    said = f"remembered: {text}"
    return ToolResult(text=said, data={"key": key, "changed": said})


@tool("memory.search", effect=Effect.READ)
async def memory_search(args: SearchArgs, ctx: ToolContext) -> ToolResult:
    """Look for something that was remembered in this or an earlier session.

    data: {memories: [{key, text, session, turn, date: YYYY-MM-DD}]}, the best first, at most five;
    ok also if none is found.
    """
    found = await asyncio.to_thread(_search, ctx.home / "memory.db", args.query)
    lines = [f"{m['text']} (session {m['session']}, turn {m['turn']}, {m['date']})" for m in found]
    text = "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))
    return ToolResult(text=text or "nothing is remembered about that", data={"memories": found})


def _save(ctx: ToolContext, key: str, text: str) -> None:
    with database(ctx.home / "memory.db", _SCHEMA) as connection, transaction(connection):
        known = connection.execute("SELECT text FROM memories WHERE key = ?", (key,)).fetchone()
        if known == (text,):
            return  # the date of what is known already stays that of the first time
        connection.execute("DELETE FROM memories WHERE key = ?", (key,))
        connection.execute(
            "INSERT INTO memories (key, text, session, turn, saved_at) VALUES (?, ?, ?, ?, ?)",
            (key, text, ctx.session, ctx.turn, ctx.now),
        )


def _search(path: Path, query: str) -> list[dict[str, Any]]:
    words = terms(query)
    if not words or not path.exists():
        return []
    with database(path, _SCHEMA) as connection:
        rows = connection.execute(
            "SELECT m.key, m.text, m.session, m.turn, m.saved_at "
            "FROM memories_text JOIN memories AS m ON m.id = memories_text.rowid "
            "WHERE memories_text MATCH ? ORDER BY bm25(memories_text), m.saved_at DESC, m.id DESC LIMIT ?",
            (any_of(words), MAX_FOUND),
        ).fetchall()
    names = ("key", "text", "session", "turn", "date")
    return [dict(zip(names, (*row, f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"), strict=True)) for *row, at in rows]
