"""Whether an answer has names and numbers that nothing it is made from has: code sees that without a model."""

from __future__ import annotations

import re

_FILE = re.compile(r"(?<![\w/.-])[\w./-]*\w\.(?:py|md|txt|rst|json|ya?ml|toml|cfg|ini|csv|html|xml|sh|js|ts)\b")
_NAME = re.compile(r"(?<!`)`([A-Za-z_][\w.]*)(?:\(\))?`(?!`)")
_NUMBER = re.compile(r"(?<![\w.,-])\d[\d.,]*\d(?![\w-])")  # two digits and more: small ones are counted, not read
_SHOWN = 3  # of each kind


def ungrounded(response: str, sources: str) -> list[str]:
    """What the response names and `sources` do not: files, names in backticks, numbers; in words, nothing if all is
    well."""
    known = sources.lower()
    issues = []
    for kind, found in (
        ("the file", _FILE.findall(response)),
        ("the name", [name.rstrip(".") for name in _NAME.findall(response)]),
        ("the number", _NUMBER.findall(response)),
    ):
        unknown = [each for each in dict.fromkeys(found) if not _stands(each, known)]
        issues += [f"{kind} {each} stands nowhere in the results" for each in unknown[:_SHOWN]]
    return issues


def _stands(word: str, known: str) -> bool:
    """Whether it is there, also as the last part of what is: `page_count` for `pager.page_count`."""
    last = word.lower().removeprefix("./")
    return last in known or ("/" not in last and last.rpartition(".")[2] in known and not _FILE.fullmatch(last))
