"""Which files a search leaves out: those that .gitignore and its like name, by the rules of git."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILES = (".ignore", ".gitignore")  # the first goes before the second
_BRACES = re.compile(r"(?<!\\)\{([^{}]*)\}")


class Ignored:
    """The ignore files of the folders from the workspace's root down to one folder, the nearest first."""

    def __init__(self, rules: tuple[tuple[str, GitIgnoreSpec], ...] = ()) -> None:
        self._rules = rules

    def below(self, folder: str, read: Callable[[str], str | None]) -> Ignored:
        """With those of `folder`, a canonical name, empty for the root; `read` gives a file's text if there is one."""
        from pathspec import GitIgnoreSpec

        own = []
        for name in IGNORE_FILES:
            text = read(name)
            if text:
                own.append((f"{folder}/" if folder else "", GitIgnoreSpec.from_lines(_sound(text.splitlines()))))
        return Ignored((*own, *self._rules)) if own else self

    def has(self, path: str) -> bool:
        """Whether a file, or a folder whose name ends with `/`, is ignored; its parents are known not to be."""
        for prefix, spec in self._rules:
            verdict = _verdict(spec, path.removeprefix(prefix))
            if verdict is not None:
                return verdict
        return False


class Globs:
    """What files a search is limited to: globs as in .gitignore, with `{a,b}` for either, `!` for files left out."""

    def __init__(self, globs: Sequence[str]) -> None:
        from pathspec import GitIgnoreSpec

        lines = [each for glob in globs for each in _either(glob)]
        self._spec = GitIgnoreSpec.from_lines(lines)
        self._chooses = any(not each.startswith("!") for each in lines)

    def verdict(self, path: str) -> bool | None:
        """True for a file that is asked for, False for one that is left out, None where ignore files decide. The name
        of a folder ends with `/`."""
        found = _verdict(self._spec, path)
        if found is None and self._chooses and not path.endswith("/"):
            return False
        return found


def _verdict(spec: GitIgnoreSpec, path: str) -> bool | None:
    return spec.check_file(path).include


def _sound(lines: list[str]) -> list[str]:
    """Without the lines that are no patterns: git passes over them, too."""
    from pathspec import GitIgnoreSpec

    sound = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        sound.append(line)
    return sound


def _either(glob: str) -> list[str]:
    """`*.{py,pyi}` is `*.py` and `*.pyi`."""
    braces = _BRACES.search(glob)
    if braces is None:
        return [glob]
    return [
        each for part in braces[1].split(",") for each in _either(glob[: braces.start()] + part + glob[braces.end() :])
    ]
