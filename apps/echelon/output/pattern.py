"""Patterns of task types: a list of them, one with its text, what is wrong with them."""

from __future__ import annotations

from echelon.output.shape import Shape


class PatternRow(Shape):
    """A task type in a list: where its file is, and what it comes from (`origin`). Where it is not `available`, `error`
    says why, and what only a compiled pattern has is null."""

    task_type: str
    origin: str
    path: str
    available: bool
    description: str | None
    max_steps: int | None
    error: str | None


class PatternShown(PatternRow):
    """A task type with its file's `text`."""

    text: str


class PatternProblem(Shape):
    """What is wrong, in which line (from 1) of which file; `suggestion` is what was probably meant."""

    file: str
    line: int
    message: str
    suggestion: str | None


class PatternProblems(Shape):
    """The paths of the `files` that were checked, and every problem of theirs."""

    files: tuple[str, ...]
    problems: tuple[PatternProblem, ...]
