"""Which files a search leaves out: those that .gitignore and its like name, by the rules of git."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gateway.errors import ToolError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILES = (".ignore", ".gitignore")  # the first goes before the second
MAX_GLOBS = 100
_MAX_LINES = 10_000  # of an ignore file
_LINES_AT_ONCE = 1_000
_BRACES = re.compile(r"(?<!\\)\{([^{}]*)\}")


class Ignored:
    """The ignore files of the folders from the workspace's root down to one folder, the nearest first."""

    def __init__(self, rules: tuple[tuple[str, GitIgnoreSpec], ...] = ()) -> None:
        self._rules = rules

    def below(self, folder: str, read: Callable[[str], str | None]) -> Ignored:
        """With those of `folder`, a canonical name, empty for the root; `read` gives a file's text if there is one."""
        own = []
        for name in IGNORE_FILES:
            lines = (read(name) or "").splitlines()[-_MAX_LINES:]  # the last ones go before the others
            for end in range(len(lines), 0, -_LINES_AT_ONCE):
                specs = _specs(_sound(lines[max(0, end - _LINES_AT_ONCE) : end]))
                own += [(f"{folder}/" if folder else "", each) for each in specs]
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
        import re2  # type: ignore[import-untyped]
        from pathspec import GitIgnoreSpec

        lines = _either(globs)
        try:
            self._spec = GitIgnoreSpec.from_lines(lines)
        except (ValueError, re2.error) as error:
            raise ToolError("one of the globs cannot be read", hint="write them as in .gitignore") from error
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
            GitIgnoreSpec.from_lines([line], backend="simple")
        except ValueError:
            continue
        sound.append(line)
    return sound


def _specs(lines: list[str]) -> list[GitIgnoreSpec]:
    """The rules in parts that RE2 takes, the last lines first; without a line that is too much by itself."""
    import re2
    from pathspec import GitIgnoreSpec

    try:
        return [GitIgnoreSpec.from_lines(lines)]
    except re2.error:
        half = len(lines) // 2
        return [*_specs(lines[half:]), *_specs(lines[:half])] if half else []


def _either(globs: Sequence[str]) -> list[str]:
    """`*.{py,pyi}` is `*.py` and `*.pyi`. Raises ToolError where they are too many."""
    found: list[str] = []
    left = list(reversed(globs))
    steps = 0
    while left:
        glob = left.pop()
        braces = _BRACES.search(glob)
        if braces is None:
            found.append(glob)
        else:
            parts = reversed(braces[1].split(","))
            left += [glob[: braces.start()] + part + glob[braces.end() :] for part in parts]
        steps += 1
        if len(found) + len(left) > MAX_GLOBS or steps > 10 * MAX_GLOBS:
            raise ToolError(f"the globs stand for more than {MAX_GLOBS}", hint="give fewer, or fewer {a,b} in them")
    return found
