"""What a client asks: the body of a chat completion request, checked, and digests that recognise a conversation."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from echelon.server.problem import Problem

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
MODEL = "echelon"

# Some clients keep the progress that they were shown in the answer, and send it back with it.
_PROGRESS = re.compile(r"\A\s*(?:<think>.*?</think>|<details type=\"reasoning\".*?</details>)", re.DOTALL)


@dataclass(frozen=True)
class Message:
    """One message, its content as text."""

    role: str
    text: str


@dataclass(frozen=True)
class ChatRequest:
    """A request. `session` is the one that it names, `retry` says that the client sends it again by itself, and
    `once` is its Idempotency-Key."""

    messages: tuple[Message, ...]
    model: str = MODEL
    stream: bool = False
    include_usage: bool = False
    session: str | None = None
    retry: bool = False
    once: str | None = None

    @property
    def text(self) -> str:
        """What is asked: the last message."""
        return self.messages[-1].text

    @property
    def before(self) -> tuple[Message, ...]:
        return self.messages[:-1]

    @property
    def begins(self) -> bool:
        """Whether nothing was answered before it: then it belongs to no session that there is."""
        return not any(message.role == "assistant" for message in self.before)


def parse(raw: bytes, headers: Mapping[str, str]) -> ChatRequest:
    """The request in a body. Raises Problem (400) that names the field."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise Problem(400, f"the body is not valid JSON: {error}", code="invalid_json") from None
    if not isinstance(body, dict):
        raise Problem(400, "the body has to be a JSON object", code="invalid_json")
    messages = _messages(body.get("messages"))
    if messages[-1].role != "user":
        raise Problem(400, f"the last message has to be from the user, not {messages[-1].role}", param="messages")
    if not messages[-1].text.strip():
        raise Problem(400, "the last message is empty", param="messages")
    if body.get("n") not in (None, 1):
        raise Problem(400, "one answer is given to a request: n has to be 1", param="n")
    options = _mapping(body, "stream_options")
    return ChatRequest(
        messages=messages,
        model=_text(body, "model") or MODEL,
        stream=body.get("stream") is True,
        include_usage=options.get("include_usage") is True,
        session=headers.get("X-Echelon-Session") or _text(_mapping(body, "metadata"), "session_id", "metadata."),
        retry=headers.get("x-stainless-retry-count", "0").strip() not in ("", "0"),
        once=headers.get("Idempotency-Key"),
    )


def digest(owner: str, messages: Sequence[Message]) -> str:
    """Recognises a conversation of `owner`, also where a client changed its white space; 64 hex digits."""
    told = [(message.role, " ".join(_answer(message).split())) for message in messages]
    return _hash(owner, told)


def identity(owner: str, asked: ChatRequest) -> str:
    """Recognises a request that is sent once more: what is asked has to be the same to the letter; 64 hex digits."""
    return _hash(owner, asked.session, asked.model, digest(owner, asked.before), asked.text)


def exchanges(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """Requests and their answers, oldest first; a request without an answer is left out."""
    found: list[tuple[str, str]] = []
    said: dict[str, list[str]] = {"user": [], "assistant": []}
    for message in [*messages, Message("user", "")]:
        if message.role == "user" and said["assistant"]:
            if said["user"]:
                found.append(("\n\n".join(said["user"]), "\n\n".join(said["assistant"])))
            said = {"user": [], "assistant": []}
        if message.role in said and (text := _answer(message).strip()):
            said[message.role].append(text)
    return found


def _answer(message: Message) -> str:
    """The text without progress that a client wrote before it."""
    return _PROGRESS.sub("", message.text) if message.role == "assistant" else message.text


def _hash(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _messages(given: Any) -> tuple[Message, ...]:
    if not isinstance(given, list) or not given:
        raise Problem(400, "messages has to be a list with at least one message", param="messages")
    return tuple(_message(each, f"messages[{at}]") for at, each in enumerate(given))


def _message(given: Any, at: str) -> Message:
    if not isinstance(given, dict) or given.get("role") not in ROLES:
        raise Problem(400, f"{at} has to have a role, one of {', '.join(ROLES)}", param=f"{at}.role")
    role, content = given["role"], given.get("content")
    if content is None and role == "assistant":  # one that only called tools
        content = ""
    text = content if isinstance(content, str) else "\n".join(_parts(content, f"{at}.content"))
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Problem(400, f"{at}.content is not valid text", param=f"{at}.content") from None
    return Message(role, text)


def _parts(content: Any, at: str) -> Iterator[str]:
    if not isinstance(content, list):
        raise Problem(400, f"{at} has to be text, or a list of parts", param=at)
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind != "text":
            what = {"image_url": "images", "input_audio": "audio", "file": "files"}.get(str(kind), f"{kind!r} parts")
            raise Problem(400, f"{at}: {what} are not supported, only text", param=at, code="unsupported_content")
        if not isinstance(part.get("text"), str):
            raise Problem(400, f"{at}: a part of type text has to have a text", param=at)
        yield part["text"]


def _mapping(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = body.get(name)
    if value is not None and not isinstance(value, dict):
        raise Problem(400, f"{name} has to be an object", param=name)
    return value or {}


def _text(body: Mapping[str, Any], name: str, prefix: str = "") -> str | None:
    value = body.get(name)
    if value is not None and not isinstance(value, str):
        raise Problem(400, f"{prefix}{name} has to be text", param=f"{prefix}{name}")
    return value or None
