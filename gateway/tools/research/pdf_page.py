"""PDF as passages: the text that pypdf finds, a page after the other, under the headings of the document's outline."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gateway.errors import ToolError
from gateway.tools.research.pages import Builder, Page, squeezed

if TYPE_CHECKING:
    from pypdf import PdfReader

MAX_PDF_PAGES = 2_000
MAX_BLOCK = 400  # characters, after which a block ends with its sentence: few PDFs mark where paragraphs end


def read_pdf(data: bytes) -> tuple[Page, str]:
    """The passages, whose anchors are `page=12`, and all letters without white space.

    ToolError for a file that is damaged or encrypted, or has no text: one of pictures, as scanners make them.
    """
    from pypdf import PdfReader
    from pypdf.errors import FileNotDecryptedError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it warns of every flaw that it gets over
    try:
        return _read(PdfReader(io.BytesIO(data)))
    except FileNotDecryptedError:
        raise ToolError("it is encrypted") from None
    except ToolError:
        raise
    except Exception as error:  # damaged files make the parser fail in any way
        raise ToolError(f"it is damaged: {error}") from error


def _read(reader: PdfReader) -> tuple[Page, str]:
    builder = Builder()
    builder.page.title, builder.page.date = _described(reader)
    outline = _outline(reader)
    texts = []
    for number, sheet in enumerate(reader.pages[:MAX_PDF_PAGES], 1):
        text = _clean(sheet.extract_text())
        texts.append(text)
        section, heading, _ = builder.place
        builder.open(section, heading, f"page={number}")
        _sheet(builder, text, outline.get(number, []), f"page={number}")
    page = builder.close()
    if not page.passages:
        raise ToolError("it has no text, only pictures: it needs text recognition (OCR)")
    return page, squeezed("".join(texts))


def _sheet(builder: Builder, text: str, headings: list[str], anchor: str) -> None:
    """One page of the document. A heading of the outline begins with the line that says it, else with the page."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    waiting = {squeezed(each).lower(): each for each in headings}
    said = {squeezed(line).lower() for line in lines}
    for each in headings:
        if squeezed(each).lower() not in said:
            builder.heading(each, anchor)
    gathered: list[str] = []
    for line in (*lines, ""):
        size = sum(map(len, gathered))
        heading = waiting.pop(squeezed(line).lower(), "")
        whole = size >= MAX_BLOCK and gathered[-1].endswith((".", "!", "?", ":"))
        if heading or not line or whole or size >= 2 * MAX_BLOCK:
            builder.block(" ".join(gathered))
            gathered.clear()
        if heading:
            builder.heading(heading, anchor)
        elif line:
            gathered.append(line)
    builder.block(" ".join(gathered))


def _described(reader: PdfReader) -> tuple[str, str]:
    """Title, and when it was changed or made; empty where the document does not say."""
    about = reader.metadata
    try:
        made = about and (about.modification_date or about.creation_date)
    except ValueError:
        made = None
    return _clean(about.title or "").strip() if about else "", made.date().isoformat() if made else ""


def _outline(reader: PdfReader) -> dict[int, list[str]]:
    """The headings by number of page; none where the outline is damaged."""
    found: dict[int, list[str]] = {}
    try:
        for each in _flat(reader.outline):
            number = reader.get_destination_page_number(each)
            if number is not None and each.title:
                found.setdefault(number + 1, []).append(" ".join(_clean(each.title).split()))
    except Exception:  # the text is there without it
        return {}
    return found


def _flat(outline: list[Any]) -> Iterator[Any]:
    for each in outline:
        if isinstance(each, list):
            yield from _flat(each)
        else:
            yield each


def _clean(text: str) -> str:
    """Without what no database takes: halves of characters, which damaged fonts give."""
    return text.encode("utf-8", "replace").decode()
