"""The files that models read and people may replace, prompts and recipes: a user's own first, then the shipped ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Literal

from gateway.errors import ConfigError

Kind = Literal["prompts", "recipes"]


@dataclass(frozen=True)
class Resource:
    """A file, its place below its kind's folder (`patterns/generic.md`), and who brought it."""

    relative: str
    path: Path
    origin: Literal["user", "shipped"]

    def read(self) -> str:
        """The text; a ConfigError that names the file where it cannot be read."""
        return _text(self.path) if self.origin == "user" else _shipped_text(self.path)


def shipped(kind: Kind) -> Path:
    """The product's own folder: inside the package in a wheel, beside it in a checkout."""
    package = Path(__file__).parent
    inside = package / "_shipped" / kind
    return inside if inside.is_dir() else package.parent / kind


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error


# What is shipped stays the same while the program runs; a user's own files are looked at for every turn.


@lru_cache(maxsize=256)
def _shipped_text(path: Path) -> str:
    return _text(path)


@lru_cache
def _shipped_files(kind: Kind) -> dict[str, Path]:
    folder = shipped(kind)
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}


def find(kind: Kind, relative: str, extra_dirs: Sequence[Path] = ()) -> Resource:
    """The first file of that name: in `extra_dirs`, in order, then among the shipped ones; else a ConfigError."""
    place = PurePosixPath(relative)
    if place.is_absolute() or ".." in place.parts:
        raise ConfigError(f"{relative!r} leaves the {kind} folder")
    for folder in filter(Path.is_dir, extra_dirs):
        if (folder / place).is_file():
            return Resource(relative, folder / place, "user")
    if place.as_posix() in _shipped_files(kind):
        return Resource(relative, _shipped_files(kind)[place.as_posix()], "shipped")
    looked = ", ".join(str(folder) for folder in (*extra_dirs, shipped(kind)))
    raise ConfigError(f"there is no {kind}/{relative}", hint=f"looked in {looked}")


def listing(kind: Kind, glob: str = "*", extra_dirs: Sequence[Path] = ()) -> list[Resource]:
    """Every file whose place fits `glob` (`*` crosses folders), by place; a user's file hides a shipped one."""
    found: dict[str, Resource] = {}
    for folder in filter(Path.is_dir, extra_dirs):
        for path in folder.rglob("*"):
            relative = path.relative_to(folder).as_posix()
            if fnmatch(relative, glob) and relative not in found and path.is_file():
                found[relative] = Resource(relative, path, "user")
    for relative, path in _shipped_files(kind).items():
        if fnmatch(relative, glob) and relative not in found:
            found[relative] = Resource(relative, path, "shipped")
    return [found[relative] for relative in sorted(found)]
