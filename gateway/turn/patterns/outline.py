"""The numbered steps of a Markdown text with their bullets; everything else is prose for the model."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_STEP = re.compile(r" {0,3}([0-9]{1,4})[.)]\s+(.*)")
_BULLET = re.compile(r"\s*[-*+]\s+(.*)")
_HEADING = re.compile(r"#{1,6}\s+(.*)")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_CODE_FENCE = re.compile(r"\s*(```|~~~)")


@dataclass
class Item:
    """A numbered line, its continuation lines joined to it, and the bullets under it as (line, text)."""

    line: int
    number: int
    text: str
    bullets: list[tuple[int, str]] = field(default_factory=list)

    def extend(self, text: str) -> None:
        if self.bullets:
            line, before = self.bullets[-1]
            self.bullets[-1] = (line, f"{before} {text}")
        else:
            self.text = f"{self.text} {text}"


def outline(lines: list[str], *, first_line: int) -> tuple[str, list[Item]]:
    """The heading that names the text (or an empty string), and its steps. Code fences are skipped.

    An indented line right after a step or a bullet continues it; after an empty line, or not indented, it is prose.
    """
    title = ""
    items: list[Item] = []
    current: Item | None = None
    continues = False
    fenced = False
    for number, raw in enumerate(lines, start=first_line):
        line = raw.rstrip()
        if _CODE_FENCE.match(line):
            fenced = not fenced
            continues = False
            continue
        if fenced:
            continue
        step, bullet, heading = _STEP.fullmatch(line), _BULLET.fullmatch(line), _HEADING.fullmatch(line)
        if step:
            current = Item(number, int(step[1]), step[2].strip())
            items.append(current)
            continues = True
        elif not line.strip():
            continues = False
        elif bullet and current:
            current.bullets.append((number, bullet[1].strip()))
            continues = True
        elif line[0].isspace() and current:
            if continues:
                current.extend(line.strip())
        else:
            current = None
            if heading and not items and not title and _NAME.fullmatch(heading[1].strip()):
                title = heading[1].strip()
    return title, items
