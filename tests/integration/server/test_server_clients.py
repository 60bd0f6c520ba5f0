"""Clients as people use them: OpenAI's own SDK, and `llm`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import openai
import pytest
from service import Service, clarify, complete, served


def client(service: Service, key: str = "none") -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=service.base, api_key=key)


async def test_openai_s_sdk_has_a_conversation(tmp_path: Path) -> None:
    async with served(tmp_path, complete("Hello there!")) as service, client(service) as api:
        assert "echelon/generic" in [model.id async for model in api.models.list()]
        assert (await api.models.retrieve("echelon/generic")).id == "echelon/generic"
        first = await api.chat.completions.with_raw_response.create(
            model="echelon", messages=[{"role": "user", "content": "Hi"}]
        )
        answer = first.parse()
        assert answer.choices[0].message.content == "Hello there!"
        assert answer.usage is not None and answer.usage.total_tokens > 0
        stream = await api.chat.completions.create(
            model="echelon",
            messages=[
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": "Hello there!"},
                {"role": "user", "content": "Once more"},
            ],
            stream=True,
            stream_options={"include_usage": True},
        )
        chunks = [chunk async for chunk in stream]
        texts = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
        assert "".join(texts) == "Hello there!"
        assert chunks[-1].usage is not None and chunks[-1].usage.prompt_tokens > 0
        assert service.turns()[0] == (first.headers["X-Echelon-Session"], 2)


async def test_openai_s_sdk_raises_what_is_meant(tmp_path: Path) -> None:
    tokens = {"tokens": {"ada": "token-of-ada"}}
    async with (
        served(tmp_path, {"error": "ModelUnavailable", "repeat": 9}, serve=tokens) as service,
        client(service, "wrong") as stranger,
        client(service, "token-of-ada") as api,
    ):
        hi: Any = {"messages": [{"role": "user", "content": "Hi"}]}
        with pytest.raises(openai.AuthenticationError):
            await stranger.chat.completions.create(model="echelon", **hi)
        with pytest.raises(openai.NotFoundError, match="there is no model"):
            await api.chat.completions.create(model="gpt-5", **hi)
        with pytest.raises(openai.BadRequestError, match="at least one message"):
            await api.chat.completions.create(model="echelon", messages=[])
        with pytest.raises(openai.InternalServerError) as failed:
            await api.chat.completions.create(model="echelon", **hi)
        assert failed.value.status_code == 503 and failed.value.code == "error:model_unavailable"
        assert len(service.turns()) == 1  # it is not tried again by itself
        stream = await api.chat.completions.create(model="echelon", stream=True, **hi)
        with pytest.raises(openai.APIError, match="says so"):
            async for _ in stream:
                pass


async def test_llm_asks_and_goes_on(tmp_path: Path) -> None:
    pytest.importorskip("llm")
    home = tmp_path / "llm"
    home.mkdir()
    async with served(tmp_path, clarify("Which server?"), complete("Heron it is.")) as service:
        model = {"model_id": "echelon", "model_name": "echelon", "api_base": service.base}
        (home / "extra-openai-models.yaml").write_text(json.dumps([model]))

        async def llm(*arguments: str) -> str:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "llm", *arguments),
                env=os.environ | {"LLM_USER_PATH": str(home)},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
            async with asyncio.timeout(60):
                said, _ = await process.communicate()
            return said.decode().strip()

        assert await llm("-m", "echelon", "Deploy") == "Which server?"
        assert await llm("-c", "heron") == "Heron it is."
        assert len(service.turns()) == 1  # its second request was the answer
