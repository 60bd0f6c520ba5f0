"""Texts of others in Markdown: what stands in a fence, in inline code, or on a line is data, and cannot end it."""

from __future__ import annotations

import re


def fenced(text: str, language: str = "") -> str:
    """In a fence that is longer than any run of backticks in the text."""
    longest = max((len(each) for each in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def code(text: str) -> str:
    """One line as inline code that it cannot end."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    ticks, space = "`" * (longest + 1), " " if "`" in text else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def line(text: str) -> str:
    """What a model wrote, on one line: behind other words it begins no block of its own."""
    return " ".join(text.split())
