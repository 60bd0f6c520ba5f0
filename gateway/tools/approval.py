"""The question whether a call may be made, as a person reads it."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping

from gateway.engine.ports import Json

ON_LINE = 200  # characters of arguments that are read well on one line
_HIDDEN = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}


def approval(tool: str, args: Mapping[str, Json]) -> str:
    """With exactly what the call would do: short arguments on its line, long texts whole, each below its name."""
    short = json.dumps(args, ensure_ascii=False)
    if len(short) <= ON_LINE:
        return f"Run {tool} {visible(short)}?"
    lines = [f"Run {tool} with these arguments?"]
    for key, value in args.items():
        text = visible(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2))
        lines += [f"{key}:", *(f"  {line}" for line in text.splitlines())] if "\n" in text else [f"{key}: {text}"]
    return "\n".join(lines)


def visible(text: str) -> str:
    """The text with what a terminal would obey or hide (control characters, marks of direction, what has no width)
    written out, as `\\u202e`: a person must see what is approved."""
    return "".join(
        each if each in "\n\t" or unicodedata.category(each) not in _HIDDEN else each.encode("unicode_escape").decode()
        for each in text
    )
