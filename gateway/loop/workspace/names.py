"""Names of files as text: any name that the system allows, in a form that JSON and pydantic take.

A byte that is no UTF-8 stands as a character of the private range U+EF80..U+EFFF; a name that has such characters
itself is written byte by byte, too, so that two names never look the same.
"""

from __future__ import annotations

import os
import re

_BASE = 0xEF00
_ODD = re.compile("[\udc80-\udcff\uef80-\uefff]")
_STANDING_IN = re.compile("[\uef80-\uefff]+")


def shown(name: str) -> str:
    """A name, or a path, as text; `name` is as Python's `os` gives it."""
    return name if name.isascii() else _ODD.sub(lambda found: _bytewise(found[0]), name)


def real(text: str) -> str:
    """The name, or the path, for Python's `os`, of what `shown` gave."""
    if text.isascii() or not _STANDING_IN.search(text):
        return text
    raw = b"".join(bytes([ord(each) - _BASE]) if 0xEF80 <= ord(each) <= 0xEFFF else each.encode() for each in text)
    return os.fsdecode(raw)


def _bytewise(char: str) -> str:
    return "".join(chr(_BASE + each) for each in char.encode("utf-8", "surrogateescape"))
