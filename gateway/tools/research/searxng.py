"""Search by a SearXNG instance of one's own, through its JSON API
(https://docs.searxng.org/dev/search_api.html)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gateway.errors import ToolError
from gateway.tools.research.providers import OR_A_FOLDER, Hit

if TYPE_CHECKING:
    from aiohttp import ClientResponse

MAX_BYTES = 4 << 20
_JSON = "add json to search.formats in its settings.yml"
_URL = "check research.searxng_url"


class Searxng:
    """`url` is where the instance answers. It was configured, so it may be anywhere, also in the local network; a
    redirect to somewhere else is not followed."""

    def __init__(self, url: str, timeout_s: float = 15.0) -> None:
        from yarl import URL

        try:
            base = URL(url)
        except ValueError as error:
            raise ToolError(f"research.searxng_url is no address: {error}", hint=_URL) from error
        if base.scheme not in ("http", "https") or not base.host:
            raise ToolError("research.searxng_url is no address of a web server", hint="for example http://host:8080")
        self._url = base.with_query(None).with_fragment(None) / "search"
        self._name = f"SearXNG at {self._url.origin()}"  # without what may be a password
        self._timeout_s = timeout_s

    async def search(self, query: str, limit: int) -> list[Hit]:
        import aiohttp

        asked = self._url.with_query(q=query, format="json")
        try:
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=self._timeout_s)) as session,
                session.get(asked, allow_redirects=False) as response,
            ):
                self._check(response)
                body = await self._body(response)
        except TimeoutError as error:
            raise ToolError(
                f"{self._name} does not answer within {self._timeout_s:g} s",
                hint=f"see whether it is overloaded, set research.page_timeout_s, {OR_A_FOLDER}",
            ) from error
        except aiohttp.ClientError as error:
            raise ToolError(
                f"{self._name} cannot be reached: {error}", hint=f"start it, {_URL}, {OR_A_FOLDER}"
            ) from error
        return self._hits(body)[:limit]

    def _check(self, response: ClientResponse) -> None:
        status = response.status
        if 300 <= status < 400:
            target = response.headers.get("Location", "")[:200]
            raise ToolError(f"{self._name} redirects to {target}", hint="set research.searxng_url to where it answers")
        if status == 403:
            raise ToolError(f"{self._name} refuses to answer in JSON (403)", hint=f"{_JSON}, {OR_A_FOLDER}")
        if status == 429:
            hint = f"wait some minutes, let this host pass its limiter (limiter.toml), {OR_A_FOLDER}"
            raise ToolError(f"{self._name} gets too many requests (429)", hint=hint)
        if status != 200:
            raise ToolError(f"{self._name} answers {status}", hint=f"see its log, {_URL}, {OR_A_FOLDER}")

    async def _body(self, response: ClientResponse) -> bytes:
        body = bytearray()
        async for chunk in response.content.iter_chunked(1 << 16):
            body += chunk
            if len(body) > MAX_BYTES:
                raise ToolError(f"{self._name} answers with more than {MAX_BYTES >> 20} MB", hint=_URL)
        return bytes(body)

    def _hits(self, body: bytes) -> list[Hit]:
        try:
            said = json.loads(body)
        except ValueError as error:
            what = "a web page" if body.lstrip()[:1] == b"<" else "something"
            raise ToolError(f"{self._name} answers with {what} that is not JSON", hint=f"{_JSON}, {_URL}") from error
        results = said.get("results") if isinstance(said, dict) else None
        if not isinstance(results, list):
            raise ToolError(f"{self._name} answers with JSON that is no search result", hint=_URL)
        hits = [_hit(each) for each in results if isinstance(each, dict) and isinstance(each.get("url"), str)]
        if not hits and (silent := _silent(said)):
            raise ToolError(
                f"the search engines of {self._name} do not answer: {silent}",
                hint=f"see its log, choose other engines in its settings.yml, {OR_A_FOLDER}",
            )
        return hits


def _hit(result: Mapping[str, Any]) -> Hit:
    return Hit(result["url"], str(result.get("title") or ""), str(result.get("content") or ""))


def _silent(said: Mapping[str, Any]) -> str:
    """The engines that did not answer, which SearXNG lists as pairs of name and reason."""
    engines = said.get("unresponsive_engines")
    pairs = [each for each in engines if isinstance(each, list) and each] if isinstance(engines, list) else []
    return ", ".join(": ".join(str(part) for part in each) for each in pairs)[:300]
