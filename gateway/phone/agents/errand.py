"""What a task on a phone is about, as the model read it once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

from gateway.phone.agents.button_words import EXCEPTING, PRESSING, SAVING
from gateway.phone.agents.spans import TIME, quoted, spans
from gateway.phone.listing import words
from gateway.phone.task.state import Plain

Goal = Literal["switch on", "switch off", "find out", "get things", "write", "other"]
GOALS = ("switch on", "switch off", "find out", "get things", "write", "other")
MOST_THINGS = 6
NEAR = 3  # words: "press the Submit" of "press the Submit button"
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
        if _does_more(goal, task, said["about"]):
            goal = "other"
        else:
            things = []
    elif goal == "get things" and any(NUMBER.fullmatch(each) for each in things):
        goal = "write"  # numbers and times are entered
    return Errand(goal=goal, about=said["about"], things=tuple(things), app=said["app"])


def _does_more(goal: Goal, task: str, about: str) -> bool:
    """Whether the task asks for more than to look for a place: it says itself what is to be pressed in the end, such
    as "and click Submit", or names something else than the switch."""
    said = _words(task)
    after = [said[at + 1 : at + 1 + NEAR] for at, each in enumerate(said) if each in PRESSING]
    if goal == "find out":
        return bool(after) and "?" not in task
    return any(not SAVING.isdisjoint(each) for each in after) or bool(quoted(task) and not _quotes(task, about))


def is_pressed(thing: str, task: str) -> bool:
    """Whether the task says that just this is to be pressed: 'click on the link "Terms"'."""
    said, named = _words(task), _words(thing)
    places = [at for at in range(len(said)) if named and said[at : at + len(named)] == named]
    return any(not PRESSING.isdisjoint(said[max(at - NEAR - 1, 0) : at]) for at in places)


def names(task: str, text: str) -> bool:
    """Whether a task has the text word for word, and says of nothing that it is not meant."""
    said, named = _words(task), _words(text)
    places = range(len(said) - len(named) + 1)
    return bool(named) and EXCEPTING.isdisjoint(said) and any(said[at : at + len(named)] == named for at in places)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _quotes(task: str, about: str) -> bool:
    return any(core(about) <= core(each) for each in quoted(task))


def core(text: str) -> frozenset[str]:
    """The words that say what it is."""
    return frozenset(words(text)) - KINDS


def same_thing(one: str, other: str) -> bool:
    """Whether two names mean the same: "wifi" and "Wi-Fi", "dark mode" and "Dark theme"."""
    return bool(core(one)) and _squashed(one) == _squashed(other)


def _squashed(text: str) -> str:
    return re.sub(r"[\W_]+", "", "".join(word for word in words(text) if word not in KINDS))
