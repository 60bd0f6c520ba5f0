"""From the configuration to a model port: litellm, a model on this machine (`local/NAME`), or a script (`scripted:FILE`)."""

from __future__ import annotations

from pathlib import Path

from gateway.config import Settings
from gateway.engine.ports import Json, Model
from gateway.llm.endpoint import Endpoint
from gateway.llm.local.catalog import PREFIX
from gateway.llm.model import LiteLLM, OnDelta

SCRIPTED = "scripted:"


def model_of(settings: Settings) -> Model:
    """The port for every model that the configuration may name; nothing is loaded or started before the first call."""
    return _Dispatch(settings)


class _Dispatch:
    """Sends each request to the port for its model string."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._litellm = LiteLLM(self._resolve)

    async def complete(self, request: Json) -> Json:
        name = request["model"]
        if name.startswith(SCRIPTED):
            from gateway.llm.scripted import ScriptedModel

            return await ScriptedModel(Path(name.removeprefix(SCRIPTED))).complete(request)
        return await self._litellm.complete(request)

    async def stream(self, request: Json, on_delta: OnDelta) -> Json:
        if request["model"].startswith(SCRIPTED):
            return await self.complete(request)
        return await self._litellm.stream(request, on_delta)

    async def _resolve(self, model: str) -> Endpoint:
        if model.startswith(PREFIX):
            from gateway.llm.local.launcher import ensure_server

            server = await ensure_server(model.removeprefix(PREFIX), self._settings.home)
            server.touch()
            return Endpoint(f"hosted_vllm/{server.model}", server.api_base, server.api_key)
        key = self._settings.api_key
        return Endpoint(model, self._settings.api_base, key.get_secret_value() if key else None)
