"""Which skills bear on a request, and how §1 tells of them."""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing

from gateway.tools.fulltext import TOKENIZE, terms
from gateway.tools.skills.skill import Skill
from gateway.tools.stopwords import OF_THE_TASK

MAX_LISTED = 3
MAX_LINE = 130  # characters of a description: three of them are about 100 tokens
IN_NAME = 3.0  # a word in a name says more than one in a description
LEAST_COVERED = 0.25  # of the request's words, where no name has one of them
_WORD = re.compile(r"[^\W_]+")
# what could look like a section of the prompt, or end the fence around it
_FORBIDDEN = str.maketrans({"§": None, "`": "'"})


def bearing(skills: Sequence[Skill], request: str) -> list[Skill]:
    """The skills that bear on the request, the most telling first.

    One does that is named; or half of whose name's words are in the request; or that has two of the request's words,
    and a quarter of them all. Words are compared by their stems, and count more the fewer skills have them.
    """
    words = [each for each in terms(request) if each not in OF_THE_TASK]
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute(f"CREATE VIRTUAL TABLE skills USING fts5(name, description, tokenize='{TOKENIZE}')")
        rows = [(at, each.name, each.facts.description) for at, each in enumerate(skills)]
        db.executemany("INSERT INTO skills (rowid, name, description) VALUES (?, ?, ?)", rows)
        anywhere = {word: _rows(db, f'"{word}"') for word in words}
        in_names = {word: _rows(db, f'name : "{word}"') for word in words}
    weight = {word: math.log(1 + len(skills) / len(found)) for word, found in anywhere.items() if found}
    asked = _words(request)
    scores: dict[int, float] = {}
    for at, skill in enumerate(skills):
        covered = [word for word in weight if at in anywhere[word]]
        name = [word for word in covered if at in in_names[word]]
        named = _words(skill.name) in asked
        telling = 2 * len(name) >= len(skill.name.split("-")) and bool(name)
        if named or telling or (len(covered) >= 2 and len(covered) >= LEAST_COVERED * len(words)):
            score = sum(weight[word] * (IN_NAME if word in name else 1) for word in covered)
            scores[at] = score + (1_000 if named else 0)
    return [skills[at] for at in sorted(scores, key=lambda at: (-scores[at], skills[at].name))]


def listing(skills: Sequence[Skill], request: str) -> str:
    """The few that bear most on the request, one a line with what it is for; empty where none does."""
    return "\n".join(
        f"- {each.name}: {_short(each.facts.description)}" for each in bearing(skills, request)[:MAX_LISTED]
    )


def _rows(db: sqlite3.Connection, expression: str) -> set[int]:
    return {at for (at,) in db.execute("SELECT rowid FROM skills WHERE skills MATCH ?", (expression,))}


def _words(text: str) -> str:
    """Lower case, each with a space before and after it."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


def _short(description: str) -> str:
    text = " ".join(description.translate(_FORBIDDEN).split())
    return text if len(text) <= MAX_LINE else f"{text[: MAX_LINE - 1].rstrip()}…"
