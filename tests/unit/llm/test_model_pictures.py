"""Pictures in a request: hashes in the journal, data URLs on the way to a model."""

from __future__ import annotations

import base64
import subprocess
import sys
from typing import Any

import pytest

from gateway.llm.model import Message, ModelRequest, ModelResponse, chat_body, model_operation
from gateway.llm.vision import sees

PNG = b"\x89PNG of a screen"
URL = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"


class Kept:
    def __init__(self, sha256: str, data: bytes) -> None:
        self.artifacts = self
        self.watched = False
        self._kept = {sha256: data}

    def get(self, sha256: str) -> bytes:
        return self._kept[sha256]


class Model:
    def __init__(self) -> None:
        self.asked: list[Any] = []

    async def complete(self, request: Any) -> Any:
        self.asked.append(request)
        return ModelResponse(text="{}", model="m").model_dump()


def request(*images: str, schema: bool = False) -> ModelRequest:
    messages = [Message(role="system", content="Look."), Message(role="user", content="Where?", images=list(images))]
    return ModelRequest(
        role="phone", model="m", messages=messages, output_schema={"type": "object"} if schema else None
    )


async def test_a_picture_is_put_in_for_its_hash_just_before_the_call() -> None:
    model, scope = Model(), Kept("ab12", PNG)
    args = request("ab12").model_dump()
    given: Any = scope
    await model_operation(model).run(args, given)
    assert model.asked[0]["messages"][1]["images"] == [URL]
    assert args["messages"][1]["images"] == ["ab12"]


def test_a_picture_is_a_part_of_its_message() -> None:
    system, user = chat_body(request(URL), "m", schema_in_prompt=False)["messages"]
    assert system == {"role": "system", "content": "Look."}
    assert user["content"] == [
        {"type": "text", "text": "Where?"},
        {"type": "image_url", "image_url": {"url": URL}},
    ]


def test_a_message_without_pictures_is_plain_text() -> None:
    body = chat_body(request(), "m", schema_in_prompt=False)
    assert [set(each) for each in body["messages"]] == [{"role", "content"}] * 2
    assert body["messages"][1]["content"] == "Where?"


def test_a_schema_in_the_prompt_stands_before_the_picture() -> None:
    body = chat_body(request(URL, schema=True), "m", schema_in_prompt=True)
    assert "JSON schema" in body["messages"][1]["content"][0]["text"]
    assert "response_format" not in body


@pytest.mark.parametrize(
    ("model", "seeing"),
    [("openai/gpt-4o", True), ("openai/gpt-3.5-turbo", False), ("nobody/knows-it", False), ("local/any", False)],
)
def test_which_models_see_stands_in_a_table(model: str, seeing: bool) -> None:
    assert sees(model) is seeing


def test_nothing_is_imported_for_models_of_ones_own() -> None:
    code = "import sys; from gateway.llm.vision import sees; sees('local/x'); print('litellm' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
