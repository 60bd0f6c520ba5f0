"""HTML as passages, read with selectolax; the definitions that Sphinx marks (signatures, terms, options) with names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gateway.tools.research.pages import Builder, Page

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BLOCKS = _HEADINGS | frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "caption", "dd", "details", "div", "dl", "dt", "fieldset",
        "figcaption", "figure", "hr", "li", "main", "ol", "p", "pre", "section", "summary", "table", "tbody", "td",
        "tfoot", "th", "thead", "tr", "ul",
    }
)  # fmt: skip
MAX_NAME = 60  # characters of a name that is printed where it is defined
_DATES = (
    "meta[property='article:modified_time']", "meta[name='dcterms.modified']", "meta[name=date]",
    "meta[property='article:published_time']",
)  # fmt: skip
_SKIPPED_TAGS = frozenset({"nav", "script", "style", "footer", "form", "noscript", "template", "svg", "button"})
_SKIPPED_CLASSES = frozenset(
    {
        "headerlink", "toctree-wrapper", "contents", "versionadded", "versionchanged", "admonition-title",
        "sphinxsidebar", "related",
    }
)  # fmt: skip


def read_html(text: str) -> Page:
    """The passages of the page's main part."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(text)
    main = tree.css_first("[role=main], main") or tree.css_first("article") or tree.body
    builder = Builder()
    if main is not None:
        inline: list[str] = []
        _walk(main, builder, inline)
        _flush(inline, builder)
    page = builder.close()
    if not page.title:
        title = tree.css_first("title")
        page.title = re.split(r" [—–|] ", _plain(title))[0] if title else ""
    page.date = _date(tree)
    return page


def text_of(text: str) -> str:
    """All text of the page's body, without the marks that link to headings."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(text)
    for each in tree.css("a.headerlink"):
        each.decompose()
    return tree.body.text() if tree.body else ""


def _date(tree: LexborHTMLParser) -> str:
    """When the page says it was last changed, else published."""
    for wanted in _DATES:
        found = tree.css_first(wanted)
        said = (found.attributes.get("content") or found.attributes.get("datetime") or "") if found else ""
        if re.match(r"\d{4}-\d\d-\d\d", said):
            return said[:10]
    return ""


def _walk(node: LexborNode, builder: Builder, inline: list[str]) -> None:
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
            if (child.id or "") and len(name := _plain(child)) <= MAX_NAME:
                builder.names(name)  # what can be linked to is defined here
            continue
        _flush(inline, builder)
        if tag in _HEADINGS:
            builder.heading(_plain(child), _anchor(child))
        elif tag == "pre":
            builder.block(_text(child).strip("\n"), code=True)
            builder.names(*(_plain(each) for each in child.css("[id]")))  # of a grammar
        elif tag == "tr":
            builder.block(" ".join(_plain(each) for each in _children(child) if each.tag in ("td", "th")))
        else:
            named = tag == "dt" and child.attributes.get("id")
            if named:
                builder.signature(_name(child), named or "")
                builder.names(*_names(child))
            place = builder.place
            _walk(child, builder, inline)
            _flush(inline, builder)
            if tag == "dl" and builder.place != place:
                builder.open(*place)  # what follows the definitions belongs to what came before them


def _flush(inline: list[str], builder: Builder) -> None:
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


def _names(signature: LexborNode) -> Iterator[str]:
    """The dotted name that its id is, without the mark of a language (`c.`); its name in print; all of a term."""
    own = signature.attributes.get("id") or ""
    if re.fullmatch(r"[\w.]+", own):
        yield own.removeprefix("c.")
    printed = [_plain(each) for each in signature.css(".descname")]
    yield from printed or [_plain(signature)]


def _name(signature: LexborNode) -> str:
    """What a signature is about: its dotted name, or the term of a glossary."""
    own = signature.attributes.get("id") or ""
    return own if re.fullmatch(r"[\w.]+", own) else _plain(signature)[:80]
