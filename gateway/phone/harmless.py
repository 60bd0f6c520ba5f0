"""Texts of a screen made into one line that cannot pretend to be anything else than a text."""

from __future__ import annotations

import re

MAX_TEXT = 1000  # characters

# What is there and is not seen: marks of direction, zero-width spaces, tags, and the glyphs of icon fonts. The joiners
# (U+200C, U+200D) stay: emoji and several scripts are written with them.
UNSEEN = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffc\ue000-\uf8ff\ud800-\udfff"
    "\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def harmless(text: str, limit: int = MAX_TEXT) -> str:
    """On one line, without what cannot be seen, with single spaces, and cut to `limit` characters."""
    if text.isascii() and text.isprintable() and "  " not in text:
        line = text.strip()
    else:
        line = " ".join(CONTROL.sub(" ", UNSEEN.sub("", text[: 4 * limit])).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
