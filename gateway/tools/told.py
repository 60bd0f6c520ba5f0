"""The fact in a sentence that asks to remember it."""

from __future__ import annotations

import re

# "remember that the key is under the pot", but not "remember the name of that function"
_TOLD = re.compile(
    r"(?:please )?(?:remember|note|keep|write|save|store|record)(?: (?:for later|in mind|down|the fact|this))*"
    r"(?: that |: ?)(\S+ .+?)[\s.!]*",
    re.IGNORECASE,
)


def told_fact(sentence: str) -> str | None:
    """What is to be remembered, without the full stop; None where the sentence does not say it itself."""
    found = _TOLD.fullmatch(sentence)
    return found[1] if found else None
