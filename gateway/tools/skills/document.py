"""A SKILL.md made of a model's steps and of the sources' own words."""

from __future__ import annotations

import builtins
import keyword
import re
from typing import Annotated

from pydantic import BaseModel, StringConstraints

from gateway.fence import fenced

FEWEST, MAX_STEP = 3, 500  # steps; characters of one
NAMED = r"\.[A-Za-z_]\w*|[A-Za-z_]\w*\(|^[A-Za-z_]\w*$"  # in code: an attribute, a call, a name alone
MARKER = re.compile(r"^\s{0,3}(?:\d+[.)]|[-*+])\s+")  # of a list's item

Step = Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=MAX_STEP)]


class Passage(BaseModel):
    """What is quoted: `quote` stands in the source letter for letter; `code` is the code example in it, if any."""

    title: str
    source: str
    heading: str
    quote: str
    code: str = ""


def steps_of(text: str) -> list[str]:
    """The items of a Markdown list: what stands below one belongs to it, what stands before the first is left out."""
    steps: list[str] = []
    for line in text.splitlines():
        if MARKER.match(line):
            steps.append(MARKER.sub("", line).strip())
        elif steps and line.strip():
            steps[-1] += f" {line.strip()}"
    return [step[:MAX_STEP] for step in steps[:8]]


def grounded(steps: list[str], source: list[Passage]) -> tuple[list[str], list[str]]:
    """The steps without those that name something in code that no source has, and these names; three steps at least
    are kept, those with the fewest such names. Small models make functions up."""
    if not source:
        return steps, []
    known = set(re.findall(r"\w+", " ".join(" ".join((each.heading, each.quote, each.code)) for each in source)))
    missing = [[name for name in _named(step) if name not in known] for step in steps]
    best = sorted(range(len(steps)), key=lambda at: (len(missing[at]), at))
    kept = {at for rank, at in enumerate(best) if rank < FEWEST or not missing[at]}
    left_out = [name for at, names in enumerate(missing) if at not in kept for name in names]
    return [step for at, step in enumerate(steps) if at in kept], list(dict.fromkeys(left_out))


def _named(step: str) -> list[str]:
    """The names that a step's code spans call, look up, or consist of; not what Python itself brings."""
    spans = re.findall(r"`([^`]+)`", step)
    names = [match[0].strip(".(") for span in spans for match in re.finditer(NAMED, span)]
    return [name for name in names if not keyword.iskeyword(name) and not hasattr(builtins, name)]


def render(name: str, description: str, steps: list[str], source: list[Passage], version: int) -> bytes:
    """What the skill is for, the steps, an example from the sources, what they say word for word."""
    import yaml

    front = yaml.safe_dump(
        {"name": name, "description": description, "metadata": {"version": str(version)}},
        allow_unicode=True,
        sort_keys=False,
        width=10_000,
    )
    title = name.replace("-", " ").capitalize()
    parts = [f"---\n{front}---", f"# {title}", f"## When to use\n\n{description}"]
    lines = (re.sub(r"^(\d+[.)]|[-*])\s+", "", " ".join(each.split())) for each in steps)
    parts.append("## Steps\n\n" + "\n".join(f"{number}. {step}" for number, step in enumerate(lines, 1)))
    example = next((each for each in source if each.code), None)
    if example:
        parts.append(f"## Example\n\nFrom {_reference(example)}:\n\n{fenced(example.code, _language(example.code))}")
    if source:
        quotes = [f"### {_reference(each)}\n\n{fenced(each.quote, 'text')}" for each in source]
        parts.append("## Sources\n\nQuoted word for word.\n\n" + "\n\n".join(quotes))
    return ("\n\n".join(parts) + "\n").encode()


def _reference(found: Passage) -> str:
    where = found.title if found.heading == found.title else f"{found.title}, {found.heading}"
    return f"{' '.join(where.split())} (`{' '.join(found.source.split()).replace('`', '%60')}`)"


def _language(code: str) -> str:
    if code.lstrip().startswith((">>>", "$ ")):
        return "pycon" if code.lstrip().startswith(">>>") else "console"
    return "python" if re.search(r"^(\s*)(import |from \w|def |class |async |@|\w+ = )", code, re.MULTILINE) else "text"
