"""The pattern files that there are: the first folder that has a task type decides, broken or not."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import PatternError
from gateway.turn.patterns.program import Program, compile_pattern


@dataclass(frozen=True)
class Source:
    """A folder of pattern files; `origin` says whose they are (for example project, user, shipped)."""

    origin: str
    folder: Path


@dataclass(frozen=True)
class PatternFile:
    """One task type's file: `program`, or `error` where it is unavailable. `text` is empty where it is unreadable."""

    task_type: str
    path: Path
    origin: str
    text: str
    program: Program | None
    error: PatternError | None = None


class PatternLibrary:
    """Task types by name, read once; the folders are searched in their order, and need not exist."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._files: dict[str, PatternFile] = {}
        for source in sources:
            for path in _pattern_files(source.folder):
                if path.stem not in self._files:
                    self._files[path.stem] = _read(path, source.origin)

    def __iter__(self) -> Iterator[PatternFile]:
        """Every file that decides a task type, the broken ones too, by task type."""
        return iter(sorted(self._files.values(), key=lambda file: file.task_type))

    def available(self) -> tuple[Program, ...]:
        """What the Planner may choose from, by task type."""
        return tuple(file.program for file in self if file.program is not None)

    def get(self, task_type: str) -> Program:
        """The program; PatternError says why there is none."""
        file = self._files.get(task_type)
        if file is None:
            near = difflib.get_close_matches(task_type, self._files, n=1)
            meant = f" Did you mean {near[0]}?" if near else ""
            known = ", ".join(file.task_type for file in self)
            raise PatternError(f"there is no task type {task_type!r}.{meant}", hint=f"task types: {known}")
        if file.program is None:
            assert file.error is not None
            raise file.error
        return file.program


def _pattern_files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".md" and path.stem.upper() != "README")
    except OSError:  # a folder that is not there, or not ours to read, has no patterns
        return []


def _read(path: Path, origin: str) -> PatternFile:
    text = ""
    try:
        text = path.read_text(encoding="utf-8")
        program = compile_pattern(text, name=path.stem)
        if program.task_type != path.stem:
            raise PatternError(
                f"the task type is {program.task_type!r}, the file is {path.name}: one of the two is wrong",
                problems=((1, f"task_type is not the file's name, {path.stem}"),),
            )
    except (OSError, UnicodeDecodeError) as error:
        return PatternFile(path.stem, path, origin, text, None, PatternError(f"{path.name} cannot be read: {error}"))
    except PatternError as error:
        return PatternFile(path.stem, path, origin, text, None, error)
    return PatternFile(path.stem, path, origin, text, program)
