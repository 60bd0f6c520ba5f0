"""Which passages answer a question: BM25, how many of the question's words they have, and whether they define what it
names."""

from __future__ import annotations

import math
import sqlite3
from dataclasses import dataclass, field
from itertools import pairwise

from gateway.tools.fulltext import any_of, terms
from gateway.tools.research.index import COLUMNS, Row, name_tokens
from gateway.tools.stopwords import OF_THE_TASK

_WEIGHTS = "3.0, 5.0, 4.0, 3.0, 2.0"  # title, section, heading, words of the path, text
_CANDIDATES = 80
_WHOLE = 400  # characters from which on a passage counts as an explanation, not as a mere mention
_NAMED = 2.0  # what the definition of all that is asked for counts, the best BM25 being 1,
_POWER = 3  # and so less that of a part of it: what a question names in passing is not what it is about
_LONGEST = 6  # words of a name
_KIND = 0.15  # what the words count that only tell what kind of thing a name belongs to
_KINDS = frozenset(
    """
    argument attribute called class command constant environment exception function functions keyword line macro mean
    means member method methods module option package page parameter section term type variable work works
    """.split()
)


@dataclass
class _Question:
    """Its words with their weights (the rarer, the more), and the passages that have them."""

    words: list[str]
    weight: dict[str, float] = field(default_factory=dict)
    having: dict[str, set[int]] = field(default_factory=dict)

    def covered(self, row: Row) -> float:
        """The share of the words, by weight, that the passage has."""
        return sum(each for word, each in self.weight.items() if row.id in self.having[word]) / (
            sum(self.weight.values()) or 1.0
        )

    def named(self, words: list[str]) -> float:
        """The share of the question, by weight, that a name of these words is."""
        rest = sum(each * (_KIND if word in _KINDS else 1) for word, each in self.weight.items() if word not in words)
        own = sum(self.weight.get(word, 0.0) for word in words)
        return own / (own + rest) if own else 0.0


def ranked(connection: sqlite3.Connection, query: str) -> list[Row]:
    """Passages, the best first; each from where the text under its heading begins, if it begins to speak of the matter
    there."""
    words = terms(query)
    words = [each for each in words if each not in OF_THE_TASK] or words
    question = _weighed(connection, words)
    scores = _by_words(connection, question)
    for row, named in _by_names(connection, query, question).items():
        scores[row] = scores.get(row, 0.0) + _NAMED * named
    found = []
    for row in sorted(scores, key=lambda row: (-scores[row], row.id)):
        section, heading = _beginnings(connection, row)
        if row.section and question.covered(section) >= question.covered(row):
            found.append(section)
        elif question.covered(heading) >= 0.8 * question.covered(row):
            found.append(heading)
        else:
            found.append(row)
    return found


def _weighed(connection: sqlite3.Connection, words: list[str]) -> _Question:
    question = _Question(words)
    total = connection.execute("SELECT count(*) FROM passages").fetchone()[0]
    for word in words:
        found = connection.execute("SELECT rowid FROM passages_text WHERE passages_text MATCH ?", (f'"{word}"',))
        question.having[word] = {row[0] for row in found}
        if question.having[word]:
            question.weight[word] = math.log(1 + total / len(question.having[word]))
    return question


def _by_words(connection: sqlite3.Connection, question: _Question) -> dict[Row, float]:
    """BM25 times the square of the share of words, less for passages that are short; the best is 1."""
    words = question.words
    if not words:
        return {}
    rows = connection.execute(
        f"SELECT {COLUMNS}, bm25(passages_text, {_WEIGHTS}) AS score FROM passages_text "
        "JOIN passages AS p ON p.id = passages_text.rowid WHERE passages_text MATCH ? ORDER BY score LIMIT ?",
        (any_of([*words, *(first + second for first, second in pairwise(words))]), _CANDIDATES),
    ).fetchall()
    scores = {}
    for *values, bm25 in rows:
        row = Row(*values)
        scores[row] = -bm25 * question.covered(row) ** 2 * min(1.0, len(row.text) / _WHOLE) ** 0.5
    best = max(scores.values(), default=0.0) or 1.0
    return {row: score / best for row, score in scores.items()}


def _by_names(connection: sqlite3.Connection, query: str, question: _Question) -> dict[Row, float]:
    """The passages that define something that the query names: at most 1, where the name is all that the query says
    and nothing else is called so."""
    wanted: dict[str, float] = {}
    tokens = name_tokens(query)
    for length in range(1, _LONGEST + 1):
        for start in range(len(tokens) - length + 1):
            part = tokens[start : start + length]
            name = " ".join(part)
            wanted[name] = _telling(name, part, question)
            wanted.setdefault(name.removesuffix("s"), wanted[name])
    for token in tokens:
        parts = token.split(".")
        for start in range(1, len(parts)):
            for name in (".".join(parts[:start]), ".".join(parts[start:])):
                wanted.setdefault(name, 0.5 * _telling(token, [token], question))
    wanted = {name: share for name, share in wanted.items() if share > 0}
    marks = ", ".join("?" * len(wanted))
    found = connection.execute(
        f"SELECT n.name, n.share, {COLUMNS} FROM names AS n JOIN passages AS p ON p.id = n.passage "
        f"WHERE n.name IN ({marks})",
        list(wanted),
    ).fetchall()
    pages: dict[str, set[str]] = {}
    for name, _, _, path, *_ in found:
        pages.setdefault(name, set()).add(path)
    scores: dict[Row, float] = {}
    for name, share, *values in found:
        row = Row(*values)
        score = wanted[name] ** _POWER * share / math.sqrt(len(pages[name]))
        scores[row] = max(score, scores.get(row, 0.0))
    return scores


def _telling(name: str, tokens: list[str], question: _Question) -> float:
    """The share of the question that a name in it is; no less than 0.8 where it is written as only names are."""
    if any("." in each or "_" in each or each.startswith("-") for each in tokens):
        return max(0.8, question.named(terms(name)))
    return question.named(terms(name))


def _beginnings(connection: sqlite3.Connection, row: Row) -> tuple[Row, Row]:
    """The first passage of the row's section, and the first under its heading."""
    query = f"SELECT {COLUMNS} FROM passages AS p WHERE path = ? AND {{}} = ? ORDER BY id LIMIT 1"
    section = connection.execute(query.format("section"), (row.path, row.section)).fetchone()
    heading = connection.execute(query.format("anchor"), row.place).fetchone()
    return Row(*section), Row(*heading)
