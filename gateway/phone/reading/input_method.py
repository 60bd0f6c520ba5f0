"""The keyboard: which one is chosen, and whether it is shown."""

from __future__ import annotations

import re
from dataclasses import dataclass

ID = r"([A-Za-z][\w.]*/[\w.$]+)"
CURRENT = re.compile(r"\bmCurMethodId=" + ID)
BOUND = re.compile(r"\bmCurId=" + ID)
SHOWN = re.compile(r"\bmInputShown=(true|false)")
WINDOW = re.compile(r"\bmImeWindowVis=(?:0x)?([0-9a-f]+)")
VISIBLE = re.compile(r"\bmIsInputViewShown=(true|false)")
LISTED = re.compile(r"^[\s-]*" + ID + r"\s*$", re.MULTILINE)
SET = re.compile(r"^Input method \S+ selected")


@dataclass(frozen=True, slots=True)
class InputMethod:
    """`current` is an id such as `com.android.inputmethod.latin/.LatinIME`, empty if none is chosen; `shown` is None
    where it is not told."""

    current: str = ""
    shown: bool | None = None


def input_method_of(dumpsys: str) -> InputMethod:
    """`dumpsys input_method`."""
    current = CURRENT.search(dumpsys) or BOUND.search(dumpsys)
    shown: bool | None = None
    if found := SHOWN.search(dumpsys) or VISIBLE.search(dumpsys):
        shown = found[1] == "true"
    elif found := WINDOW.search(dumpsys):
        shown = bool(int(found[1], 16) & 2)  # InputMethodService.IME_VISIBLE
    return InputMethod(current[1] if current else "", shown)


def input_methods_of(ime_list: str) -> tuple[str, ...]:
    """`ime list -s`: the ids."""
    return tuple(LISTED.findall(ime_list))


def was_chosen(ime_set: str) -> bool:
    """Whether `ime set ID` did it: it answers in words, and ends with 0 either way on older versions."""
    return SET.match(ime_set.lstrip()) is not None
