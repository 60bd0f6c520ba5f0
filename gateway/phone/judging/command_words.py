"""What buttons say that do something which cannot be taken back, in the languages that ship."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

import yaml

from gateway.errors import ConfigError

COMMANDS = ("pay", "send", "delete", "confirm", "call")
LETTER = r"\w\u0900-\u097f"  # the vowel signs of Devanagari are none for `re`
WIDE = "\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"  # written without spaces
MARKS = re.compile("[\u0300-\u036f\u064b-\u065f\u0670\u0640]")  # accents, Arabic vowels and the stroke that stretches
ALIKE = str.maketrans({"ł": "l", "ı": "i", "ø": "o", "’": "'", "ʼ": "'"})
MAX_LABEL = 400  # characters that are looked at
NEVER = re.compile("(?!)")

Kinds = Mapping[str, Sequence[str]]


def fold(text: str) -> str:
    """Without case, diacritics and repeated spaces, so that texts can be compared."""
    decomposed = unicodedata.normalize("NFKD", text[:MAX_LABEL].casefold())
    return " ".join(unicodedata.normalize("NFC", MARKS.sub("", decomposed)).translate(ALIKE).split())


@dataclass(frozen=True)
class Command:
    """A word that was found. `kind` is one of COMMANDS, or `alone`."""

    kind: str
    word: str


class _Language:
    def __init__(self, kinds: Kinds) -> None:
        self._kinds = {fold(word): kind for kind in COMMANDS for word in kinds[kind]}
        self._command, self._alone = whole(self._kinds), _all_of(kinds["alone"])
        self._harmless, self._refuse = whole(kinds["harmless"]), whole(kinds["refuse"])

    def commands(self, folded: str) -> list[tuple[Command, bool]]:
        """Each with whether it is refused there."""
        said = self._harmless.sub(" ", folded).strip()
        if self._alone.fullmatch(said):
            return [(Command("alone", said), False)]
        return [
            (Command(self._kinds[found[0]], found[0]), self._refused(said, *found.span()))
            for found in self._command.finditer(said)
        ]

    def _refused(self, said: str, start: int, end: int) -> bool:
        after = said[end:] if re.search(f"[{WIDE}]", said[start:end]) else ""
        return self._refuse.search(f"{said[:start]} {after}") is not None


class Words:
    """Of some languages, and further words of a person's, in which `*` stands for anything."""

    def __init__(self, languages: Sequence[str], more: Sequence[str] = ()) -> None:
        shipped = _shipped()
        of = [shipped[code] for code in languages]
        self._languages = [_Language(kinds) for kinds in of]
        self._agree, self._refuse, self._search, self._slide = (
            whole(word for kinds in of for word in kinds[kind]) for kind in ("agree", "refuse", "search", "slide")
        )
        english = shipped["en"]
        self._ids = {word: kind for kind in COMMANDS for word in english[kind] if word.isalpha()}
        self._nouns = {word for word in english["alone"] if word.isalpha()}
        self._more = whole(more, glob=True)

    def named(self, *texts: str) -> str:
        """What a person's own words find in one of the texts, however long it is; empty for nothing."""
        return next((found[0] for each in texts if (found := self._more.search(fold(each)))), "")

    def command(self, label: str) -> Command | None:
        """What a label says that is to be done, if that cannot be taken back."""
        folded = fold(label)
        found = [each for language in self._languages for each in language.commands(folded)]
        refused = {command.word for command, no in found if no}  # a word of two languages, refused in one of them
        return next((command for command, _ in found if command.word not in refused), None)

    def command_of_name(self, parts: Sequence[str]) -> Command | None:
        """The same of the words in a developers' name, which are English."""
        if len(parts) == 1 and parts[0] in self._nouns:
            return Command("alone", parts[0])
        ends = (*parts[:1], *parts[-1:])
        return next((Command(self._ids[each], each) for each in ends if each in self._ids), None)

    def agrees(self, label: str) -> bool:
        """Whether it is the answer that does what was asked."""
        folded = fold(label)
        return self._agree.search(folded) is not None and self._refuse.search(folded) is None

    def searches(self, *texts: str) -> bool:
        """Whether a field of these texts is one in which Enter only searches."""
        return any(self._search.search(fold(each)) for each in texts)

    def slides(self, label: str) -> bool:
        """Whether it is pulled rather than tapped."""
        return self._slide.search(fold(label)) is not None


def words(languages: Sequence[str] = (), more: Sequence[str] = ()) -> Words:
    """Those of the languages (`de`, `pt-BR`; none: of all that ship) and `more`. Raises ConfigError for a language that
    does not ship."""
    known = tuple(_shipped())
    codes = tuple(dict.fromkeys(re.split("[-_]", each.casefold())[0] for each in languages)) or known
    if strange := [each for each in codes if each not in known]:
        raise ConfigError(f"phone.languages: there are no words for {strange[0]}", hint=f"known: {', '.join(known)}")
    return _words(codes, tuple(more))


def whole(entries: Iterable[str], *, glob: bool = False) -> re.Pattern[str]:
    """Finds the entries as whole words in folded text, the longest first; those that are written without spaces
    wherever they stand. With `glob`, `*` stands for anything."""
    spaced: list[str] = []
    wide: list[str] = []
    for entry in sorted({fold(each) for each in entries} - {""}, key=lambda each: (-len(each), each)):
        (wide if re.search(f"[{WIDE}]", entry) else spaced).append(_glob(entry) if glob else re.escape(entry))
    parts = [rf"(?<![{LETTER}])(?:{'|'.join(spaced)})(?![{LETTER}])"] if spaced else []
    return re.compile("|".join([*parts, *wide])) if parts or wide else NEVER


@functools.lru_cache(maxsize=16)
def _words(languages: tuple[str, ...], more: tuple[str, ...]) -> Words:
    return Words(languages, more)


@functools.cache
def _shipped() -> Mapping[str, Kinds]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # PyYAML may have been built without libyaml
    text = files(__package__).joinpath("consequential_words.yaml").read_text("utf-8")
    found: Mapping[str, Kinds] = yaml.load(text, Loader=loader)
    return found


def _all_of(entries: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(_glob(fold(each)) for each in entries))


def _glob(entry: str) -> str:
    return ".*".join(re.escape(part) for part in entry.split("*"))
