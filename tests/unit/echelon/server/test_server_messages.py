"""What a request is, and what its digests recognise."""

from __future__ import annotations

import json
from typing import Any

import pytest

from echelon.server.messages import ChatRequest, Message, digest, exchanges, identity, parse
from echelon.server.problem import Problem


def conversation(*said: tuple[str, str]) -> tuple[Message, ...]:
    return tuple(Message(role, text) for role, text in said)


def asked(text: str = "Two", **more: Any) -> ChatRequest:
    return ChatRequest((*conversation(("user", "One"), ("assistant", "Hello")), Message("user", text)), **more)


def parsed(headers: dict[str, str] | None = None, **body: Any) -> ChatRequest:
    given = {"messages": [{"role": "user", "content": "Hi"}], **body}
    return parse(json.dumps(given).encode(), headers or {})


@pytest.mark.parametrize(
    "shown",
    [
        "Hello  \n\n there",
        "\tHello there\n",
        '<details type="reasoning" done="true"><summary>x</summary>Plan</details>\nHello there',
        "<think>Plan: COMPLETE</think>\n\nHello there",
    ],
)
def test_an_answer_is_recognised_as_clients_send_it_back(shown: str) -> None:
    told = digest("ada", conversation(("user", "Hi"), ("assistant", "Hello there")))
    assert digest("ada", conversation(("user", " Hi\n"), ("assistant", shown))) == told


def test_other_words_users_and_roles_are_others() -> None:
    said = [
        digest("ada", conversation(("user", "Hi"))),
        digest("bob", conversation(("user", "Hi"))),
        digest("ada", conversation(("user", "hi"))),
        digest("ada", conversation(("system", "Hi"))),
        digest("ada", conversation(("user", "Hi"), ("user", ""))),
        digest("ada", conversation(("user", "<think>x</think>Hi"))),
    ]
    assert len(set(said)) == len(said)


def test_a_request_is_the_same_only_to_the_letter() -> None:
    same = identity("ada", asked())
    assert identity("ada", asked(stream=True, retry=True)) == same
    others = [asked("Two "), asked("two"), asked(model="echelon/generic"), asked(session="x")]
    assert same not in {identity("ada", other) for other in others}


def test_exchanges_are_requests_with_their_answers() -> None:
    said = conversation(
        ("system", "Be kind."),
        ("assistant", "Welcome!"),
        ("user", "a"),
        ("user", "b"),
        ("assistant", "<think>…</think>c"),
        ("tool", "ignored"),
        ("assistant", "d"),
        ("user", "not answered"),
    )
    assert exchanges(said) == [("a\n\nb", "c\n\nd")]


def test_what_a_request_says() -> None:
    got = parsed()
    assert (got.model, got.stream, got.include_usage, got.session, got.retry, got.once) == (
        *("echelon", False, False),
        *(None, False, None),
    )
    got = parsed(
        {"X-Echelon-Session": "s", "x-stainless-retry-count": "2", "Idempotency-Key": "k"},
        stream=True,
        stream_options={"include_usage": True},
        metadata={"session_id": "t"},
        temperature=0.3,
        tools=[{}],
    )
    assert (got.stream, got.include_usage, got.session, got.retry, got.once) == (True, True, "s", True, "k")
    assert parsed(metadata={"session_id": "t"}).session == "t"
    assert parsed(messages=[{"role": "user", "content": [{"type": "text", "text": x} for x in "ab"]}]).text == "a\nb"


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"messages": []}, "messages"),
        ({"messages": ["x"]}, "messages[0].role"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]}, "messages[0].content"),
        ({"model": 3}, "model"),
        ({"stream_options": []}, "stream_options"),
        ({"metadata": {"session_id": 3}}, "metadata.session_id"),
    ],
)
def test_what_is_wrong_is_named(body: dict[str, Any], param: str) -> None:
    with pytest.raises(Problem) as refused:
        parsed(**body)
    assert (refused.value.status, refused.value.param) == (400, param)
