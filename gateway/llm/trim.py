"""Making a text shorter, in words that say so."""

from __future__ import annotations

import re
from typing import Literal

from gateway.llm import tokens

Place = Literal["head", "tail", "middle"]

LEAST = 16  # tokens of a text that are worth showing
_NOTICE_TOKENS = 16  # the longest notice with its blank lines
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")


def notice(left_out: int) -> str:
    """What stands where something is missing."""
    return f"[… {left_out} tokens left out]"


def shorten(text: str, limit: int, place: Place) -> str | None:
    """`text` in at most `limit` tokens, its `place` left out with a notice; None where too little of it would remain.

    A code fence that the cut opens or closes is closed or opened again: what follows must not become part of it.
    """
    size = tokens.count(text)
    if size <= limit:
        return text
    keep = limit - _NOTICE_TOKENS
    while keep >= LEAST:
        shortened = _cut(text, size, keep, place)
        over = tokens.count(shortened) - limit
        if over <= 0:
            return shortened
        keep -= over
    return None


def _cut(text: str, size: int, keep: int, place: Place) -> str:
    first = "" if place == "head" else tokens.head(text, keep if place == "tail" else keep // 2)
    last = "" if place == "tail" else tokens.tail(text, keep if place == "head" else keep - keep // 2)
    left_out = size - tokens.count(first) - tokens.count(last)
    pieces = []
    if first:
        pieces.append(_closed(first.rstrip()))
    pieces.append(notice(left_out))
    if last:
        fence = _open_fence(text[: len(text) - len(last)])
        pieces.append(f"{fence}\n{last.lstrip()}" if fence else last.lstrip())
    return "\n".join(pieces)


def _closed(text: str) -> str:
    fence = _open_fence(text)
    return f"{text}\n{fence}" if fence else text


def _open_fence(text: str) -> str:
    """The code fence that is open at the end of `text`, or nothing."""
    fence = ""
    for line in text.splitlines():
        match = _FENCE.match(line)
        if match is None:
            continue
        marker, rest = match.groups()
        if not fence:
            fence = marker
        elif marker.startswith(fence) and not rest.strip():
            fence = ""
    return fence
