"""What a task says word for word: the texts that can be copied out of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST = 240  # as an enum: OpenAI's strict mode bounds those, and a grammar of more is slow
LONGEST = 14  # words, where the task is a long one

TOKEN = re.compile(r"\S+")
QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|(?<!\w)[\'‘]([^\'’]+)[\'’](?!\w)')
TIME = re.compile(r"\b(\d{1,2})(?:[:.](\d{2}))?\s*([ap])\.?m\b\.?|\b(\d{1,2})[:.](\d{2})\b", re.IGNORECASE)
EDGE = ",.;:!?\"'“”„«»‘’()[]"


def quoted(task: str) -> list[str]:
    """What stands in quotation marks."""
    return [next(filter(None, found.groups())).strip() for found in QUOTED.finditer(task)]


def spans(task: str) -> list[str]:
    """What stands in quotation marks, the parts of times, then every run of words, without punctuation at its ends: the
    shorter first to be left out where there are too many."""
    parts = [part for hour, whole, minute in times(task) for part in (whole, hour, minute)]
    found = dict.fromkeys([*quoted(task), *parts, *_runs(task)])
    return [each for each in found if each][:MOST]


def times(task: str) -> list[tuple[str, str, str]]:
    """Of each time: its hour as it is said, the hour on a clock of 24 hours, its minute."""
    found = []
    for match in TIME.finditer(task):
        hour, half = match[1] or match[4], (match[3] or "").lower()
        whole = int(hour) % 12 + (12 if half == "p" else 0) if half else int(hour)
        found.append((hour, str(whole), match[2] or match[5] or "00"))
    return found


def _runs(task: str) -> Iterator[str]:
    words = list(TOKEN.finditer(task))
    many = len(words) * (len(words) + 1) // 2 > MOST
    lengths = range(1, min(len(words), LONGEST) + 1) if many else range(1, len(words) + 1)
    tails = [(0, len(words))] + [(at, len(words)) for at in range(1, len(words))] if many else []
    for begin, end in [*tails, *((at, at + length) for length in lengths for at in range(len(words) - length + 1))]:
        run = task[words[begin].start() : words[end - 1].end()]
        yield run.strip().lstrip(EDGE).rstrip(EDGE.replace(")", "").replace("!", "").replace("?", "")).strip()
        yield run.strip(EDGE).strip()
