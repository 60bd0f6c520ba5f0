"""Which tools a model is offered where a pattern allows more of them than a small model chooses well among."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing

from gateway.tools.fulltext import TOKENIZE, any_of, terms
from gateway.tools.registry import Tool, Touches

OFFERED = 12
# What most tasks begin with: it fills the places for which nothing speaks.
USUAL = (
    *("file.list", "file.read", "file.search", "file.write", "file.edit", "internet.research", "memory.search"),
    *("skill.read", "shell.run", "test.run"),
)
PHONE = re.compile(
    r"\b(?:(?:smart|cell)?phones?(?!\s+(?:number|book|bill))|androids?|(?-i:Handys?)|smartphone\w*|téléphones?|teléfonos?"
    r"|móvil\w*|celular\w*)\b|手机|手機|スマホ|携帯",
    re.IGNORECASE,
)


def shortlist(tools: Sequence[Tool], wanted: str, limit: int = OFFERED) -> list[str]:
    """Names of at most `limit` tools, sorted: those that the text names, then those whose name, description and
    arguments it has words of (BM25), then the usual ones. The same for the same text, so that prompts keep their
    beginning. The phone's tools are offered among others only where the text speaks of a phone: words such as "type",
    "press" and "app" stand in many requests.
    """
    phones = [each.name for each in tools if Touches.PHONE in each.touches]
    if not PHONE.search(wanted):
        tools, phones = [each for each in tools if each.name not in phones] or tools, []
    if len(tools) <= limit:
        return sorted(tool.name for tool in tools)
    names = [tool.name for tool in tools]
    ranked = [*(name for name in names if _names(wanted, name)), *_matching(tools, wanted)]
    ranked += [*phones, *(name for name in USUAL if name in names), *names]
    return sorted(list(dict.fromkeys(ranked))[:limit])


def _names(text: str, tool: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(tool)}(?![\w.]*\w)", text) is not None


def _matching(tools: Sequence[Tool], wanted: str) -> list[str]:
    """By how much they have in common with the text, the most first."""
    words = terms(wanted)
    if not words:
        return []
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"CREATE VIRTUAL TABLE tools USING fts5(name, words, said, args, tokenize='{TOKENIZE}')")
        rows = []
        for tool in tools:
            properties = tool.schema().get("properties", {})
            args = " ".join(f"{_apart(key)} {each.get('description', '')}" for key, each in properties.items())
            rows.append((tool.name, _apart(tool.name), tool.description, args))
        database.executemany("INSERT INTO tools VALUES (?, ?, ?, ?)", rows)
        found = database.execute(
            "SELECT name FROM tools WHERE tools MATCH ? ORDER BY bm25(tools, 0, 4, 3, 1), rowid",
            (f"{{words said args}} : ({any_of(words)})",),
        )
        return [name for (name,) in found]


def _apart(name: str) -> str:
    """`get_currentTime` as words."""
    return re.sub(r"[._-]|(?<=[a-z])(?=[A-Z])", " ", name)
