"""What chat clients ask by themselves. The prompts have the form of Open WebUI's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from echelon.server.background import TITLE, answer, title
from echelon.server.messages import ChatRequest, Message

HISTORY = "<chat_history>\nUSER: How do I **deploy**\nto heron?\nASSISTANT: With care. USER: no\n</chat_history>"


def asked(text: str, *before: Message) -> ChatRequest:
    return ChatRequest((*before, Message("user", text)))


def prompt(form: str, history: str = HISTORY) -> str:
    return f"### Task:\nDo it for the chat.\n### Output:\nJSON format: {form}\n### Chat History:\n{history}"


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ('{ "title": "your concise title here" }', {"title": "How do I **deploy** to heron?"}),
        ('{ "tags": ["tag1", "tag2"] }', {"tags": ["General"]}),
        ('{ "follow_ups": ["Question 1?"] }', {"follow_ups": []}),
        ('{\n  "queries": ["query1", "query2"]\n}', {"queries": []}),
        ('`{ "text": "<your_completion>" }`', {"text": ""}),
    ],
)
def test_each_is_answered_in_its_form(form: str, expected: dict[str, Any]) -> None:
    assert json.loads(answer(asked(prompt(form))) or "") == expected
    assert json.loads(answer(asked(prompt(form), Message("system", "Be kind."))) or "") == expected


@pytest.mark.parametrize(
    "request_",
    [
        asked("Hello"),
        asked("### Task:\nWrite a title"),
        asked(prompt("prose")),
        asked(prompt("prose", '<chat_history>\nUSER: {"title": 1}\n</chat_history>')),
        asked("Explain: " + prompt('{"title": ""}')),
        asked(prompt('{"title": ""}'), Message("user", "Hi"), Message("assistant", "Hello")),
    ],
)
def test_what_a_person_asks_is_not_taken_for_one(request_: ChatRequest) -> None:
    assert answer(request_) is None


def test_a_title_is_the_beginning_of_the_first_request() -> None:
    assert title("USER: # Fix `pager`\nASSISTANT: Done.\nUSER: Thanks") == "Fix `pager`"
    long = title(f"USER: {'many words ' * 20}")
    assert len(long) <= TITLE and long.endswith(" many…")
    assert title("USER: \n") == "New chat"
