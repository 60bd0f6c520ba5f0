"""Slugs: names for files and addresses."""

import re


def slugify(title: str) -> str:
    """Lower-case words joined by single hyphens; nothing else is kept."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower())
