"""A model's text as a person should get it: without what it says twice, and without the half sentence of a cut."""

from __future__ import annotations

import re

_WHOLE = re.compile(r"\A(`{3,})[\w+-]*[ \t]*\n(.*)\n\1\s*\Z", re.DOTALL)
_SENTENCE_END = re.compile(r"[.!?:…。！？][)\]\"'”’»`*]*(?=\s|\Z)")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})", re.MULTILINE)
LONG = 40  # characters of a paragraph from which on a second one like it is a slip: `---` may well stand twice


def tidied(text: str, *, cut: bool = False) -> str:
    """The text without a fence around all of it, and without long paragraphs that stand in it already: small models
    fall into loops. `cut`: it ends at the limit of tokens, so the last sentence may be half."""
    text = text.strip()
    whole = _WHOLE.match(text)
    if whole and whole[1] not in whole[2]:
        text = whole[2].strip()
    if not _FENCE.search(text):  # code may repeat itself
        text = _without_loops(text)
    return _to_the_last_sentence(text) if cut else text


def _without_loops(text: str) -> str:
    seen: set[str] = set()
    kept = []
    for paragraph in text.split("\n\n"):
        words = " ".join(paragraph.split())
        if len(words) < LONG or words not in seen:
            kept.append(paragraph)
        seen.add(words)
    return "\n\n".join(kept)


def whole_sentences(text: str) -> str:
    """The text without a half sentence at its end; as it is where that would leave less than half of it, or would open
    a fence."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    if not ends or ends[-1] < len(text) / 2 or len(_FENCE.findall(text[: ends[-1]])) % 2:
        return text
    return text[: ends[-1]]


def _to_the_last_sentence(text: str) -> str:
    """With a mark where something was cut off."""
    whole = whole_sentences(text)
    ended = whole == text and _SENTENCE_END.search(text, max(0, len(text) - 8)) is not None
    return text if ended else f"{whole} […]"
