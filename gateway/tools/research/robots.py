"""robots.txt: which pages a site wants left alone, as RFC 9309 has it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from gateway.tools.research.site import AGENT, NotFetched

if TYPE_CHECKING:
    from protego import Protego
    from yarl import URL

MAX_BYTES = 512_000  # that are read of one; the RFC asks for 500 KiB at least
Get = Callable[["URL"], Awaitable[tuple[int, bytes]]]


class Robots:
    """The rules of the sites that were asked, each read once with `get`, which gives status and content, or raises
    NotFetched where the site does not answer."""

    def __init__(self, get: Get) -> None:
        self._get = get
        self._read: dict[URL, asyncio.Task[Protego]] = {}

    async def check(self, url: URL) -> None:
        """Raises NotFetched where the page may not be visited, also where it cannot be known."""
        site = url.origin()
        if site not in self._read:
            self._read[site] = asyncio.create_task(self._rules(site))
        rules = await asyncio.shield(self._read[site])
        if not rules.can_fetch(str(url), AGENT):
            raise NotFetched(
                f"the robots.txt of {url.host} forbids {url.path_qs}",
                hint="leave the page out, or set research.respect_robots to false where you may",
            )

    async def close(self) -> None:
        """End what is still being read."""
        for each in self._read.values():
            each.cancel()
        await asyncio.gather(*self._read.values(), return_exceptions=True)

    async def _rules(self, site: URL) -> Protego:
        from protego import Protego

        status, content = await self._get(site / "robots.txt")
        if status >= 500 or status == 429:
            raise NotFetched(f"the robots.txt of {site.host} cannot be read: the site answered {status}", down=True)
        text = content.decode("utf-8", "replace") if status < 400 else ""  # none: everything may be visited
        return await asyncio.to_thread(Protego.parse, text)
