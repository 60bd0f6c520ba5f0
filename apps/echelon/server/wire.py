"""The objects of OpenAI's chat completions, and their stream of server-sent events."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping
from typing import Any

from echelon.server.reply import Reply

Object = dict[str, Any]

DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": working\n\n"  # a comment, so that nobody on the way takes the connection for dead


class Completion:
    """One answer on the wire: its id and time are the same in all of its parts."""

    def __init__(self, model: str) -> None:
        self._same = {"id": f"chatcmpl-{secrets.token_hex(12)}", "created": int(time.time()), "model": model}

    def whole(self, content: str, reasoning: str = "", reply: Reply | None = None) -> Object:
        """The answer in one piece; without a `reply` no turn was needed."""
        message: Object = {"role": "assistant", "content": content}
        if reasoning:
            message["reasoning_content"] = reasoning
        reason = reply.finish_reason if reply else "stop"
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}
        return {
            **self._same,
            "object": "chat.completion",
            "choices": [choice],
            "usage": usage(reply.spent if reply else {}),
            **_place(reply),
        }

    def chunk(self, delta: Mapping[str, str], finish: str | None = None, reply: Reply | None = None) -> Object:
        """A piece of a streamed answer; the last one has `finish` and `reply`."""
        choice = {"index": 0, "delta": dict(delta), "logprobs": None, "finish_reason": finish}
        return {**self._same, "object": "chat.completion.chunk", "choices": [choice], **_place(reply)}

    def spent(self, reply: Reply | None) -> Object:
        """What `stream_options.include_usage` asks for, after the last piece."""
        used = usage(reply.spent if reply else {})
        return {**self._same, "object": "chat.completion.chunk", "choices": [], "usage": used}


def usage(spent: Mapping[str, int]) -> Object:
    read, written = spent.get("prompt_tokens", 0), spent.get("completion_tokens", 0)
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
        "prompt_tokens_details": {"cached_tokens": spent.get("cached_tokens", 0)},
    }


def event(data: Mapping[str, Any]) -> bytes:
    """A server-sent event."""
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def model_object(name: str, created: int) -> Object:
    return {"id": name, "object": "model", "created": created, "owned_by": "echelon"}


def _place(reply: Reply | None) -> Object:
    if reply is None:
        return {}
    return {"echelon": {"session": reply.session, "turn": reply.turn, "run": reply.run, "status": reply.status}}
