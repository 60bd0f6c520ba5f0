"""Documents as passages: the text under one heading (or about one signature), as blocks that can be quoted.

A block is a paragraph, a list item, a table row or a code example. Its text is the document's, letter for letter, with
runs of white space as one space; in code the white space stays too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_PASSAGE = 900  # characters, after which a section is continued in another passage
HTML_SUFFIXES = frozenset({".html", ".htm", ".xhtml"})
SUFFIXES = HTML_SUFFIXES | {".md", ".markdown", ".txt", ".rst"}
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BLOCKS = _HEADINGS | frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "caption", "dd", "details", "div", "dl", "dt", "fieldset",
        "figcaption", "figure", "hr", "li", "main", "ol", "p", "pre", "section", "summary", "table", "tbody", "td",
        "tfoot", "th", "thead", "tr", "ul",
    }
)  # fmt: skip
_SKIPPED_TAGS = frozenset({"nav", "script", "style", "footer", "form", "noscript", "template", "svg", "button"})
_SKIPPED_CLASSES = frozenset(
    {
        "headerlink", "toctree-wrapper", "contents", "versionadded", "versionchanged", "admonition-title",
        "sphinxsidebar", "related",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Block:
    text: str
    code: bool = False


@dataclass
class Passage:
    """`heading` is that of the section, or the name in the signature that it is about."""

    section: str
    heading: str
    anchor: str
    blocks: list[Block] = field(default_factory=list)

    @property
    def size(self) -> int:
        return sum(len(each.text) for each in self.blocks)


@dataclass
class Page:
    title: str = ""
    passages: list[Passage] = field(default_factory=list)


class _Builder:
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

    def signature(self, name: str, anchor: str) -> None:
        self.open(self._current.section, name, anchor)

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


def read_page(path: str, text: str) -> Page:
    """The passages of an HTML, Markdown or plain text document; `path` tells which it is."""
    suffix = PurePath(path).suffix.lower()
    page = _read_html(text) if suffix in HTML_SUFFIXES else _read_plain(text)
    page.title = page.title or PurePath(path).stem
    return page


def letters(path: str, text: str) -> str:
    """All letters of a document in order, without white space: what a quote has to be found in."""
    if PurePath(path).suffix.lower() in HTML_SUFFIXES:
        from selectolax.lexbor import LexborHTMLParser

        tree = LexborHTMLParser(text)
        for each in tree.css("a.headerlink"):
            each.decompose()
        text = tree.body.text() if tree.body else ""
    return squeezed(text)


def squeezed(text: str) -> str:
    """Without any white space."""
    return "".join(text.split())


def _read_html(text: str) -> Page:
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(text)
    main = tree.css_first("[role=main], main") or tree.css_first("article") or tree.body
    builder = _Builder()
    if main is not None:
        inline: list[str] = []
        _walk(main, builder, inline)
        _flush(inline, builder)
    page = builder.close()
    if not page.title:
        title = tree.css_first("title")
        page.title = re.split(r" [—–|] ", _plain(title))[0] if title else ""
    return page


def _walk(node: LexborNode, builder: _Builder, inline: list[str]) -> None:
    """Depth first; text that is not in a block of its own gathers in `inline` until a block begins or ends."""
    for child in _children(node):
        tag = child.tag or ""
        if tag == "-text":
            inline.append(child.text_content or "")
            continue
        if tag in _SKIPPED_TAGS or tag.startswith("-") or _SKIPPED_CLASSES & _classes(child):
            continue
        if tag == "br":
            inline.append(" ")
        if tag not in _BLOCKS:
            _walk(child, builder, inline)
            continue
        _flush(inline, builder)
        if tag in _HEADINGS:
            builder.heading(_plain(child), _anchor(child))
        elif tag == "pre":
            builder.block(_text(child).strip("\n"), code=True)
        elif tag == "tr":
            builder.block(" ".join(_plain(each) for each in _children(child) if each.tag in ("td", "th")))
        else:
            named = tag == "dt" and child.attributes.get("id")
            if named:
                builder.signature(_name(child), named or "")
            place = builder.place
            _walk(child, builder, inline)
            _flush(inline, builder)
            if tag == "dl" and builder.place != place:
                builder.open(*place)  # what follows the definitions belongs to what came before them


def _flush(inline: list[str], builder: _Builder) -> None:
    text = " ".join("".join(inline).split())
    inline.clear()
    if not text.startswith("Source code: "):  # a line that Sphinx puts under the titles of modules
        builder.block(text)


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.child
    while child is not None:
        yield child
        child = child.next


def _classes(node: LexborNode) -> set[str]:
    return set((node.attributes.get("class") or "").split())


def _text(node: LexborNode) -> str:
    """Its text, without the marks that link to headings."""
    if node.tag == "-text":
        return node.text_content or ""
    return "".join(_text(each) for each in _children(node) if "headerlink" not in _classes(each))


def _plain(node: LexborNode) -> str:
    return " ".join(_text(node).split())


def _anchor(heading: LexborNode) -> str:
    """The id of a heading, or of the section that it opens."""
    if own := heading.attributes.get("id"):
        return own
    parent = heading.parent
    if parent is not None and (parent.tag == "section" or "section" in _classes(parent)):
        return parent.attributes.get("id") or ""
    inside = heading.css_first("[id]")
    return (inside.attributes.get("id") or "") if inside else ""


def _name(signature: LexborNode) -> str:
    """What a signature is about: its dotted name, or the term of a glossary."""
    own = signature.attributes.get("id") or ""
    return own if re.fullmatch(r"[\w.]+", own) else _plain(signature)[:80]


def _read_plain(text: str) -> Page:
    """Markdown or plain text: `#` and underlined headings, fenced and indented code, paragraphs between blank lines."""
    builder = _Builder()
    lines = text.replace("\r\n", "\n").split("\n")
    gathered: list[str] = []

    def flush() -> None:
        code = bool(gathered) and all(line.startswith(("    ", "\t")) for line in gathered if line.strip())
        builder.block("\n".join(gathered).strip("\n") if code else " ".join(" ".join(gathered).split()), code=code)
        gathered.clear()

    number = 0
    while number < len(lines):
        line = lines[number]
        below = lines[number + 1] if number + 1 < len(lines) else ""
        fence = re.match(r"\s*(```+|~~~+)", line)
        marked = re.match(r"#{1,6}\s+(.+?)\s*#*$", line)
        if fence:
            flush()
            end = next((i for i in range(number + 1, len(lines)) if lines[i].strip() == fence[1]), len(lines))
            builder.block("\n".join(lines[number + 1 : end]), code=True)
            number = end
        elif marked:
            flush()
            builder.heading(marked[1], _slug(marked[1]))
        elif line.strip() and not gathered and re.fullmatch(r"(=|-|~|\^){3,}\s*", below):
            builder.heading(line.strip(), _slug(line))
            number += 1
        elif line.strip():
            gathered.append(line)
        else:
            flush()
        number += 1
    flush()
    return builder.close()


def _slug(heading: str) -> str:
    return re.sub(r"[^\w-]", "", heading.strip().lower().replace(" ", "-"))
