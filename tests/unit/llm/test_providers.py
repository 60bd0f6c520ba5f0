"""From the configuration to the model that answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from chat_server import Reply, chat_server

from gateway.config import Settings
from gateway.errors import ModelUnavailable
from gateway.llm.model import Message, ModelRequest
from gateway.llm.providers import model_of


def request(model: str, ordinal: int = 1) -> Any:
    messages = [Message(role="user", content="Hi")]
    return ModelRequest(role="planner", model=model, messages=messages, ordinal=ordinal).model_dump()


@pytest.mark.parametrize(
    ("configured", "environment", "sent"),
    [("", "", "none"), ("configured-key", "other-key", "configured-key"), ("", "environment-key", "environment-key")],
)
async def test_a_server_that_wants_no_key_is_called_without_one_being_configured(
    monkeypatch: pytest.MonkeyPatch, configured: str, environment: str, sent: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", environment)
    async with chat_server() as server:
        server.replies = [Reply(text="Hello.")]
        settings = Settings.load({"model": "openai/any", "api_base": server.base, "api_key": configured or None})
        answer = await model_of(settings).complete(request("openai/any"))
    assert answer["text"] == "Hello."
    assert server.headers[0]["Authorization"] == f"Bearer {sent}"


async def test_a_server_of_ones_own_needs_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOSTED_VLLM_API_BASE", raising=False)
    with pytest.raises(ModelUnavailable, match="its address is not configured") as caught:
        await model_of(Settings.load({})).complete(request("hosted_vllm/any"))
    assert "--api-base" in caught.value.hint


async def test_a_script_is_read_once(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("[{answer: one}, {answer: two}]")
    model = model_of(Settings.load({}))
    assert (await model.complete(request(f"scripted:{script}")))["text"] == "one"
    script.unlink()
    assert (await model.complete(request(f"scripted:{script}", 2)))["text"] == "two"
