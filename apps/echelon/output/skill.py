"""Skills: a list of them, one with its text, its versions, one of these put back."""

from __future__ import annotations

from typing import Literal

from echelon.output.shape import Number, Shape


class SkillRow(Shape):
    """A skill in a list: where it comes from, the path of its SKILL.md, the `version` that it says it has (or an empty
    text), the folder of the skill of the same name that counts in its place, and what is wrong with it: one with
    problems is offered to no model."""

    name: str
    origin: Literal["workspace", "home"]
    path: str
    version: str
    description: str
    shadowed_by: str | None
    problems: tuple[str, ...]


class SkillShown(SkillRow):
    """A skill with the `text` of its SKILL.md, or of the version of it that was asked for; `files` are the others."""

    text: str
    files: tuple[str, ...]


class VersionRow(Shape):
    """A version of a skill of the home: where its text is, whether it is the one that counts, and when it was written
    (seconds since the epoch)."""

    skill: str
    version: int
    current: bool
    path: str
    written: Number


class SkillRestored(Shape):
    """A version that is in its place again, and the number of the one that was there: it is kept. The same where
    nothing had to be done, null where no version stood there."""

    skill: str
    version: int
    former: int | None
    path: str
