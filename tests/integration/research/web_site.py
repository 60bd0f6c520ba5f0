"""A site on loopback that answers byte by byte as it is told, also against the rules of HTTP."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

Answer = Callable[["Asked", asyncio.StreamWriter], Awaitable[None]]
HTML = "text/html; charset=utf-8"


@dataclass(frozen=True)
class Asked:
    path: str
    headers: Mapping[str, str]  # names in lower case


@dataclass
class WebSite:
    """`pages` are the answers by path; anything else is a 404. `asked` is every request, in order. `ended` is set when
    the client has gone away in the middle of an answer."""

    port: int = 0
    scheme: str = "http"
    pages: dict[str, bytes | Answer] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str = "/") -> str:
        return f"{self.scheme}://{self.host}{path}"

    def paths(self) -> list[str]:
        """What was asked for, but for robots.txt."""
        return [each.path for each in self.asked if each.path != "/robots.txt"]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while (start := await reader.readexactly(1)).isalpha():  # anything else is TLS
                head = (start + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                first, *lines = head.split("\r\n")
                pairs = (line.split(": ", 1) for line in lines if line)
                asked = Asked(first.split(" ")[1], {name.lower(): value for name, value in pairs})
                self.asked.append(asked)
                await self._answer(asked, writer)
            writer.write(page("", status="400 Bad Request"))
        writer.close()

    async def _answer(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        answer = self.pages.get(asked.path, page("", status="404 Not Found"))
        if isinstance(answer, bytes):
            writer.write(answer)
            return await writer.drain()
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await answer(asked, writer)
        except ConnectionError:
            self.ended.set()
            raise
        finally:
            self.at_once -= 1


@asynccontextmanager
async def web_site(host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None) -> AsyncIterator[WebSite]:
    site = WebSite(scheme="https" if tls else "http")
    server = await asyncio.start_server(site.serve, host, port, ssl=tls)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()


def page(content: str | bytes, *, kind: str = HTML, status: str = "200 OK", **headers: str) -> bytes:
    """A whole response; the names of headers are written with `_`."""
    body = content.encode() if isinstance(content, str) else content
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *([f"Content-Type: {kind}"] if kind else [])]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def html(text: str, *, title: str = "A page", head: str = "") -> str:
    return (
        f"<html><head><title>{title}</title>{head}</head><body><main><h1>{title}</h1><p>{text}</p></main></body></html>"
    )


def redirect(to: str, status: str = "302 Found") -> bytes:
    return page("", status=status, Location=to)
