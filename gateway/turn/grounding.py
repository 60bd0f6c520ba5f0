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
    """Whether it is there as a word of its own; a name also by its last part (`nsmallest` for `heapq.nsmallest`), a
    number also with other separators."""
    said = word.lower().removeprefix("./")
    if re.search(rf"(?<![\w]){re.escape(said)}(?!\w)", known):
        return True
    if said[0].isdigit():
        digits = re.sub(r"\D", "", said)
        return digits in {re.sub(r"\D", "", each) for each in re.findall(r"\d[\d.,]*\d", known)}
    last = said.rpartition(".")[2]
    return (
        last != said and not _FILE.fullmatch(said) and re.search(rf"(?<!\w){re.escape(last)}(?!\w)", known) is not None
    )
