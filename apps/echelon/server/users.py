"""Who may ask: the owners of tokens, each with a gateway and a home of their own, or whoever is on this machine."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from types import TracebackType
from urllib.parse import urlsplit

from echelon.server.problem import Problem
from echelon.server.talks import Talks
from gateway import Gateway, Settings
from gateway.errors import ConfigError, UsageError
from gateway.sessions import check_session

ANYBODY = ""  # the name of the one user where there are no tokens
TOKEN_HINT = "name one: `serve: {tokens: {NAME: TOKEN}}` in $ECHELON_HOME/config.yaml"

Open = Callable[[Settings], Gateway]


class Users:
    """Lets requests in. As a context manager it holds the users' gateways open."""

    def __init__(self, settings: Settings, open_gateway: Open = Gateway) -> None:
        self._settings = settings
        self._open = open_gateway
        self._tokens = {name: token.get_secret_value().encode() for name, token in settings.serve.tokens.items()}
        self._talks: dict[str, Talks] = {}
        self._stack = AsyncExitStack()
        _check(self._tokens, settings.serve.host)

    async def __aenter__(self) -> Users:
        for name in self._tokens or [ANYBODY]:
            gateway = await self._stack.enter_async_context(self._open(self._settings_of(name)))
            talks = self._talks[name] = Talks(name, gateway)
            self._stack.callback(talks.close)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    @property
    def names(self) -> list[str]:
        return list(self._tokens)

    def all(self) -> list[Talks]:
        return list(self._talks.values())

    def of(self, headers: Mapping[str, str]) -> Talks:
        """The conversations of whoever sends a request with these headers. Raises Problem: 401 without a valid token,
        403 for what a web page sends from elsewhere."""
        if self._tokens:
            return self._talks[self._owner(headers.get("Authorization", ""))]
        # Without a token only the machine's own programs may ask. A web page may not, neither by a name of its own that
        # leads here (DNS rebinding) nor by a request whose answer it cannot read, but which would start a turn.
        if not _is_local(f"//{headers.get('Host', '')}"):
            raise Problem(403, "without a token this server answers to localhost only", code="forbidden_host")
        if "Origin" in headers and not _is_local(headers["Origin"]):
            raise Problem(403, "without a token this server answers to no web pages", code="forbidden_origin")
        return self._talks[ANYBODY]

    def _owner(self, header: str) -> str:
        scheme, _, given = header.partition(" ")
        found = ""
        for name, token in self._tokens.items():  # all of them: how long it takes tells nothing
            if hmac.compare_digest(given.strip().encode("utf-8", "surrogateescape"), token):
                found = name
        if scheme.lower() == "bearer" and found:
            return found
        message = "the token is not valid" if header else "a token is needed: Authorization: Bearer TOKEN"
        raise Problem(401, message, code="invalid_api_key", headers={"WWW-Authenticate": "Bearer"})

    def _settings_of(self, name: str) -> Settings:
        """The settings with the user's home, where the models are those of all."""
        if name == ANYBODY:
            return self._settings
        theirs = self._settings.for_user(name)
        models = self._settings.home / "models"
        try:
            theirs.home.mkdir(parents=True, exist_ok=True)
            models.mkdir(exist_ok=True)
            if not (theirs.home / "models").exists():
                (theirs.home / "models").symlink_to(models)
        except OSError as error:
            raise ConfigError(f"cannot make the home of {name}, {theirs.home}: {error.strerror}") from error
        return theirs


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _is_local(url: str) -> bool:
    try:
        return is_loopback(urlsplit(url).hostname or "")
    except ValueError:
        return False


def _check(tokens: dict[str, bytes], host: str) -> None:
    """Raises UsageError for a server that anybody in the network could use, ConfigError for tokens that are none."""
    if not tokens and not is_loopback(host):
        raise UsageError(f"without a token it listens on this machine only, not on {host}", hint=TOKEN_HINT)
    for name, token in tokens.items():
        try:
            check_session(name)  # both are the names of folders
        except UsageError as error:
            raise ConfigError(f"serve.tokens.{name}: not a user's name", hint=error.hint) from None
        if not token.strip():
            raise ConfigError(f"serve.tokens.{name}: the token is empty")
    if len(set(tokens.values())) < len(tokens):
        raise ConfigError("serve.tokens: two users have the same token")
