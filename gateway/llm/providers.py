"""From the configuration to a model port: a provider, a model on this machine (`local/NAME`), or a `scripted:FILE`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.config import Settings
from gateway.engine.ports import Json
from gateway.errors import ModelUnavailable
from gateway.llm.client import ModelClient
from gateway.llm.endpoint import Endpoint
from gateway.llm.local.catalog import PREFIX
from gateway.llm.model import OnDelta
from gateway.llm.via_http import PREFIX as OWN_SERVER

if TYPE_CHECKING:
    from gateway.llm.scripted import ScriptedModel

SCRIPTED = "scripted:"
KEYLESS = "none"  # litellm refuses to ask without a key; a server that takes none does not look at it


def model_of(settings: Settings) -> Providers:
    """The port for every model that the configuration may name; nothing is loaded or started before the first call."""
    return Providers(settings)


class Providers:
    """Sends each request to the port for its model string; `close` it at the end."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._client = ModelClient(self._resolve)
        self._scripts: dict[str, ScriptedModel] = {}

    async def complete(self, request: Json) -> Json:
        if request["model"].startswith(SCRIPTED):
            return await self._script(request["model"].removeprefix(SCRIPTED)).complete(request)
        return await self._client.complete(request)

    async def stream(self, request: Json, on_delta: OnDelta) -> Json:
        if request["model"].startswith(SCRIPTED):
            return await self.complete(request)
        return await self._client.stream(request, on_delta)

    async def close(self) -> None:
        await self._client.close()

    def _script(self, path: str) -> ScriptedModel:
        """Read once."""
        from gateway.llm.scripted import ScriptedModel

        if path not in self._scripts:
            self._scripts[path] = ScriptedModel(Path(path))
        return self._scripts[path]

    async def _resolve(self, model: str) -> Endpoint:
        if model.startswith(PREFIX):
            from gateway.llm.local.launcher import ensure_server

            server = await ensure_server(model.removeprefix(PREFIX), self._settings.home)
            server.touch()
            return Endpoint(f"hosted_vllm/{server.model}", server.api_base, server.api_key)
        base, key = self._settings.api_base, self._settings.api_key
        if model.startswith(OWN_SERVER) and not (base or os.environ.get("HOSTED_VLLM_API_BASE")):
            raise ModelUnavailable(  # litellm would ask OpenAI
                f"{model} is on a server of your own, and its address is not configured",
                hint="name it with --api-base, ECHELON_API_BASE or `api_base:`, such as http://127.0.0.1:8000/v1",
            )
        if key is not None:
            return Endpoint(model, base, key.get_secret_value())
        return Endpoint(model, base, KEYLESS if base and not _key_in_environment(model) else None)


def _key_in_environment(model: str) -> bool:
    """Whether litellm will find a key by itself, in the provider's own variable."""
    provider = model.partition("/")[0] if "/" in model else "openai"
    return bool(os.environ.get(f"{provider.upper()}_API_KEY"))
