"""Where a forgotten text stands in other texts, and how it is put out of sight there.

It is looked for in any case, with any spaces, composed or decomposed, and as JSON writes it at any depth; sentence by
sentence, without a "remember that" before it, and where it was cut short. What a model has retold in words of its own
is not found so: of that, the numbers and codes are (`codes`), in whatever has the text itself.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import chain

from gateway.tools.fulltext import terms
from gateway.tools.memories import Erasure
from gateway.tools.stopwords import STOP_WORDS
from gateway.tools.told import told_fact

MASK = "[erased]"
SHORTEST = 8  # letters and digits: a shorter text ("yes") stands in too many innocent ones
SENTENCE = 16  # letters and digits: shorter sentences are looked for only with those around them
CODE = 4  # characters of a number or a code
CUT = 24  # characters that are enough to know a beginning by
_CODES = re.compile(r"(?<![\w./:-])\w[\w-]*\w(?![\w/:-]|\.\w)")
_SENTENCES = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_SPACE = r"(?:\s|\\+[nrtf]|\\+u(?:0085|00a0|000b|001[c-f]|1680|20(?:0[0-9a]|2[89f]|5f)|3000))+"
_CUT = re.compile(r'\s*\[?…|\\*"|(?:\n|\\+n)```|\Z')
_DERIVED = re.compile(r"[0-9a-f]{16}")  # a key that was made from the text
_NOTHING = re.compile(r"(?!)")


class Eraser:
    """Finds and masks what was forgotten."""

    def __init__(self, erasures: Sequence[Erasure]) -> None:
        forms = sorted({form for each in erasures for form in _forms(each.text)}, key=len, reverse=True)
        keys = {each.key for each in erasures if _DERIVED.fullmatch(each.key)}
        self._whole = _any([*map(_words, forms), *(rf"(?<!\w){key}(?!\w)" for key in sorted(keys))])
        self._begun = [(_compiled(_spelled(form[:CUT])), _flat(form)) for form in forms if len(form) > CUT]
        numbers = sorted({code for form in forms for code in codes(form)}, key=len, reverse=True)
        self._codes = _any([rf"(?<![\w./:-]){re.escape(code)}(?![\w/:-]|\.\w)" for code in numbers])
        # Reading for these is a hundred times as fast as the patterns are, and no text without one of them has a form.
        self._marks = {max(re.findall("[a-z0-9]+", form.lower()), key=len, default="") for form in forms} | keys

    def found(self, text: str) -> bool:
        """Whether a text has it; also in JSON as it is written."""
        lower = text.lower()
        if not any(mark in lower for mark in self._marks):
            return False
        return self._whole.search(text) is not None or next(self._cut_short(text), None) is not None

    def clean(self, text: str) -> str:
        """The text without it, and without the numbers and codes that it has."""
        text = self._whole.sub(MASK, text)
        while (span := next(self._cut_short(text), None)) is not None:
            text = f"{text[: span[0]]}{MASK}{text[span[1] :]}"
        return self._codes.sub(MASK, text)

    def _cut_short(self, text: str) -> Iterator[tuple[int, int]]:
        """Where only its beginning stands, with a mark that it was cut there, or at the end."""
        for begins, flat in self._begun:
            for match in begins.finditer(text):
                ends = (each.start() for each in _CUT.finditer(text, match.end(), match.start() + 8 * len(flat)))
                cut = [end for end in ends if flat.startswith(_flat(text[match.start() : end]))]
                if cut:
                    yield match.start(), cut[-1]


def telling(form: str) -> bool:
    """Whether a text says so much that wherever it stands it is what was forgotten."""
    said = sum(map(str.isalnum, form))
    return (said >= SHORTEST and any(each not in STOP_WORDS for each in terms(form))) or bool(codes(form))


def codes(text: str) -> list[str]:
    """The words of a text that have a digit and four characters or more: numbers, codes, names of machines."""
    return [word for word in _CODES.findall(text) if len(word) >= CODE and any(map(str.isdigit, word))]


def _forms(text: str) -> Iterator[str]:
    """The text, its longer sentences, each also as the fact alone; without punctuation around them."""
    sentences = [each for each in _SENTENCES.split(text) if sum(map(str.isalnum, each)) >= SENTENCE]
    for each in (text, *sentences):
        for form in map(_trimmed, (each, told_fact(" ".join(each.split())) or each)):
            if telling(form):
                yield from (form, unicodedata.normalize("NFC", form))  # some characters compose to others


def _trimmed(text: str) -> str:
    return re.sub(r"^[\W_]+|[\W_]+$", "", text)


def _words(form: str) -> str:
    """A pattern for the form where it is no part of other words."""
    before = "" if _unspaced(form[0]) else r"(?:(?<!\w)|(?<=\\[nrtbf])|(?<=\\u[0-9a-f]{4}))"
    return before + _spelled(form) + ("" if _unspaced(form[-1]) else r"(?!\w)")


def _spelled(form: str) -> str:
    """A pattern for the form in every spelling of its characters."""
    return "".join(_SPACE if part.isspace() else _character(part) for part in re.findall(r"\s+|\S", form))


def _character(char: str) -> str:
    if char == "\\":
        return r"\\+"
    if char in '"/':
        return rf"\\*{char}"
    if char.isascii():
        return re.escape(char)
    spellings = {form: None for each in (char, char.lower(), char.upper()) for form in (each, _decomposed(each))}
    written = [re.escape(each) for each in spellings] + ["".join(map(_escape, each)) for each in spellings]
    return f"(?:{'|'.join(sorted(written, key=len, reverse=True))})"


def _escape(char: str) -> str:
    """A character as JSON in ASCII writes it."""
    units = char.encode("utf-16-be").hex()
    return char if char.isascii() else "".join(rf"\\+u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def _unspaced(char: str) -> bool:
    """Whether it belongs to a script without spaces between words."""
    return unicodedata.east_asian_width(char) in "WF"


def _flat(text: str) -> str:
    """To compare: one case, one composition, single spaces, without JSON's escapes."""
    text = re.sub(r"\\+u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
    text = re.sub(r"\\+[nrt]", " ", text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return " ".join(unicodedata.normalize("NFC", text.replace("\\", "")).casefold().split())


def _any(patterns: Sequence[str]) -> re.Pattern[str]:
    return _compiled("|".join(chain(patterns))) if patterns else _NOTHING


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
