"""Command lines without shell syntax worth a shell: words with quotes, joined by `;`, `&&` and `||`, and `$?`."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<blank>[ \t]+)
    |(?P<joint>;(?!;)|&&|\|\|)
    |(?P<status>\$\?)
    |\\(?P<escaped>[^\n])
    |'(?P<single>[^'\0]*)'
    |"(?P<double>(?:[^"\\$`\0]|\\[^\n\0]|\$\?)*)"
    |(?P<bare>[^\s\0;&|<>()$`\\"'*?\[\]{}~\#]+|(?<![\s;&|])[~\#])""",
    re.VERBOSE,
)
_DOUBLE = re.compile(r"(\$\?)|\\([$`\"\\])")
_RESERVED = frozenset("! case do done elif else esac fi for function if in select then time until while [[".split())

Word = tuple[str | None, ...]  # pieces; None is the exit code of the step before


@dataclass(frozen=True)
class Step:
    joint: str  # what joins it to the step before: "", ";", "&&" or "||"
    words: tuple[Word, ...]

    @property
    def name(self) -> str:
        return "".join(each or "?" for each in self.words[0])

    def argv(self, status: int) -> list[str]:
        return ["".join(str(status) if each is None else each for each in word) for word in self.words]


def parse(line: str) -> list[Step] | None:
    """The steps of a line, [] for an empty one; None if it takes a shell to understand it, or to say what is wrong."""
    steps: list[Step] = []
    words: list[Word] = []
    pieces: list[str | None] | None = None  # of the word that is being read
    joint, at = "", 0
    while at < len(line):
        token = _TOKEN.match(line, at)
        if token is None:
            return None
        at = token.end()
        if token.lastgroup in ("blank", "joint"):
            if pieces is not None:
                words.append(tuple(pieces))
                pieces = None
            if token.lastgroup == "joint":
                if not words:
                    return None
                steps.append(Step(joint, tuple(words)))
                joint, words = token[0], []
        else:
            pieces = (pieces or []) + _pieces(token)
    if pieces is not None:
        words.append(tuple(pieces))
    if words:
        steps.append(Step(joint, tuple(words)))
    elif joint in ("&&", "||"):
        return None
    return None if any(each.name in _RESERVED or "=" in each.name for each in steps) else steps


def _pieces(token: re.Match[str]) -> list[str | None]:
    if token.lastgroup == "status":
        return [None]
    text = token[str(token.lastgroup)]
    if token.lastgroup != "double":
        return [text]
    pieces: list[str | None] = []
    at = 0
    for each in _DOUBLE.finditer(text):
        pieces += [text[at : each.start()], None if each[1] else each[2]]
        at = each.end()
    return [*pieces, text[at:]]
