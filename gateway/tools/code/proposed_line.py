"""What a line should become, as a program that found something wrong in it proposes: said in a request, and found
there again, so that what code knows is not asked of a model."""

from __future__ import annotations

import re

_DELETE = "delete this line"
_SAID = re.compile(rf"\(to mend it: (?:({_DELETE})|write `([^`\n]+)`)\)")


def in_words(after: str) -> str:
    """What the line should become, without its indentation; empty where it should go."""
    return f"write `{after.strip()}`" if after.strip() else _DELETE


def found(request: str) -> str | None:
    """What the one line that a request is about should become; None where it does not say so, or says several."""
    said = _SAID.findall(request)
    return said[0][1] if len(said) == 1 else None
