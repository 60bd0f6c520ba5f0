"""Whether a skill is valid, and says in its sources' own words what it quotes."""

from __future__ import annotations

import re
from pathlib import Path

GAP = "[…]"  # a part of the page that a quote leaves out
_QUOTE = re.compile(r"^### .*?\(`([^`#]+)[^`]*`\)\n\n(`{3,})text\n(.*?)\n\2$", re.DOTALL | re.MULTILINE)


def problem(skills: Path, corpus: Path, page: str) -> str:
    """Empty where there is one skill, it is valid, and its quotes stand in the corpus's HTML letter for letter, one of
    them on a page whose path contains `page`."""
    from skills_ref import validate  # type: ignore[import-untyped]

    written = sorted(skills.glob("[!.]*/SKILL.md"))
    if len(written) != 1:
        return f"{len(written)} skills"
    if problems := validate(written[0].parent):
        return f"not valid: {problems[0]}"
    quotes = [(match[1], match[3]) for match in _QUOTE.finditer(written[0].read_text("utf-8"))]
    if not quotes:
        return "it quotes nothing"
    for source, quote in quotes:
        words = _page_words(corpus / source)
        for block in quote.split("\n\n"):
            if block != GAP and _words(block) not in words:
                return f"a quote does not stand in {source}: {block[:60]!r}"
    if not any(page in source for source, _ in quotes):
        return f"no quote from {page}, but from {', '.join(sorted({source for source, _ in quotes}))}"
    return ""


def _words(text: str) -> str:
    """The text without white space: where lines break, and whether there is a space between two tags, is layout."""
    return "".join(text.split())


def _page_words(path: Path) -> str:
    """All words of a page; none where there is no such page."""
    from selectolax.lexbor import LexborHTMLParser

    if not path.is_file():
        return ""
    page = LexborHTMLParser(path.read_text("utf-8", "replace"))
    for anchor in page.css("a.headerlink"):  # the pilcrow that a browser shows beside a heading
        anchor.decompose()
    return _words(page.body.text()) if page.body is not None else ""
