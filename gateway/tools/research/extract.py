"""What a page says: its main part as passages, its title and date. Runs in a process of its own (see readers.py), since
what strangers have written can take hours or gigabytes to be read.

`python -m gateway.tools.research.extract` reads requests from its standard input, each a line of JSON (Request) and the
content, and answers each with a line of JSON: an Extracted, or `{"problem"}`.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from gateway.errors import ToolError
from gateway.tools.research.encoding import decode
from gateway.tools.research.fetcher import HTML, PDF
from gateway.tools.research.pages import Page, Passage, letters, read_document, read_page, squeezed

if TYPE_CHECKING:
    from trafilatura.settings import Document

MEMORY_BYTES = 2 << 30  # of address space
MAX_JUDGED = 1_000_000  # characters of HTML of which the main part is looked for: it takes more than linear time
_PIECE = 30  # letters that are looked for in the main part
_MARK = "¶"  # that links to a heading


@dataclass(frozen=True)
class Request:
    """`kind` is the content type, empty where the site gave none; `size` the number of bytes that follow."""

    kind: str
    charset: str
    size: int


@dataclass(frozen=True)
class Extracted:
    """`letters` is all text of the page without white space; every block of every passage stands in it."""

    title: str
    date: str
    page: Page
    letters: str


def extract(kind: str, charset: str, content: bytes) -> Extracted:
    """ToolError where there is no text to be had."""
    kind = kind or _sniffed(content)
    if kind == PDF:
        page, found = read_document("page.pdf", content)
        return _checked(Extracted(page.title.removesuffix("page"), page.date, page, found))
    text = decode(content, charset)
    if _is_binary(text):
        raise ToolError("it is binary, not text")
    if kind in HTML:
        return _checked(_from_html(text))
    path = "page.md"
    page = read_page(path, text)
    return _checked(Extracted("" if page.title == "page" else page.title, page.date, page, letters(path, text)))


def _from_html(text: str) -> Extracted:
    path = "page.html"
    try:
        page, all_letters = read_page(path, text), letters(path, text)
    except RecursionError:
        raise ToolError("its elements are nested too deeply") from None
    title = "" if page.title == "page" else page.title
    main = _main(text) if len(text) <= MAX_JUDGED else None
    if main is None or not main.text:
        return Extracted(title, page.date, page, all_letters)
    wanted = _words(main.text)
    kept = Page(page.title, [part for each in page.passages if (part := _part(each, wanted)).blocks])
    if 2 * sum(len(_words(block.text)) for each in kept.passages for block in each.blocks) < len(wanted):
        kept = read_page(
            "page.txt", "\n\n".join(main.text.splitlines())
        )  # what it takes for the main part is elsewhere
    said = (main.title or "").replace(_MARK, "").strip()
    return Extracted(said or title, page.date or _day(main.date), kept, all_letters)


def _main(html: str) -> Document | None:
    """What trafilatura takes for the page's own text; None where it finds none."""
    import logging

    from trafilatura import bare_extraction
    from trafilatura.settings import Document

    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    found = bare_extraction(
        html,
        with_metadata=True,
        include_comments=False,
        date_extraction_params={"extensive_search": False, "original_date": False},  # a date in the text may be any
    )
    return found if isinstance(found, Document) else None


def _part(passage: Passage, main: str) -> Passage:
    """From its first block that is in the main part to the last, with the examples around them."""
    blocks = passage.blocks
    found = [number for number, each in enumerate(blocks) if _stands(_words(each.text), main)]
    if not found:
        return Passage(passage.section, passage.heading, passage.anchor)
    first, last = found[0], found[-1]
    while first > 0 and blocks[first - 1].code:
        first -= 1
    while last + 1 < len(blocks) and blocks[last + 1].code:
        last += 1
    return Passage(passage.section, passage.heading, passage.anchor, blocks[first : last + 1], passage.names)


def _stands(text: str, main: str) -> bool:
    """Whether most of the text is there; what has a mark or a note left out in its middle counts."""
    if text in main:
        return bool(text)
    pieces = [text[at : at + _PIECE] for at in range(0, len(text) - _PIECE + 1, _PIECE)]
    return 2 * sum(each in main for each in pieces) > len(pieces)


def _words(text: str) -> str:
    """Letters and digits alone: bars and stars of tables and lists are put in, or not."""
    return re.sub(r"[\W_]+", "", text)


def _checked(found: Extracted) -> Extracted:
    """Only with blocks that stand in the page letter for letter."""
    for passage in found.page.passages:
        passage.blocks = [each for each in passage.blocks if squeezed(each.text) in found.letters]
    found.page.passages = [each for each in found.page.passages if each.blocks]
    if not found.page.passages:
        raise ToolError("it has no text")
    return found


def _sniffed(content: bytes) -> str:
    """The kind of a page whose site says nothing."""
    if content.startswith(b"%PDF-"):
        return PDF
    html = re.search(rb"<(!doctype html|html|head|body)\b", content[:1000], re.IGNORECASE)
    return "text/html" if html else "text/plain"


def _is_binary(text: str) -> bool:
    """More than a stray control character or unreadable byte among the first."""
    head = text[:2000]
    return len(re.findall(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\ufffd]", head)) > len(head) // 20


def _day(said: str | None) -> str:
    try:
        return date.fromisoformat(said or "").isoformat()
    except ValueError:
        return ""


def _limit_memory() -> None:
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_AS)
    allowed = MEMORY_BYTES if most == resource.RLIM_INFINITY else min(MEMORY_BYTES, most)
    resource.setrlimit(resource.RLIMIT_AS, (allowed, most))


def _serve() -> None:
    from pydantic import TypeAdapter

    answer = TypeAdapter(Extracted)
    while line := sys.stdin.buffer.readline():
        asked = Request(**json.loads(line))
        content = sys.stdin.buffer.read(asked.size)
        try:
            said = answer.dump_json(extract(asked.kind, asked.charset, content))
        except ToolError as error:
            said = json.dumps({"problem": str(error)}).encode()
        except (MemoryError, RecursionError):
            said = json.dumps({"problem": "it is too big or too tangled to be read"}).encode()
        except ImportError as error:  # not the page's fault
            said = json.dumps({"problem": f"what reads pages is not installed whole: {error}"}).encode()
        sys.stdout.buffer.write(said + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    _limit_memory()
    _serve()
