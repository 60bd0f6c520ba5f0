"""Where a model is served: what a model's name in the configuration resolves to, just before a call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from gateway.engine.ports import Json


@dataclass(frozen=True)
class Endpoint:
    """How litellm reaches a model. It holds a secret, so it stays inside the port: requests, which are journaled, name
    the model only.

    `model` is a litellm model string; `extra` are further arguments of `litellm.acompletion`; `supports_schema` is
    False for a server that is known to reject `response_format`: the schema then goes into the prompt.
    """

    model: str
    api_base: str | None = None
    api_key: str | None = field(default=None, repr=False)
    extra: Mapping[str, Json] = field(default_factory=dict)
    supports_schema: bool = True

    @property
    def place(self) -> str:
        """The server's address without credentials or query, for messages."""
        if not self.api_base:
            return "the provider of " + self.model
        parts = urlsplit(self.api_base)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"


Resolve = Callable[[str], Awaitable[Endpoint]]
"""From a request's `model` to its endpoint. Asked before every try, so that a local server that ended starts again."""


async def direct(model: str) -> Endpoint:
    """The model string as it stands; litellm finds the key in the provider's own environment variable."""
    return Endpoint(model)
