"""Fences: what stands in one is data, and cannot end it."""

from __future__ import annotations

import re


def fenced(text: str, language: str = "") -> str:
    """In a fence that is longer than any run of backticks in the text."""
    longest = max((len(each) for each in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
