"""A server with an address: streamable HTTP by the SDK's transport, with bounds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from gateway.tools.mcp.program import MAX_MESSAGE
from gateway.tools.mcp.trouble import Trouble

CONNECT_S = 10.0
READ_S = 300.0  # a stream may be silent for so long; each call has a deadline of its own


def address(url: str) -> str:
    """The URL as it can be shown: without user, password, query and fragment, which may be secret."""
    try:
        parts = urlsplit(url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    except ValueError:
        return "its url"


@asynccontextmanager
async def site(
    url: str, headers: Mapping[str, str], deadline_s: float, trouble: Trouble
) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of a server at a URL. `trouble` learns its status where it refuses, and when it sends too much."""
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    class Bounded(httpx2.AsyncByteStream):
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for piece in self._stream:
                size += len(piece)
                if size > MAX_MESSAGE:
                    trouble.cut_off(f"sent more than {MAX_MESSAGE >> 20} MB in one answer")
                    raise httpx2.ReadError("too much")
                yield piece

        async def aclose(self) -> None:
            await self._stream.aclose()

    async def look(response: httpx2.Response) -> None:
        if response.status_code >= 400 and response.request.method == "POST":
            trouble.status = response.status_code
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            trouble.cut_off("sent a compressed answer, which it was asked not to")  # it may be a bomb
            raise httpx2.DecodingError("compressed", request=response.request)
        response.stream = Bounded(response.stream)

    async with (
        httpx2.AsyncClient(
            headers={"accept-encoding": "identity", **headers},
            timeout=httpx2.Timeout(CONNECT_S, read=max(READ_S, 2 * deadline_s)),
            event_hooks={"response": [look]},
        ) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=MAX_MESSAGE) as streams,
    ):
        yield streams
