"""Quotes out of ranked passages: whole blocks that stand in their page letter for letter."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from gateway.tools.research.index import COLUMNS, Row
from gateway.tools.research.pages import Block, squeezed

MAX_PAGES = 3  # that one search quotes from
MAX_PASSAGES = 4
MAX_QUOTE = 600  # characters of one quote
MAX_QUOTED = 2_200  # characters of all quotes together
GAP = "[…]"  # stands in a quote for what is left out
SAME = 0.8  # of the shorter quote's groups of words in another one: a mirror, or an edition of the same text
_GROUP = 5  # words


@dataclass(frozen=True)
class Quote:
    """`text` is blocks of the page, letter for letter, with a blank line between them; `code` is the first of them that
    is a code example, or empty. `source` is the page's path in the corpus, or its address, and the anchor; `date` is
    YYYY-MM-DD where the page says one."""

    title: str
    source: str
    heading: str
    text: str
    code: str = ""
    date: str = ""


def quotes_of(connection: sqlite3.Connection, rows: Iterable[Row]) -> list[Quote]:
    """At most 4 quotes from at most 3 pages, in the order of `rows`, none of them twice."""
    quotes: list[Quote] = []
    told: set[tuple[str, str]] = set()
    pages: set[str] = set()
    for row in rows:
        if row.place in told or (row.path not in pages and len(pages) == MAX_PAGES):
            continue
        letters, date = connection.execute("SELECT letters, date FROM pages WHERE path = ?", (row.path,)).fetchone()
        found, used = _passage_quotes(row, _following(connection, row))
        told.update(each.place for each in used)
        for each in found:
            text = _as_it_stands(each.text, letters)
            if text is not None and not any(_same(text, known.text) for known in quotes):
                quotes.append(replace(each, text=text, date=date))
                pages.add(row.path)
        if len(quotes) >= MAX_PASSAGES:
            break
    return list(_within(quotes[:MAX_PASSAGES], MAX_QUOTED))


def _within(quotes: list[Quote], room: int) -> Iterator[Quote]:
    for each in quotes:
        if len(each.text) <= room:
            room -= len(each.text)
            yield each


def _following(connection: sqlite3.Connection, row: Row) -> list[Row]:
    """The passages after it that belong to it: those of its section, or with its signature if it has one."""
    same = "section" if row.heading == row.section else "anchor"
    query = f"SELECT {COLUMNS} FROM passages AS p WHERE path = ? AND {same} = ? AND id > ? ORDER BY id LIMIT 12"
    return [Row(*each) for each in connection.execute(query, (row.path, getattr(row, same), row.id))]


def _passage_quotes(row: Row, following: list[Row]) -> tuple[list[Quote], list[Row]]:
    """What the passage says, continued while there is room, and the first example after it; and the passages that were
    used."""
    passages = [row, *following]
    chosen = _fitting([each for passage in passages for each in passage.blocks])
    quotes = [_quote(row, chosen)]
    used, left = [row], len(chosen) - len(row.blocks)
    for passage in following:
        if left > 0:
            used.append(passage)
            left -= len(passage.blocks)
    if quotes[0].code:
        return quotes, used
    for passage in following:
        code = next((i for i, each in enumerate(passage.blocks) if each.code), None)
        if code is not None:
            introduced = code > 0 and passage.blocks[code - 1].text.endswith(":")
            quotes.append(_quote(passage, _fitting(passage.blocks[code - introduced :])))
            return quotes, [*used, passage]
    return quotes, used


def _fitting(blocks: list[Block]) -> list[Block]:
    """The first blocks that fit a quote; the first is cut at the end of a sentence or line if it does not."""
    chosen: list[Block] = []
    room = MAX_QUOTE
    for block in blocks:
        if len(block.text) > room:
            if not chosen or room > MAX_QUOTE // 3:
                chosen.append(_cut(block, room))
            break
        chosen.append(block)
        room -= len(block.text) + 2
    while len(chosen) > 1 and chosen[-1].text.endswith(":") and not chosen[-1].code:
        chosen.pop()  # it introduces what is not quoted
    return chosen


def _cut(block: Block, room: int) -> Block:
    text = block.text[:room]
    end = text.rfind("\n") if block.code else max(text.rfind(". ") + 1, text.rfind(".\n") + 1)
    if end < room // 3:
        end = text.rfind(" ")
    return Block(text[: end if end > 0 else room].rstrip(), block.code)


def _quote(row: Row, blocks: list[Block]) -> Quote:
    source = f"{row.path}#{row.anchor}" if row.anchor else row.path
    code = next((each.text for each in blocks if each.code), "")
    return Quote(row.title, source, row.heading or row.title, "\n\n".join(each.text for each in blocks), code)


def _as_it_stands(quote: str, page: str) -> str | None:
    """The quote with `[…]` where the page has more between two blocks, such as a note on versions; None where they do
    not stand in the page, letter for letter and in this order."""
    said: list[str] = []
    at = 0
    for block in quote.split("\n\n"):
        wanted = squeezed(block)
        found = page.find(wanted, at)
        if found < 0:
            return None
        left_out = re.sub(r"[`~]{3,}\w*|\W", "", page[at:found])  # a fence, or a list's marks, are not
        said += [GAP, block] if said and left_out else [block]
        at = found + len(wanted)
    return "\n\n".join(said)


def _same(text: str, other: str) -> bool:
    """Whether they say nearly the same: four of five groups of words of the shorter one stand in the longer."""
    ours, theirs = _groups(text), _groups(other)
    return len(ours & theirs) >= SAME * min(len(ours), len(theirs))


def _groups(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[at : at + _GROUP]) for at in range(max(1, len(words) - _GROUP + 1))}
