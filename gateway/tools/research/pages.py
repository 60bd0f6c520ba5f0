"""Documents as passages: the text under one heading (or about one signature), as blocks that can be quoted.

A block is a paragraph, a list item, a table row or a code example. Its text is the document's, letter for letter, with
runs of white space as one space; in code the white space stays too.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from pathlib import PurePath

from gateway.errors import ToolError
from gateway.tools.research.encoding import decode

MAX_PASSAGE = 900  # characters, after which a section is continued in another passage
HTML_SUFFIXES = frozenset({".html", ".htm", ".xhtml"})
PDF_SUFFIX = ".pdf"
SUFFIXES = HTML_SUFFIXES | {".md", ".markdown", ".txt", ".rst", PDF_SUFFIX}
_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class Block:
    text: str
    code: bool = False


@dataclass
class Passage:
    """`heading` is that of the section, or the name in the signature that it is about; `names` are what it defines."""

    section: str
    heading: str
    anchor: str
    blocks: list[Block] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    @property
    def size(self) -> int:
        return sum(len(each.text) for each in self.blocks)


@dataclass
class Page:
    """`date` is YYYY-MM-DD where the document says one."""

    title: str = ""
    passages: list[Passage] = field(default_factory=list)
    date: str = ""


class Builder:
    """Passages as they come: a heading opens a section, a signature a passage, a long text is continued in another."""

    def __init__(self) -> None:
        self.page = Page()
        self._current = Passage("", "", "")

    @property
    def place(self) -> tuple[str, str, str]:
        """Where what comes next belongs: section, heading, anchor."""
        return self._current.section, self._current.heading, self._current.anchor

    def heading(self, text: str, anchor: str) -> None:
        self.page.title = self.page.title or text
        self.open(text, text, anchor)
        self.names(text)

    def signature(self, name: str, anchor: str) -> None:
        self.open(self._current.section, name, anchor)

    def names(self, *names: str) -> None:
        """What the passage defines that is being read."""
        self._current.names.extend(each for each in names if each)

    def block(self, text: str, *, code: bool = False) -> None:
        if not text.strip():
            return
        blocks = self._current.blocks
        # an example stays with the sentence that introduces it
        introduced = code and bool(blocks) and blocks[-1].text.endswith(":")
        if blocks and self._current.size + len(text) > MAX_PASSAGE and not introduced:
            self.open(*self.place)
        self._current.blocks.append(Block(text, code))

    def close(self) -> Page:
        self.open("", "", "")
        return self.page

    def open(self, section: str, heading: str, anchor: str) -> None:
        if self._current.blocks:
            self.page.passages.append(self._current)
        self._current = Passage(section, heading, anchor)


def read_document(path: str, data: bytes) -> tuple[Page, str]:
    """The passages of a document, and its letters as `letters` gives them; ToolError where there is no text in it.

    The suffix of `path` tells what it is: HTML, PDF, or Markdown and plain text.
    """
    if is_pdf(path):
        from gateway.tools.research.pdf_page import read_pdf

        page, all_letters = read_pdf(data)
        page.title = page.title or PurePath(path).stem
        return page, all_letters
    if b"\0" in data and not data.startswith(_BOMS):
        raise ToolError("it is binary, not text")
    text = decode(data)
    return read_page(path, text), letters(path, text)


def read_page(path: str, text: str) -> Page:
    """The passages of HTML, Markdown or plain text."""
    if is_html(path):
        from gateway.tools.research.html_page import read_html as read
    else:
        from gateway.tools.research.plain_page import read_plain as read
    page = read(text)
    page.title = page.title or PurePath(path).stem
    return page


def letters(path: str, text: str) -> str:
    """All letters of a document in order, without white space: what a quote has to be found in."""
    if is_html(path):
        from gateway.tools.research.html_page import text_of

        text = text_of(text)
    return squeezed(text)


def is_html(path: str) -> bool:
    return PurePath(path).suffix.lower() in HTML_SUFFIXES


def is_pdf(path: str) -> bool:
    return PurePath(path).suffix.lower() == PDF_SUFFIX


def squeezed(text: str) -> str:
    """Without any white space."""
    return "".join(text.split())
