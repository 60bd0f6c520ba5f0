"""A skill: a folder with a SKILL.md, whose front matter says what it is for (agentskills.io/specification).

What a skill says was written by others. Its `allowed-tools` are checked with the rest of the front matter and then left
alone: what a tool may do, the configuration's policy says.
"""

from __future__ import annotations

import os
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gateway.errors import OutsideWorkspace, ToolError
from gateway.tools.workspace import Workspace

MAX_BYTES = 256_000  # of SKILL.md or another text; the specification recommends at most 5,000 tokens
MAX_FRONT_MATTER = 16_000  # characters: all that the specification allows, several times
MAX_PROBLEM = 300
_FILES = ("SKILL.md", "skill.md")  # as the reference library looks for it

Origin = Literal["workspace", "home"]


@dataclass(frozen=True)
class Facts:
    """What the front matter says: `version` is its `metadata.version`. `problems` say why a skill is not valid."""

    description: str = ""
    version: str = ""
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Skill:
    """`name` is the folder's. One with problems is listed, never offered; nor is one that is `shadowed_by` (the folder)
    another of the same name."""

    name: str
    folder: Path
    origin: Origin
    facts: Facts
    shadowed_by: Path | None = None

    @property
    def usable(self) -> bool:
        return not self.facts.problems and self.shadowed_by is None

    @property
    def path(self) -> Path:
        """Of its SKILL.md, or of where that should be."""
        return self.folder / (instructions_file(self.folder) or _FILES[0])

    def canonical(self, file: str) -> str:
        """The name of a file of the skill's folder, which no path and no link leaves. Raises ToolError."""
        try:
            folder = Workspace(self.folder)
            name = folder.relative(file)
            if not folder.exists(name):
                raise ToolError(f"the skill {self.name} has no file {file}", hint=f"it has: {', '.join(self.files())}")
            return name
        except OutsideWorkspace as error:
            raise OutsideWorkspace(
                f"{file} leads out of the skill {self.name}", hint="name a file of the skill's folder"
            ) from error

    def read(self, file: str) -> bytes:
        """The content of such a file. Raises ToolError."""
        name = self.canonical(file)
        try:
            return Workspace(self.folder).read(name, MAX_BYTES)
        except OSError as error:
            raise ToolError(f"{file} of the skill {self.name} cannot be read: {error.strerror}") from error

    def files(self) -> list[str]:
        """The text files of the folder, SKILL.md first."""
        own = self.path.name
        return sorted(Workspace(self.folder).files(), key=lambda file: (file != own, file))

    def scripts(self) -> list[str]:
        """The files of its scripts folder, relative to that."""
        return [file.removeprefix("scripts/") for file in self.files() if file.startswith("scripts/")]

    def script(self, name: str) -> str:
        """The canonical name of a script, given with or without `scripts/` before it. Raises ToolError."""
        folder = Workspace(self.folder)
        path = folder.relative(os.path.join("scripts", name.removeprefix("scripts/")))
        if not path.startswith("scripts/"):
            raise OutsideWorkspace(f"{name} is outside the scripts of the skill {self.name}")
        if not (folder.root / path).is_file():
            there = ", ".join(self.scripts()) or "none"
            raise ToolError(f"the skill {self.name} has no script {name}", hint=f"there are: {there}")
        return path.removeprefix("scripts/")


def instructions_file(folder: Path) -> str | None:
    """The name of the folder's SKILL.md, None if it has none."""
    return next((each for each in _FILES if os.path.lexists(os.path.join(folder, each))), None)


def examine(folder: Path) -> Facts:
    """What the folder's SKILL.md says, and what is wrong with it. Raises OSError where that cannot be told."""
    file = instructions_file(folder)
    if file is None:
        return Facts(problems=("there is no SKILL.md in it",))
    try:
        data = Workspace(folder).read(file, MAX_BYTES)
    except OutsideWorkspace:
        return Facts(problems=(f"{file} is a link out of the skill's folder",))
    except ToolError as error:
        return Facts(problems=(str(error),))
    return facts_of(data, folder.name)


def facts_of(data: bytes, name: str) -> Facts:
    """Of a SKILL.md in a folder of that name, by the rules of the reference library."""
    from skills_ref.parser import parse_frontmatter  # type: ignore[import-untyped]
    from skills_ref.validator import validate_metadata  # type: ignore[import-untyped]

    try:
        text = data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return Facts(problems=("SKILL.md is not UTF-8 text",))
    parts = text.split("---", 2)  # as the reference library does it
    if len(parts) == 3 and len(parts[1]) > MAX_FRONT_MATTER:
        return Facts(problems=(f"the front matter is longer than {MAX_FRONT_MATTER:,} characters",))
    try:
        front, _ = parse_frontmatter(text)
        problems = [str(each) for each in validate_metadata(front, Path(name))]
    except Exception as error:  # whatever the parser makes of a stranger's text
        problems = [f"{error}" or type(error).__name__]
    if problems:
        return Facts(problems=tuple(" ".join(each.split())[:MAX_PROBLEM] for each in problems))
    return Facts(one_line(front["description"]), _version(front))


def one_line(text: str) -> str:
    """Without line breaks, and without what a terminal or a reader of the prompt would obey or not see."""
    seen = (each if unicodedata.category(each) not in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp") else " " for each in text)
    return " ".join("".join(seen).split())


def _version(front: dict[str, Any]) -> str:
    metadata = front.get("metadata")
    return one_line(str(metadata.get("version", "")))[:40] if isinstance(metadata, dict) else ""
