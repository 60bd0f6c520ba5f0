"""PDF files as tests need them: lines of text on pages, made with pypdf's own objects."""

from __future__ import annotations

import io
from collections.abc import Sequence

from pypdf import PdfWriter
from pypdf.generic import DictionaryObject, NameObject, StreamObject


def pdf(
    *pages: Sequence[str],
    title: str = "",
    made: str = "",
    outline: Sequence[tuple[str, int]] = (),
    password: str | None = None,
) -> bytes:
    """A document with the lines of each page; `outline` has headings with numbers of pages from 0; `made` is
    YYYYMMDDHHMMSS. With a password, even an empty one, it is encrypted."""
    writer = PdfWriter()
    for lines in pages:
        page = writer.add_blank_page(595, 842)
        if lines:
            shown = " ".join(f"({line}) Tj T*" for line in lines)
            content = StreamObject()
            content.set_data(f"BT /F1 12 Tf 14 TL 72 770 Td {shown} ET".encode("latin-1"))
            font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica", "/Encoding": "/WinAnsiEncoding"}
            entry = DictionaryObject({NameObject(key): NameObject(value) for key, value in font.items()})
            fonts = DictionaryObject({NameObject("/F1"): writer._add_object(entry)})
            page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
            page[NameObject("/Contents")] = writer._add_object(content)
    for heading, number in outline:
        writer.add_outline_item(title=heading, page_number=number)
    about = {"/Title": title} if title else {}
    if made:
        about["/CreationDate"] = f"D:{made}"
    writer.add_metadata(about)
    if password is not None:
        writer.encrypt(password, "of the owner", algorithm="AES-256")
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()
