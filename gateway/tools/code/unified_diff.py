"""A unified diff, applied to the text of one file: all of it or nothing.

Line numbers may be wrong, as in diffs that people or models write by hand: what counts is that a hunk's context and
removed lines stand together in the file, at the place that its header names, or else at one place only.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gateway.tools.code.source_text import SourceText

MAX_COMPARED = 5_000  # lines that the nearest ones are looked for among
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")
_LOOSE_HUNK = re.compile(r"@@(?:\s.*)?$")  # without numbers, or with numbers that are none
_NEWLINE = re.compile(r"\r\n|\r|\n")
_FENCE = re.compile(r"\s*```[^\n]*\n(.*?)\n?```\s*", re.DOTALL)
_NO_NEWLINE = "\\"


class NotApplied(Exception):
    """Why a diff could not be applied, in words that tell a model what to do instead."""


@dataclass(frozen=True)
class _Hunk:
    """`lines` are (mark, text without its line ending) with the marks ` `, `-`, `+`; `line` is where the header says
    that it begins, from 1. `unended`: the marks of the lines that the diff says have no line ending."""

    line: int | None
    lines: tuple[tuple[str, str], ...]
    unended: frozenset[str]

    @property
    def old(self) -> list[str]:
        return [text for mark, text in self.lines if mark != "+"]


def applied(file: SourceText, diff: str, path: str) -> str:
    """The file's text after the diff; lines that it does not add keep their bytes. Raises NotApplied."""
    hunks = list(_hunks(diff, path))
    lines = file.lines
    bare = [_NEWLINE.sub("", line) for line in lines]
    new: list[str] = []
    end = 0
    for number, hunk in enumerate(hunks, 1):
        at = _place(bare, hunk, end, number, file.text)
        new += lines[end:at]
        new += _exchanged(lines, at, hunk, file.newline)
        end = at + len(hunk.old)
    return "".join([*new, *lines[end:]])


def nearest(text: str, old: str) -> str:
    """The lines of `text` that are most like `old`, numbered."""
    lines = _NEWLINE.split(text)
    wanted = [line for line in _NEWLINE.split(old) if line.strip()]
    if not text.strip() or not wanted:
        return "Give the exact text as file.read shows it, without line numbers."
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted[0].strip()[:200])
    best, at = 0.0, 0
    for index, line in enumerate(lines[:MAX_COMPARED]):
        matcher.set_seq1(line.strip()[:200])
        if matcher.real_quick_ratio() > best and matcher.ratio() > best:
            best, at = matcher.ratio(), index
    shown = lines[at : at + len(wanted) + 1]
    return "The nearest lines are:\n" + "\n".join(f"{at + i + 1}| {line[:200]}" for i, line in enumerate(shown[:12]))


def _hunks(diff: str, path: str) -> Iterator[_Hunk]:
    fenced = _FENCE.fullmatch(diff)
    lines = _NEWLINE.split(fenced[1] if fenced else diff)
    if lines and not lines[-1]:
        lines.pop()
    at = _past_headers(lines, 0, path)
    if at == len(lines):
        raise NotApplied("the diff has no hunk. Each begins with a line such as `@@ -10,7 +10,8 @@`.")
    while at < len(lines):
        header = lines[at]
        body: list[tuple[str, str]] = []
        unended: set[str] = set()
        at += 1
        while at < len(lines) and not _LOOSE_HUNK.match(lines[at]):
            line = lines[at]
            if _is_header(lines, at):
                raise NotApplied("the diff is of more than one file. Make one call for each of them.")
            if line.startswith(_NO_NEWLINE):
                unended |= {body[-1][0]} if body else set()
            elif line[:1] in (" ", "+", "-"):
                body.append((line[0], line[1:]))
            elif not line:
                body.append((" ", ""))  # an editor has taken the space away
            else:
                raise NotApplied(
                    f"line {at + 1} of the diff begins with none of space, + and -: {line[:80]!r}. "
                    "Lines that stay as they are begin with a space."
                )
            at += 1
        numbered = _HUNK.match(header)
        hunk = _Hunk(int(numbered[1]) if numbered else None, tuple(body), frozenset(unended))
        if all(mark == " " for mark, _ in body):
            raise NotApplied(f"the hunk {header!r} neither adds nor removes a line.")
        yield hunk


def _past_headers(lines: Sequence[str], at: int, path: str) -> int:
    """Where the first hunk begins; what stands before it must be about this file."""
    while at < len(lines) and not _LOOSE_HUNK.match(lines[at]):
        if _is_header(lines, at) and not lines[at].startswith("diff "):
            for name in (lines[at][4:], lines[at + 1][4:]):
                bare = name.split("\t")[0].strip().strip('"')
                if bare == "/dev/null":
                    raise NotApplied("the diff makes or removes a file. Use file.write for a new one.")
                if path not in (bare, re.sub(r"^(a|b|\.)/", "", bare)):
                    raise NotApplied(f"the diff is of {bare}, not of {path}.")
        at += 1
    return at


def _is_header(lines: Sequence[str], at: int) -> bool:
    """Whether another file's part begins here; a removed line `-- x` looks much like that."""
    if lines[at].startswith("diff --git "):
        return True
    pair = lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")
    return pair and (at + 2 == len(lines) or bool(_LOOSE_HUNK.match(lines[at + 2])))


def _place(bare: list[str], hunk: _Hunk, start: int, number: int, text: str) -> int:
    """The index of the line at which the hunk's old lines stand, at or after `start`."""
    old = hunk.old
    if not old:
        if not bare:
            return 0
        raise NotApplied(
            f"hunk {number} has no line that stands in the file. Begin it with the line before the change."
        )
    found = [
        at for at in range(start, len(bare) - len(old) + 1) if bare[at] == old[0] and bare[at : at + len(old)] == old
    ]
    if hunk.line is not None and hunk.line - 1 in found:
        return hunk.line - 1
    if len(found) == 1:
        return found[0]
    if found:
        raise NotApplied(
            f"the old lines of hunk {number} stand there {len(found)} times, and not at the line that it names. "
            "Give more lines around the change, so that they are found once."
        )
    raise NotApplied(
        f"the old lines of hunk {number} do not stand together in the file. {nearest(text, _told(bare, old))}"
    )


def _told(bare: list[str], old: list[str]) -> str:
    """The old lines from the first one that is not in the file: that is where the diff is wrong."""
    known = set(bare)
    wrong = next((at for at, line in enumerate(old) if line not in known), 0)
    return "\n".join(old[wrong:])


def _exchanged(lines: list[str], at: int, hunk: _Hunk, newline: str) -> list[str]:
    """The lines that stand there after the hunk, with their endings."""
    new: list[str] = []
    for mark, text in hunk.lines:
        if mark == "+":
            new.append(text + newline)
            continue
        if mark == " ":
            new.append(lines[at])
        at += 1
    for index, line in enumerate(new[:-1]):
        if not _NEWLINE.search(line):  # it was the last line of the file
            new[index] = line + newline
    if at == len(lines) and new:
        stays = not hunk.unended and bool(lines) and not _NEWLINE.search(lines[-1])
        if stays or hunk.unended & {"+", " "}:
            new[-1] = _NEWLINE.sub("", new[-1])
        elif not _NEWLINE.search(new[-1]):
            new[-1] += newline
    return new
