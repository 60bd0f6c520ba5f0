"""Which app a name means. Android prints labels to no shell, so that they are known for common apps, and read from the
package's name for the rest."""

from __future__ import annotations

import difflib
import functools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files

CLOSE = 0.8  # of difflib's ratio: "calender" is Calendar, "clock" is not Block
COMMON_PARTS = frozenset(
    "android app apps application client com de google io launcher main mobile net org phone pro sec tv www".split()
)


@functools.cache
def known() -> Mapping[str, list[str]]:
    """Labels of common apps by package, the first of each as it stands under the icon."""
    return dict(json.loads(files(__package__).joinpath("known_apps.json").read_text("utf-8")))


def label(package: str) -> str:
    """What it is probably called."""
    if package in known():
        return known()[package][0]
    parts = _parts(package)
    return " ".join(each.capitalize() for each in re.split(r"[_-]", parts[-1])) if parts else package


def best(wanted: str, packages: Iterable[str]) -> list[str]:
    """The packages that a name fits best: none, one, or several that it fits equally well."""
    packages = list(packages)
    if wanted in packages:
        return [wanted]
    word = _plain(wanted)
    for fits in (_is_called, _is_part, _is_in):
        if word and (found := [each for each in packages if fits(word, each)]):
            return found
    ratios = {each: max(_ratio(word, name) for name in _names(each)) for each in packages}
    highest = max(ratios.values(), default=0.0)
    return [each for each, ratio in ratios.items() if ratio == highest] if highest >= CLOSE else []


def _is_called(word: str, package: str) -> bool:
    return word in [_plain(each) for each in known().get(package, ())]


def _is_part(word: str, package: str) -> bool:
    return word in [_plain(each) for each in (label(package), *_parts(package)[-1:])]


def _is_in(word: str, package: str) -> bool:
    """A part of the package's name, or all words of a label: "Chrome browser" is no such, "Amazon" is."""
    return word in [_plain(each) for each in _parts(package)] or (
        len(word) > 3 and any(set(word.split()) <= set(_plain(each).split()) for each in known().get(package, ()))
    )


def _ratio(word: str, name: str) -> float:
    return difflib.SequenceMatcher(None, word, name).ratio()


def _names(package: str) -> list[str]:
    return [_plain(each) for each in (label(package), *known().get(package, ()), *_parts(package)[-1:])]


def _parts(package: str) -> Sequence[str]:
    parts = package.split(".")
    return [each for each in parts if each.lower() not in COMMON_PARTS] or parts[-1:]


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", text.casefold()).split())
