"""Lines that match a pattern, in the text files of a workspace. The rules are ripgrep's.

The engine is RE2: it takes time in proportion to the text, whatever the pattern is, and has the syntax that ripgrep has
(no look-around, no backreferences). Only its short classes (`\\w`, `\\b`) are about ASCII: any letter is `\\pL`.
"""

from __future__ import annotations

import codecs
import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from gateway.errors import ToolError
from gateway.tools.code.ignored import Globs, Ignored
from gateway.tools.workspace import Workspace, is_binary_name, read_regular

MAX_BYTES = 16 << 20  # of one file that is searched
_MAX_RULES = 1 << 20  # bytes of an ignore file
_WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class Found:
    """The matching lines of one file, from 1, and all its lines."""

    path: str
    numbers: list[int]
    lines: list[str]


@dataclass
class Tally:
    """What a search has seen. `complete`: it looked at every file before its time was up."""

    searched: int = 0
    too_large: int = 0
    withheld: int = 0
    complete: bool = True


@dataclass(frozen=True)
class Search:
    """What to look for and where. `may_read` is asked about each file in which something was found."""

    workspace: Workspace
    pattern: str
    path: str = "."
    globs: tuple[str, ...] = ()
    case: str = "sensitive"
    literal: bool = False
    hidden: bool = False
    seconds: float = 20.0
    may_read: Callable[[str], bool] = lambda path: True
    tally: Tally = field(default_factory=Tally)

    def run(self) -> Iterator[Found]:
        """Files with matching lines, folder by folder, in the order of their names. ToolError for a wrong pattern."""
        wanted = _compiled(self.pattern, self.case, self.literal)
        until = time.monotonic() + self.seconds
        for path, data in self._files():
            if time.monotonic() > until:
                self.tally.complete = False
                return
            text = _utf8(data) if data is not None else None
            if text is None:
                self.tally.too_large += data is None
                continue
            self.tally.searched += 1
            numbers = list(_matching(wanted, text))
            if not numbers:
                continue
            if not self.may_read(path):
                self.tally.withheld += 1
                continue
            yield Found(path, numbers, text.decode("utf-8", "replace").split("\n"))

    def _files(self) -> Iterator[tuple[str, bytes | None]]:
        """Name and content of each file to search, None for one that is too large."""
        name = self.workspace.relative(self.path)
        try:
            is_folder = stat.S_ISDIR(os.lstat(self.workspace.root / name).st_mode)
        except OSError:
            raise ToolError(
                f"there is no file or folder {self.path}", hint="file.list shows the files that there are"
            ) from None
        if not is_folder:
            yield name, self._content(name)
            return
        globs = Globs(self.globs)
        rules = {"": Ignored()}
        above = name.split("/") if name != "." else []
        for depth in range(len(above)):
            folder = "/".join(above[:depth])
            rules["/".join(above[: depth + 1])] = rules[folder].below(folder, self._reader(folder))
        for folder, folders, files, handle in self.workspace.walk(name):
            own = rules.pop(folder).below(folder, lambda each, handle=handle: _text(each, handle))  # type: ignore[misc]
            prefix = f"{folder}/" if folder else ""
            folders[:] = sorted(each for each in folders if self._wanted(f"{prefix}{each}/", each, globs, own))
            rules |= {f"{prefix}{each}": own for each in folders}
            for each in sorted(files):
                if is_binary_name(each) or not self._wanted(f"{prefix}{each}", each, globs, own):
                    continue
                try:
                    yield f"{prefix}{each}", read_regular(each, handle, MAX_BYTES)
                except (ToolError, OSError):
                    continue  # a link, a pipe, gone by now, or not ours to read

    def _wanted(self, path: str, name: str, globs: Globs, ignored: Ignored) -> bool:
        if name == ".git":
            return False
        asked = globs.verdict(path)
        if asked is not None and not (asked and path.endswith("/")):
            return asked
        return (self.hidden or not name.startswith(".")) and not ignored.has(path)

    def _content(self, name: str) -> bytes | None:
        try:
            return self.workspace.read(name, MAX_BYTES)
        except ToolError as error:
            if "larger than" in str(error):
                return None
            raise

    def _reader(self, folder: str) -> Callable[[str], str | None]:
        def read(name: str) -> str | None:
            path = f"{folder}/{name}" if folder else name
            try:
                return self.workspace.read(path, _MAX_RULES).decode("utf-8", "replace")
            except ToolError:
                return None

        return read


def _text(name: str, folder: int) -> str | None:
    try:
        return (read_regular(name, folder, _MAX_RULES) or b"").decode("utf-8", "replace")
    except (ToolError, OSError):
        return None


def _compiled(pattern: str, case: str, literal: bool) -> Any:
    import re2  # type: ignore[import-untyped]

    options = re2.Options()
    options.never_nl = True  # a match lies in one line
    options.log_errors = False
    options.literal = literal
    options.case_sensitive = case == "sensitive" or (case == "smart" and pattern != pattern.lower())
    try:
        if literal:
            return re2.compile(pattern.encode(), options)
        re2.compile(pattern.encode(), options)
        return re2.compile(b"(?m:" + pattern.encode() + b")", options)
    except re2.error as error:
        said = error.args[0].decode("utf-8", "replace") if error.args else "it cannot be read"
        raise ToolError(
            f"the pattern is not a regular expression: {said}",
            hint="look-around and backreferences are not known; give literal: true to look for the text as it stands",
        ) from None
    except UnicodeEncodeError:
        raise ToolError("the pattern is not valid Unicode") from None


def _matching(wanted: Any, text: bytes) -> Iterator[int]:
    """The numbers of the lines in which something matches."""
    at, line, counted = 0, 1, 0
    while at < len(text):
        match = wanted.search(text, at)
        if match is None or (match.start() == len(text) and text.endswith(b"\n")):  # after the last line
            return
        line += text.count(b"\n", counted, match.start())
        counted = match.start()
        yield line
        end = text.find(b"\n", match.end())
        if end < 0:
            return
        at = end + 1


def _utf8(data: bytes) -> bytes | None:
    """The text in UTF-8 with plain line endings; None where it is not text."""
    for mark, encoding in _WIDE_MARKS:
        if data.startswith(mark):
            try:
                data = data.decode(encoding).encode()
            except UnicodeError:
                return None
            break
    if b"\0" in data:
        return None
    data = data.removeprefix(codecs.BOM_UTF8)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError:
            data = data.decode("latin-1").encode()
    return data
