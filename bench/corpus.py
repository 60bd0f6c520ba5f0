"""The local corpus over the Python documentation: how long the first index takes, and a query; and how often the right
page is found, asked for by the entries of the documentation's own inventory (`objects.inv`, as Sphinx writes it)."""

from __future__ import annotations

import random
import re
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from statistics import median, quantiles

from bench.table import Line, show
from gateway.tools.research.corpus import Corpus

DOCS = Path("/usr/share/doc/python3/html")  # the Debian package python3-doc
QUERIES, SEED = 300, 4
FIRST = 3  # pages that the right one has to be among
KINDS = {
    "c:function": "C function",
    "c:functionParam": "parameter",
    "c:macro": "C macro",
    "c:member": "C member",
    "c:struct": "C structure",
    "c:type": "C type",
    "py:data": "variable",
    "std:2to3fixer": "2to3 fixer",
    "std:cmdoption": "command line option",
    "std:doc": "page",
    "std:envvar": "environment variable",
    "std:label": "section",
    "std:opcode": "bytecode instruction",
    "std:pdbcommand": "debugger command",
    "std:token": "grammar rule",
}
SENTENCES = (
    "How does the {} work?",
    "What does the {} do?",
    "What is the {}?",
    "the {}",
    "When do I need the {}?",
    "Explain the {}.",
)


@dataclass(frozen=True)
class Entry:
    """`page` is relative to the documentation's folder; `title` is what a reader sees of a label or a page."""

    kind: str
    name: str
    page: str
    title: str

    @property
    def described(self) -> str:
        name = self.title if self.kind in ("std:label", "std:doc") else self.name.rpartition(":")[2] or self.name
        return f"{KINDS.get(self.kind) or self.kind.partition(':')[2]} {name}"


def entries(inventory: Path) -> Iterator[Entry]:
    """Of an inventory of version 2: four lines of header, then a compressed line for each entry:
    `name domain:role priority uri title`."""
    with inventory.open("rb") as file:
        for _ in range(4):
            file.readline()
        lines = zlib.decompress(file.read()).decode().splitlines()
    for line in lines:
        if found := re.match(r"(.+?)\s+(\S+:\S+)\s+-?\d+\s+?(\S*)\s+(.*)", line):
            name, kind, uri, title = found.groups()
            yield Entry(kind, name, uri.partition("#")[0].replace("$", name), name if title == "-" else title)


def queries(docs: Path, count: int = QUERIES, seed: int = SEED) -> list[tuple[Entry, str]]:
    """Entries chosen at random out of all, each with a sentence that names it and its kind."""
    chance = random.Random(seed)
    chosen = chance.sample(list(entries(docs / "objects.inv")), count)
    return [(each, chance.choice(SENTENCES).format(each.described)) for each in chosen]


def pages(sources: Sequence[str]) -> list[str]:
    """Of the quotes' sources, each once and in their order."""
    return list(dict.fromkeys(str(PurePosixPath(each.partition("#")[0])) for each in sources))


def measure(docs: Path = DOCS, *, seed: int = SEED, misses: bool = False) -> list[Line]:
    if not (docs / "objects.inv").exists():
        return [Line("the Python documentation", "not installed: apt-get install python3-doc")]
    with tempfile.TemporaryDirectory(prefix="echelon-bench-") as folder:
        corpus = Corpus(docs, Path(folder))
        began = time.perf_counter()
        indexed = corpus.update()
        index_s = time.perf_counter() - began
        began = time.perf_counter()
        corpus.update()
        again_s = time.perf_counter() - began
        seconds: list[float] = []
        asked: Counter[str] = Counter()
        right: Counter[str] = Counter()
        for entry, query in queries(docs, seed=seed):
            began = time.perf_counter()
            found = pages([each.source for each in corpus.search(query)])[:FIRST]
            seconds.append(time.perf_counter() - began)
            asked[entry.kind] += 1
            right[entry.kind] += entry.page in found
            if misses and entry.page not in found:
                print(f"{query!r}: not {entry.page} but {', '.join(found) or 'nothing'}")
    share = right.total() / asked.total()
    middle, last = median(seconds) * 1000, quantiles(seconds, n=20)[-1] * 1000
    return [
        Line(f"first index, {indexed} pages", f"{index_s:.1f} s", "≤ 60 s", index_s <= 60),
        Line("index that is up to date", f"{again_s * 1000:.0f} ms"),
        Line("query, median", f"{middle:.0f} ms", "≤ 150 ms", middle <= 150),
        Line("query, 95 of 100", f"{last:.0f} ms"),
        Line(f"right page among the first {FIRST}, {QUERIES} queries", f"{share:.1%}", "≥ 90 %", share >= 0.9),
        *(Line(f"… {kind}", f"{right[kind]} of {count}") for kind, count in asked.most_common()),
    ]


if __name__ == "__main__":
    show("Research in the Python documentation", measure(misses="--misses" in sys.argv))
