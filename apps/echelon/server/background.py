"""What chat clients ask by themselves, for a title, tags or suggestions: answered by code, without a model or a turn.

Open WebUI sends one message that begins with `### Task:`, says which JSON it wants, and quotes the conversation between
`<chat_history>` tags as lines `USER: …` and `ASSISTANT: …`.
"""

from __future__ import annotations

import json
import re
from typing import Any

from echelon.server.messages import ChatRequest
from echelon.terminal import one_line

TITLE = 50  # characters

_HISTORY = re.compile(r"<chat_history>(.*)</chat_history>", re.DOTALL)
_WANTED = re.compile(r'"(title|tags|follow_ups|queries|text)"\s*:')
_FIRST = re.compile(r"^USER:(.*?)(?=^(?:USER|ASSISTANT):|\Z)", re.DOTALL | re.MULTILINE)


def answer(asked: ChatRequest) -> str | None:
    """The answer to a request of the client's own, as JSON; None where a person asks."""
    history = _HISTORY.search(asked.text)
    alone = all(message.role in ("system", "developer") for message in asked.before)
    if not alone or history is None or not asked.text.lstrip().startswith("### Task:"):
        return None
    wanted = _WANTED.search(asked.text.replace(history.group(), ""))
    if wanted is None:
        return None
    answers: dict[str, Any] = {
        "title": title(history.group(1)),
        "tags": ["General"],
        "follow_ups": [],
        "queries": [],
        "text": "",
    }
    name = wanted.group(1)
    return json.dumps({name: answers[name]}, ensure_ascii=False)


def title(history: str) -> str:
    """The beginning of what the person asked first, cut between words."""
    first = _FIRST.search(history)
    text = one_line((first.group(1) if first else history).lstrip(" \n#*>").strip(" \n\"'"), 10 * TITLE)
    if len(text) <= TITLE:
        return text or "New chat"
    return text[: TITLE - 1].rsplit(" ", 1)[0] + "…"
