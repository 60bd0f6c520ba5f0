"""Search without a key or a server of one's own: the library `ddgs` asks several public search engines."""

from __future__ import annotations

import asyncio

from gateway.errors import ToolError
from gateway.tools.research.providers import OR_A_FOLDER, Hit

SEARCH_S = 60.0  # for all engines together; ddgs asks them in turn until there are enough results
_NOTHING = "No results found"  # how the library says it, with the exception that it also has for trouble

_UNREACHED = frozenset({"ConnectError", "DNSError", "DNSTimeoutError", "RequestError"})  # of its HTTP client


class Ddgs:
    """`timeout_s` is for one engine."""

    def __init__(self, timeout_s: float = 5.0) -> None:
        self._timeout_s = timeout_s

    async def search(self, query: str, limit: int) -> list[Hit]:
        from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

        try:
            found = await asyncio.wait_for(asyncio.to_thread(self._text, query, limit), SEARCH_S)
        except RatelimitException as error:
            raise ToolError(
                "the web search (ddgs) gets too many requests", hint=f"wait some minutes, {OR_A_FOLDER}"
            ) from error
        except (TimeoutException, TimeoutError) as error:
            raise ToolError(
                "the web search (ddgs) does not answer in time", hint=f"check the network connection, {OR_A_FOLDER}"
            ) from error
        except DDGSException as error:
            if _NOTHING in str(error):
                return []
            raise ToolError(
                f"the web search (ddgs) {_in_short(error)}",
                hint=f"check the network connection, {OR_A_FOLDER}",
            ) from error
        return [Hit(each.get("href", ""), each.get("title", ""), each.get("body", "")) for each in found]

    def _text(self, query: str, limit: int) -> list[dict[str, str]]:
        from ddgs import DDGS

        return DDGS(timeout=max(1, round(self._timeout_s))).text(query, max_results=limit)


def _in_short(error: Exception) -> str:
    """What went wrong; the library itself quotes the whole chain of errors, with the address that it asked."""
    kind, _, more = str(error).partition(":")
    if kind in _UNREACHED:
        return "cannot be reached"
    return f"cannot be used: {kind[:80]}" if more else f"cannot be used: {' '.join(kind.split())[:200]}"
