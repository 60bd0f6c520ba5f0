"""What looks pages up on the web: a provider gives addresses, which are visited afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

OR_A_FOLDER = "or set research.corpus_dir to a folder with documents, which needs no network"


@dataclass(frozen=True)
class Hit:
    """A page that a search found. `snippet` is the provider's: it need not stand in the page."""

    url: str
    title: str = ""
    snippet: str = ""


class Provider(Protocol):
    async def search(self, query: str, limit: int) -> list[Hit]:
        """At most `limit` hits, the best first; none where nothing was found. ToolError where it could not search."""


def distinct(hits: Iterable[Hit]) -> list[Hit]:
    """The hits on pages of the web, each page once: addresses that differ in scheme, fragment or last slash are one."""
    found: dict[tuple[str, str, str], Hit] = {}
    for each in hits:
        try:
            parts = urlsplit(each.url.strip())
        except ValueError:
            continue
        if parts.scheme in ("http", "https") and parts.netloc:
            page = (parts.netloc.lower().removeprefix("www."), parts.path.rstrip("/"), parts.query)
            found.setdefault(page, each)
    return list(found.values())
