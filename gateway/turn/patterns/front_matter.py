"""The YAML head of a pattern file."""

from __future__ import annotations

import re

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from gateway.turn.patterns.syntax import FrontMatter

Problem = tuple[int, str]

_FENCE = re.compile(r"---\s*")


def split_front_matter(lines: list[str]) -> tuple[FrontMatter | None, int, list[Problem]]:
    """The head, how many lines it takes (its fences counted), and what is wrong with it. No head is no problem."""
    if not lines or not _FENCE.fullmatch(lines[0]):
        return None, 0, []
    end = next((at for at, line in enumerate(lines[1:], start=1) if _FENCE.fullmatch(line)), None)
    if end is None:
        return None, len(lines), [(1, "the front matter does not end: a second --- is missing")]
    head = lines[1:end]
    try:
        data = yaml.safe_load("\n".join(head))
    except yaml.MarkedYAMLError as error:
        at = error.problem_mark.line + 2 if error.problem_mark else 1
        return None, end + 1, [(at, f"the front matter is not YAML: {error.problem or error.context}")]
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:  # such as a date that is none
        return None, end + 1, [(1, f"the front matter is not YAML: {error}")]
    if not isinstance(data, dict):
        return None, end + 1, [(1, "the front matter has no keys")]
    try:
        return FrontMatter.model_validate(data), end + 1, []
    except ValidationError as error:
        problems = [_problem(head, str(each["loc"][0]) if each["loc"] else "", each) for each in error.errors()]
        return None, end + 1, problems


def _problem(head: list[str], key: str, error: ErrorDetails) -> Problem:
    line = next((at for at, text in enumerate(head, start=2) if text.startswith(f"{key}:")), 1)
    if error["type"] == "extra_forbidden":
        return line, f"front matter has no key {key!r}; its keys are {', '.join(FrontMatter.model_fields)}"
    return line, f"front matter, {key}: {error['msg']}"
