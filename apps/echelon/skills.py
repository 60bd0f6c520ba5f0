"""`echelon skills`: the Agent Skills that there are, and their versions."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import click

from echelon import options
from echelon.terminal import ago, put_json, put_markdown, put_table, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway import Settings
    from gateway.tools.skills.library import SkillLibrary
    from gateway.tools.skills.skill import Skill


@click.group(
    cls=options.Group,
    epilog="\b\nExamples:\n  echelon skills list\n  echelon skills show csv-parsing\n  echelon skills restore csv 1\n",
)
def skills() -> None:
    """Skills: list and show them, go back to an earlier version.

    They are looked for in .echelon/skills, .agents/skills, .claude/skills and skills of the workspace, then in
    $ECHELON_HOME/skills; the first of a name counts.
    """


@skills.command("list", epilog="\b\nExamples:\n  echelon skills list\n  echelon skills list --json\n")
@options.as_json
@options.workspace
def list_skills(settings: Settings, as_json: bool) -> None:
    """List the skills, where each comes from, and what is wrong with it."""
    from echelon.output.skill import SkillRow

    with _library(settings) as library:
        found = list(library)
    if as_json:
        put_json([SkillRow(**_facts(skill)) for skill in found])
        return
    if not found:
        say('there are no skills yet; for example: echelon run "Make a skill for parsing CSV files"')
        return
    rows = [[skill.name, skill.origin, _state(skill), skill.facts.description or _trouble(skill)] for skill in found]
    put_table(["skill", "from", "state", "description"], rows, spare=("from",))


@skills.command(
    epilog="""\b
Examples:
  echelon skills show csv-parsing
  echelon skills show csv-parsing --version 1
  echelon skills show csv-parsing > SKILL.md
"""
)
@click.argument("name", metavar="NAME")
@click.option("--version", metavar="N", type=int, help="Its version N: `echelon skills versions NAME` lists them.")
@options.as_json
@options.workspace
def show(settings: Settings, name: str, version: int | None, as_json: bool) -> int:
    """Show a skill's SKILL.md."""
    from dataclasses import replace

    from echelon.output.skill import SkillShown
    from gateway.errors import ConfigError, ToolError
    from gateway.tools.skills.skill import Skill, facts_of

    with _library(settings) as library:
        mine = [skill for skill in library if skill.name == name]
        # one that is usable, else one that can be repaired; of several of the same kind, the one that counts
        skill = min(mine, key=lambda each: (not each.usable, bool(each.shadowed_by)), default=None)
        if version is not None:
            versions = library.versions(name)
            data = versions.read(version)
            own = next((each for each in mine if each.origin == "home"), None)
            skill = own or Skill(name, library.home / "skills" / name, "home", facts_of(data, name))
            skill = replace(skill, facts=facts_of(data, name))
            path = next(each.path for each in versions.listed() if each.number == version)
        elif skill is None:
            raise library.unknown(name)
        else:
            path = skill.path
            try:
                data = skill.read(path.name)
            except ToolError as error:
                raise ConfigError(f"{name}: {_trouble(skill) or error}", hint=f"repair {path}") from None
    text = data.decode("utf-8", "replace")
    if as_json:
        files = tuple(each for each in skill.files() if each != skill.path.name) if skill.folder.is_dir() else ()
        put_json(SkillShown(**{**_facts(skill), "path": str(path)}, text=text, files=files))
    else:
        say(f"{path} ({skill.origin})")
        put_markdown(text)
    if skill.facts.problems:
        say(f"error: not valid: {_trouble(skill)}")
        return ConfigError.exit_code
    return 0


@skills.command(epilog="\b\nExamples:\n  echelon skills versions csv-parsing\n")
@click.argument("name", metavar="NAME")
@options.as_json
@options.home
def versions(settings: Settings, name: str, as_json: bool) -> None:
    """List the versions of a skill of this home, the oldest first."""
    from echelon.output.skill import VersionRow

    with _library(settings) as library:
        found = library.versions(name).listed()
    if as_json:
        put_json(
            [
                VersionRow(
                    skill=name, version=each.number, current=each.current, path=str(each.path), written=each.written
                )
                for each in found
            ]
        )
        return
    rows = [
        [str(each.number), "current" if each.current else "kept", ago(each.written), str(each.path)] for each in found
    ]
    put_table(["version", "state", "written", "file"], rows)


@skills.command(epilog="\b\nExamples:\n  echelon skills restore csv-parsing 1\n")
@click.argument("name", metavar="NAME")
@click.argument("number", metavar="N", type=int)
@options.as_json
@options.home
def restore(settings: Settings, name: str, number: int, as_json: bool) -> None:
    """Put version N of a skill of this home back in its place; the one that is there is kept."""
    from echelon.output.skill import SkillRestored

    with _library(settings) as library:
        former = library.versions(name).restore(number)
        path = library.home / "skills" / name / "SKILL.md"
    if as_json:
        put_json(SkillRestored(skill=name, version=number, former=former, path=str(path)))
        return
    if former == number:
        say(f"{name} is at version {number} already")
        return
    kept = f"; version {former} is kept: echelon skills restore {name} {former}" if former is not None else ""
    say(f"{name} is at version {number} again{kept}")


@contextmanager
def _library(settings: Settings) -> Iterator[SkillLibrary]:
    """The skills; what is wrong with a name that was given is a wrong usage."""
    from gateway import Gateway
    from gateway.errors import ToolError, UsageError

    with closing(Gateway(settings)) as gateway:
        try:
            yield gateway.skills()
        except ToolError as error:
            raise UsageError(str(error), hint=error.hint) from None


def _state(skill: Skill) -> str:
    if skill.facts.problems:
        return "not valid"
    if skill.shadowed_by is not None:
        return "shadowed"
    return f"version {skill.facts.version}" if skill.facts.version else "valid"


def _trouble(skill: Skill) -> str:
    return "; ".join(skill.facts.problems)


def _facts(skill: Skill) -> dict[str, Any]:
    """What a list and a skill that is shown have in common."""
    return {
        "name": skill.name,
        "origin": skill.origin,
        "path": str(skill.path),
        "version": skill.facts.version,
        "description": skill.facts.description,
        "shadowed_by": str(skill.shadowed_by) if skill.shadowed_by else None,
        "problems": skill.facts.problems,
    }
