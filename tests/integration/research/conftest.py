"""A site to visit, and a way to visit it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from web_site import WebSite, web_site

from gateway.tools.research.visit import Visited, visit

NOW = 1_790_000_000.0
Visit = Callable[..., Awaitable[Visited]]


@pytest.fixture
async def site() -> AsyncIterator[WebSite]:
    async with web_site() as opened:
        yield opened


@pytest.fixture
def visit_page(site: WebSite, tmp_path: Path) -> Visit:
    """`await visit_page("/path")`; `later` seconds, and settings."""

    async def run(path: str = "/", *, later: float = 0, **settings: Any) -> Visited:
        url = path if "://" in path else site.url(path)
        section = {"allow_hosts": [site.host], "page_timeout_s": 5, **settings}
        (visited,) = await visit([url], section, tmp_path / "home", now=NOW + later)
        return visited

    return run
