"""One site: its connections, each checked at the address that it goes to, and single requests to it."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from gateway.errors import ToolError

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession
    from aiohttp.abc import AbstractResolver
    from yarl import URL

AGENT = "echelon-gateway"  # the name that a robots.txt knows us by
REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ACCEPTED = "text/html, application/xhtml+xml, application/pdf;q=0.9, text/*;q=0.8"
_CODINGS = ("gzip", "deflate")  # what aiohttp decompresses piece by piece without another library


class NotFetched(ToolError):
    """A page could not be had; `down`: because its site did not answer as it should, which says nothing of the page."""

    def __init__(self, message: str, *, hint: str = "", down: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.down = down


@dataclass(frozen=True)
class Reply:
    """One response. `body` is what was read of it: nothing where it was not `wanted`, and no more than a byte over the
    limit."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""


class Site:
    """Scheme, host and port. `slots` bounds how many requests it gets at once.

    `judge` is given each numeric address that is to be connected to, whatever was looked up or checked before, and says
    what is wrong with it; `named` sites may be anywhere.
    """

    def __init__(
        self,
        origin: URL,
        *,
        named: bool,
        slots: int,
        judge: Callable[[str], str],
        resolver: AbstractResolver | None,
        ssl: Any = True,
    ) -> None:
        self._origin = origin
        self._named = named
        self._judge = judge
        self._resolver = resolver
        self._ssl = ssl
        self._refused = ""
        self.slots = asyncio.Semaphore(slots)
        self._session = self._new_session()

    async def close(self) -> None:
        await self._session.close()

    async def get(
        self, url: URL, headers: Mapping[str, str], *, limit: int, wanted: Callable[[Reply], bool] = lambda reply: True
    ) -> Reply:
        """Ask once, without following redirects; the body is read, up to `limit` bytes of it decompressed, if it is
        `wanted`. NotFetched where there is no proper answer; TimeoutError is the caller's to give."""
        import aiohttp

        try:
            async with self._session.get(url, headers=headers, allow_redirects=False) as response:
                reply = Reply(response.status, response.headers)
                if response.status in REDIRECTS or not wanted(reply):
                    response.close()
                    return reply
                coding = response.headers.get("Content-Encoding", "").strip().lower()
                if coding not in ("", "identity", *_CODINGS):
                    response.close()
                    raise NotFetched(
                        f"{url.host} answered compressed with {coding!r}, which was not asked for", down=True
                    )
                return Reply(response.status, response.headers, await _read(response, limit))
        except aiohttp.ClientSSLError as error:
            said = getattr(error, "certificate_error", None) or error.os_error
            raise NotFetched(f"{url.host} cannot be reached securely: {_short(said)}", down=True) from error
        except aiohttp.ClientConnectorError as error:
            if self._refused:
                raise NotFetched(self._refused, hint=self._hint()) from error
            raise NotFetched(f"{url.host} cannot be reached: {_short(error.os_error)}", down=True) from error
        except aiohttp.InvalidURL as error:
            raise NotFetched(f"{url} is not the address of a page") from error
        except TimeoutError:
            raise
        except (aiohttp.ClientError, aiohttp.http_exceptions.HttpProcessingError, OSError, ValueError) as error:
            raise NotFetched(f"{url.host} gave no whole answer: {_short(error)}", down=True) from error

    def _new_session(self) -> ClientSession:
        import aiohttp

        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0, resolver=self._resolver, socket_factory=self._open_socket, ssl=self._ssl
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None),
            trust_env=False,  # a proxy would connect to addresses that nobody checked; a .netrc holds passwords
            headers={
                "User-Agent": f"{AGENT}/{version(AGENT)}",
                "Accept": _ACCEPTED,
                "Accept-Encoding": ", ".join(_CODINGS),
            },
        )

    def _open_socket(self, info: tuple[Any, Any, int, str, tuple[Any, ...]]) -> socket.socket:
        """The socket that will be connected to just this address: the one place where it is decided."""
        family, kind, protocol, _, (address, *_) = info
        wrong = "" if self._named else self._judge(address)
        if wrong:
            self._refused = f"{self._origin.host} leads to {wrong} address, {address}, which is not visited"
            raise OSError(errno.EACCES, self._refused)
        return socket.socket(family, kind, protocol)

    def _hint(self) -> str:
        return f"if it is yours, name {self._origin.authority} in research.allow_hosts"


async def _read(response: ClientResponse, limit: int) -> bytes:
    """At most `limit` bytes and one: the rest is neither read nor decompressed, and the connection is given up."""
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > limit:
            response.close()
            break
    return bytes(body[: limit + 1])


def _short(error: BaseException) -> str:
    """What an error says, on one line: some quote what the other side sent."""
    words = getattr(error, "verify_message", "") or getattr(error, "strerror", "") or str(error) or type(error).__name__
    return " ".join(str(words).split())[:200]
