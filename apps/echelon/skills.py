"""`echelon skills`: the Agent Skills that were written."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from echelon import options
from echelon.terminal import put_json, put_markdown, put_table, say

if TYPE_CHECKING:
    from gateway import Settings
    from gateway.tools.builtin.skill import SkillFile


@click.group(cls=options.Group, epilog="\b\nExamples:\n  echelon skills list\n  echelon skills show csv-parsing\n")
def skills() -> None:
    """Skills: list those that were written, show one."""


@skills.command("list", epilog="\b\nExamples:\n  echelon skills list\n  echelon skills list --json\n")
@options.as_json
@options.home
def list_skills(settings: Settings, as_json: bool) -> None:
    """List the skills of this home, and whether each is valid."""
    from echelon.output.skill import SkillRow

    files = _files(settings)
    if as_json:
        put_json([SkillRow(**_facts(file)) for file in files])
        return
    if not files:
        say('there are no skills yet; for example: echelon run "Make a skill for parsing CSV files"')
        return
    rows = [[file.name, "; ".join(file.problems) or "valid", file.description] for file in files]
    put_table(["skill", "state", "description"], rows)


@skills.command(epilog="\b\nExamples:\n  echelon skills show csv-parsing\n  echelon skills show csv > SKILL.md\n")
@click.argument("name", metavar="NAME")
@options.as_json
@options.home
def show(settings: Settings, name: str, as_json: bool) -> None:
    """Show a skill's SKILL.md."""
    from echelon.output.skill import SkillShown
    from gateway.errors import UsageError

    files = {file.name: file for file in _files(settings)}
    if name not in files:
        there = ", ".join(files) or "none yet"
        raise UsageError(f"there is no skill {name!r}", hint=f"there are: {there}")
    file = files[name]
    text = file.path.read_text(encoding="utf-8")
    if as_json:
        put_json(SkillShown(**_facts(file), text=text))
        return
    say(str(file.path))
    put_markdown(text)


def _files(settings: Settings) -> list[SkillFile]:
    from gateway import Gateway

    with closing(Gateway(settings)) as gateway:
        return gateway.skills()


def _facts(file: SkillFile) -> dict[str, Any]:
    """What a list and a skill that is shown have in common."""
    return {
        "name": file.name,
        "path": str(file.path),
        "description": file.description,
        "problems": file.problems,
    }
