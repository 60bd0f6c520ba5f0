"""The text of a page's bytes, whatever its site says they are."""

from __future__ import annotations

import codecs
import re

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_META = re.compile(rb"""<(?:meta[^>]{1,200}?charset|\?xml[^>]{1,100}?encoding)\s*=\s*["']?\s*([\w.:-]{2,40})""", re.I)
_META_BYTES = 4096  # in which a page has to name its encoding; the HTML standard says 1024
_NOT_OF_PAGES = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"})
_SEVEN_BIT = frozenset({"hz", "iso2022_jp", "iso2022_jp_2", "iso2022_kr"})  # look like ASCII, and so like UTF-8
# What the HTML standard takes these names for: their pages were written on Windows.
_WINDOWS = {"ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "gb2312": "gb18030"}


def decode(data: bytes, charset: str = "") -> str:
    """Never raises; what no encoding explains is replaced.

    A byte order mark decides, then whether it is UTF-8: text that was not meant to be is so hardly ever. Then what the
    header says (`charset`), what the page says, and what it looks like, the first in which all of it can be read.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _clean(data[len(mark) :].decode(name, "replace"))
    meta = _META.search(data[:_META_BYTES])
    said = [_codec(charset), _codec(meta[1].decode("ascii")) if meta else ""]
    first = [each for each in said if each in _SEVEN_BIT or each.startswith(("utf-16", "utf-32"))]
    for name in [*first, "utf-8", *said]:
        text = _strictly(data, name)
        if text is not None:
            return text
    return _clean(_guessed(data) or data.decode(next(filter(None, said), "cp1252"), "replace"))


def _codec(charset: str) -> str:
    """Python's name of it, empty where there is none for text."""
    try:
        found = codecs.lookup(charset.strip().strip("\"'"))
    except (LookupError, ValueError):
        return ""
    if found.name in _NOT_OF_PAGES or not getattr(found, "_is_text_encoding", False):  # base64, zip and the like
        return ""
    return _WINDOWS.get(found.name, found.name)


def _strictly(data: bytes, name: str) -> str | None:
    """None also for what the encoding allows, but nobody writes."""
    try:
        text = data.decode(name) if name else None
    except UnicodeError:
        return None
    return None if text is None or "\0" in text else text


def _guessed(data: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(data[:200_000]).best()
    return data.decode(best.encoding, "replace") if best else ""


def _clean(text: str) -> str:
    return text.replace("\0", "")
