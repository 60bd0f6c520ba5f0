"""Skills that were written: a list of them, one with its text."""

from __future__ import annotations

from echelon.output.shape import Shape


class SkillRow(Shape):
    """A skill in a list: the path of its SKILL.md, and what the standard's checker finds wrong with it."""

    name: str
    path: str
    description: str
    problems: tuple[str, ...]


class SkillShown(SkillRow):
    """A skill with the `text` of its SKILL.md."""

    text: str
