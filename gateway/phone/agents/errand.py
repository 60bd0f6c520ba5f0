"""What a task on a phone is about, as the model read it once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

from gateway.phone.agents.spans import TIME, quoted, spans
from gateway.phone.listing import words
from gateway.phone.task.state import Plain

Goal = Literal["switch on", "switch off", "find out", "get things", "write", "other"]
GOALS = ("switch on", "switch off", "find out", "get things", "write", "other")
MOST_THINGS = 6
NUMBER = re.compile(r"[+\d][\d\s:./-]*(?:\s*[ap]\.?m\.?)?", re.IGNORECASE)

# Words that name the kind of a thing and not the thing: "dark mode" and "Dark theme" are the same switch.
KINDS = frozenset(
    "mode theme setting option feature function use enable enabled switch turn toggle the my a an of on off".split()
)


class Errand(Plain):
    """`about` is the setting, the question's subject, or what is to be made; `things` are what has to be entered or
    chosen, word for word. `app` is the label of the app in which that is done."""

    goal: Goal
    about: str = ""
    things: tuple[str, ...] = ()
    app: str = ""

    @property
    def wanted(self) -> bool | None:
        """The state that a switch shall have, where it is about one."""
        return {"switch on": True, "switch off": False}.get(self.goal)


def schema(task: str, apps: Sequence[str]) -> dict[str, Any]:
    """Of an errand: everything that is copied from the task is one of its spans."""
    said = spans(task)
    text: dict[str, Any] = {"type": "string", "enum": said} if said else {"type": "string"}
    return {
        "type": "object",
        "properties": {
            "goal": {"type": "string", "enum": list(GOALS)},
            "about": text,
            "things": {"type": "array", "items": text, "maxItems": MOST_THINGS},
            "app": {"type": "string", "enum": list(dict.fromkeys(apps)) or [""]},
        },
        "required": ["goal", "about", "things", "app"],
        "additionalProperties": False,
    }


def errand_of(said: dict[str, Any], task: str) -> Errand:
    """With what the task has in quotation marks, which is always meant word for word."""
    things = list(dict.fromkeys(said["things"]))
    for each in quoted(task):
        if not any(each == thing for thing in things):
            things = [thing for thing in things if thing not in each and each not in thing] + [each]
    goal = said["goal"]
    if goal in ("switch on", "switch off") and (time := TIME.search(task)):
        goal, things = "write", [time[0]]  # what is to be at a time is made, not switched
    elif goal in ("switch on", "switch off", "find out"):
        things = []
    elif goal == "get things" and any(NUMBER.fullmatch(each) for each in things):
        goal = "write"  # numbers and times are entered
    return Errand(goal=goal, about=said["about"], things=tuple(things), app=said["app"])


def core(text: str) -> frozenset[str]:
    """The words that say what it is."""
    return frozenset(words(text)) - KINDS


def same_thing(one: str, other: str) -> bool:
    """Whether two names mean the same: "wifi" and "Wi-Fi", "dark mode" and "Dark theme"."""
    return bool(core(one)) and _squashed(one) == _squashed(other)


def _squashed(text: str) -> str:
    return re.sub(r"[\W_]+", "", "".join(word for word in words(text) if word not in KINDS))
