"""The versions of a skill of the home: what stands in its SKILL.md, and what stood there, in `skills/.versions/NAME`.

A version has a number, which `metadata.version` in the front matter says. What is replaced is kept first, so that
nothing is lost where it is interrupted, and doing it again does nothing twice.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import ToolError
from gateway.tools.skills.skill import MAX_BYTES, facts_of
from gateway.tools.workspace import Workspace

WAIT_S = 10.0  # for another process that writes the same skill
KEPT = ".versions"
_NAME = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


@dataclass(frozen=True)
class Version:
    """`current` is the one that stands in SKILL.md; `path` is where the text is; `written` in seconds since 1970."""

    number: int
    path: Path
    current: bool
    written: float


class Versions:
    """Of one skill. Raises ToolError for a name that is none."""

    def __init__(self, home: Path, name: str) -> None:
        if not _NAME.fullmatch(name):
            raise ToolError(f"{name!r} is not a skill's name", hint="names are lower-case words with hyphens")
        self._folder = home / "skills"
        self._name = name
        self._file = f"{name}/SKILL.md"

    def known(self) -> bool:
        """Whether there is any version of it."""
        return bool(self.listed())

    def listed(self) -> list[Version]:
        """Every version, the oldest first."""
        if not self._folder.is_dir():
            return []
        skills = Workspace(self._folder)
        numbers = self._kept(skills)
        paths = {number: self._folder / KEPT / self._name / f"{number}.md" for number in numbers}
        current = self._standing(skills)
        number = self._number(skills, current) if current is not None else 0
        if number:
            paths[number] = self._folder / self._file
        return [Version(each, path, each == number, path.stat().st_mtime) for each, path in sorted(paths.items())]

    def read(self, number: int) -> bytes:
        """The SKILL.md of a version. Raises ToolError if there is none of that number."""
        listed = self.listed()
        found = next((each for each in listed if each.number == number), None)
        if found is None:
            there = ", ".join(str(each.number) for each in listed) or "none"
            raise ToolError(f"the skill {self._name} has no version {number}", hint=f"there are: {there}")
        return Workspace(self._folder).read(str(found.path.relative_to(self._folder)), MAX_BYTES)

    def put(self, document: Callable[[int], bytes]) -> tuple[int, bytes]:
        """Write `document(number)` as the next version; the standing one where that would be the same. Gives the number
        and the document."""
        with self._locked() as skills:
            standing = self._standing(skills)
            number = 1 + max(self._kept(skills), default=0)
            if standing is not None:
                current = self._number(skills, standing)
                if document(current) == standing:
                    return current, standing
                self._keep(skills, current, standing)
                number = max(number, current + 1)
            skills.write(self._file, document(number))
            return number, document(number)

    def restore(self, number: int) -> int | None:
        """Put a version back as it was; what stood there is kept. Gives that one's number, None if nothing stood."""
        with self._locked() as skills:
            wanted = self.read(number)
            standing = self._standing(skills)
            current = self._number(skills, standing) if standing is not None else None
            if standing is not None and current is not None and current != number:
                self._keep(skills, current, standing)
            if current != number:
                written = (skills.root / KEPT / self._name / f"{number}.md").stat().st_mtime
                skills.write(self._file, wanted)
                os.utime(skills.root / self._file, (written, written))
            return current

    def _keep(self, skills: Workspace, number: int, document: bytes) -> None:
        if number not in self._kept(skills):
            written = (skills.root / self._file).stat().st_mtime
            skills.write(f"{KEPT}/{self._name}/{number}.md", document)
            os.utime(skills.root / KEPT / self._name / f"{number}.md", (written, written))

    def _kept(self, skills: Workspace) -> list[int]:
        folder = skills.root / KEPT / self._name
        return sorted(int(each.stem) for each in folder.glob("*.md") if each.stem.isdecimal())

    def _standing(self, skills: Workspace) -> bytes | None:
        return skills.read(self._file, MAX_BYTES) if skills.exists(self._file) else None

    def _number(self, skills: Workspace, standing: bytes) -> int:
        """Of what stands: that of the kept version it equals; else what it says, if that is new; else the next."""
        kept = self._kept(skills)
        for number in reversed(kept):
            if skills.read(f"{KEPT}/{self._name}/{number}.md", MAX_BYTES) == standing:
                return number
        following = 1 + max(kept, default=0)
        said = facts_of(standing, self._name).version
        return int(said) if re.fullmatch(r"[0-9]{1,6}", said) and int(said) >= following else following

    @contextmanager
    def _locked(self) -> Iterator[Workspace]:
        """The home's skills, while no other process writes this one."""
        from filelock import FileLock, Timeout

        try:
            (self._folder / KEPT).mkdir(parents=True, exist_ok=True)
            with FileLock(self._folder / KEPT / f"{self._name}.lock", timeout=WAIT_S):
                yield Workspace(self._folder)
        except Timeout:
            raise ToolError(
                f"the skill {self._name} is being written by another process", hint="try again when that has ended"
            ) from None
        except OSError as error:
            raise ToolError(f"the skill cannot be written: {error.strerror}", hint=f"check {self._folder}") from error
