"""The tool results of a task in a prompt: all of them while they fit, then the older ones shortened in large steps.

A server keeps the longest common prefix of one prompt and the next. Leaving out a little at every call would change the
prompt near its beginning every time, so room is made rarely and then down to half: between two steps results are only
added at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.llm import tokens
from gateway.llm.trim import notice, shorten


@dataclass
class _Shown:
    """A result as it stands in the prompt, and as it was."""

    text: str
    original: str

    @property
    def size(self) -> int:
        return tokens.count(self.text + "\n\n")

    def stub(self) -> _Shown:
        """Its first line, which says what was called and how it went."""
        first, _, rest = self.original.partition("\n")
        short = f"{first}\n{notice(tokens.count(rest))}"
        return _Shown(short, self.original) if rest and tokens.count(short) < tokens.count(self.text) else self


def fit_results(entries: Sequence[str], limit: int) -> str | None:
    """The results in at most `limit` tokens, oldest first, each followed by a blank line; None where not one fits.

    The steps are derived from the entries alone, as if they came one by one: no memory of earlier prompts is needed.
    """
    shown: list[_Shown] = []
    dropped: list[_Shown] = []
    for entry in entries:
        shown.append(_Shown(entry, entry))
        if _size(shown, dropped) > limit and not _make_room(shown, dropped, limit):
            return None
    return _gap(dropped) + "".join(each.text + "\n\n" for each in shown)


def _make_room(shown: list[_Shown], dropped: list[_Shown], limit: int) -> bool:
    """One step: shorten, then drop old results until half is free; last, cut the newest. False if that is in vain."""
    for number in range(len(shown) - 1):
        if _size(shown, dropped) <= limit // 2:
            return True
        shown[number] = shown[number].stub()
    if _size(shown, dropped) <= limit // 2:
        return True
    while len(shown) > 1 and _size(shown[:-1], dropped) > limit // 4:
        dropped.append(shown.pop(0))
    newest = shown[-1]
    room = limit - _size(shown[:-1], dropped) - tokens.count("\n\n")
    cut = shorten(newest.text, room, "middle")
    while cut is not None and _size([*shown[:-1], _Shown(cut, newest.original)], dropped) > limit:
        room -= 1
        cut = shorten(newest.text, room, "middle")
    if cut is None:
        return False
    shown[-1] = _Shown(cut, newest.original)
    return True


def _gap(dropped: Sequence[_Shown]) -> str:
    if not dropped:
        return ""
    size = sum(tokens.count(each.original) for each in dropped)
    return f"[… {len(dropped)} earlier results, {size} tokens, left out]\n\n"


def _size(shown: Sequence[_Shown], dropped: Sequence[_Shown]) -> int:
    return tokens.count(_gap(dropped)) + sum(each.size for each in shown)
