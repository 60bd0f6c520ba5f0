"""The skills that there are: those of the workspace, then those of the home; the first of a name counts."""

from __future__ import annotations

import difflib
import os
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from gateway.errors import ToolError
from gateway.tools.skills.index import Index
from gateway.tools.skills.skill import Facts, Origin, Skill, instructions_file
from gateway.tools.skills.versions import Versions

# Our own, then those that several agents share, then where a repository of skills has them.
WORKSPACE_FOLDERS = (".echelon/skills", ".agents/skills", ".claude/skills", "skills")


@dataclass(frozen=True)
class _Place:
    """A folder of skills; none of them may lie outside `within`. In a `shared` one, not every folder is a skill."""

    folder: Path
    within: Path
    origin: Origin
    shared: bool = False


class SkillLibrary:
    """Read when it is made; the folders need not exist."""

    def __init__(self, home: Path, workspace: Path) -> None:
        self.home = home
        index = Index(home / "cache" / "skills.json")
        standing: dict[str, Path] = {}
        self._skills: list[Skill] = []
        for skill in _found(home, workspace, index):
            if not skill.facts.problems:
                first = standing.setdefault(skill.name, skill.folder)
                if first is not skill.folder:
                    skill = replace(skill, shadowed_by=first)
            self._skills.append(skill)
        index.save()

    def __iter__(self) -> Iterator[Skill]:
        """Every one, also those that are not valid and those that are shadowed, by name."""
        return iter(sorted(self._skills, key=lambda skill: skill.name))

    def usable(self) -> list[Skill]:
        """Those that may be offered, by name."""
        return [skill for skill in self if skill.usable]

    def get(self, name: str) -> Skill:
        """The usable skill of that name. Raises ToolError, which says why there is none."""
        mine = [skill for skill in self._skills if skill.name == name]
        found = next((skill for skill in mine if skill.usable), None)
        if found is not None:
            return found
        if mine:
            raise ToolError(
                f"the skill {name} is not valid: {'; '.join(mine[0].facts.problems)}", hint=f"{mine[0].path}"
            )
        raise self.unknown(name)

    def unknown(self, name: str) -> ToolError:
        """The error of a name that no skill has, with the nearest."""
        names = sorted({skill.name for skill in self._skills})
        near = difflib.get_close_matches(name, names, n=1)
        meant = f" Did you mean {near[0]}?" if near else ""
        more = f" and {len(names) - 20} more" if len(names) > 20 else ""
        there = ", ".join(names[:20]) + more if names else "none yet"
        return ToolError(f"there is no skill {name!r}.{meant}", hint=f"there are: {there}")

    def versions(self, name: str) -> Versions:
        """Of a skill of the home. Raises ToolError for one that the home does not have."""
        found = Versions(self.home, name)
        if not found.known():
            standing = next(
                (skill for skill in self._skills if skill.name == name and skill.origin == "workspace"), None
            )
            if standing is not None:
                raise ToolError(
                    f"{name} is a skill of the workspace: versions are kept of those of the home alone",
                    hint=f"it is in {standing.folder}",
                )
            raise self.unknown(name)
        return found


def _found(home: Path, workspace: Path, index: Index) -> Iterator[Skill]:
    """Every skill once, the ones that count before those that they shadow."""
    seen: set[str] = set()
    for place in _places(home, workspace):
        within, root = os.path.realpath(place.within), os.path.realpath(place.folder)
        for entry in _folders(place.folder):
            real = os.path.realpath(entry.path) if entry.is_symlink() else os.path.join(root, entry.name)
            folder = Path(entry.path)
            if real in seen or (place.shared and instructions_file(folder) is None):
                continue
            seen.add(real)
            inside = real.startswith(within.rstrip("/") + "/")
            facts = index.facts(folder) if inside else Facts(problems=(f"it is a link out of the {place.origin}",))
            yield Skill(unicodedata.normalize("NFKC", entry.name), folder, place.origin, facts)


def _places(home: Path, workspace: Path) -> Iterator[_Place]:
    own = home / "skills"
    for name in WORKSPACE_FOLDERS:
        if os.path.realpath(workspace / name) != os.path.realpath(own):  # the home may lie in the workspace
            yield _Place(workspace / name, workspace, "workspace", shared=name == "skills")
    yield _Place(own, home, "home")


def _folders(folder: Path) -> list[os.DirEntry[str]]:
    """Its folders by name, without hidden ones; none where it is not there, or not ours to read."""
    found: list[os.DirEntry[str]] = []
    with suppress(OSError), os.scandir(folder) as entries:
        found = [each for each in entries if not each.name.startswith(".") and each.is_dir()]
    return sorted(found, key=lambda each: each.name)
