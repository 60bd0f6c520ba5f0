"""The text of a file, with what must be kept when it is written back: encoding, byte-order mark, line endings."""

from __future__ import annotations

import codecs
import io
import re
import tokenize
from dataclasses import dataclass

from gateway.errors import ToolError

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before that of UTF-16, which it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8, "utf-8"),
)
_CONTROLS = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f]")  # what no text has, in whatever encoding


@dataclass(frozen=True)
class SourceText:
    """`text` has its line endings as they stand in the file; `newline` is the most common of them. `mark` are the bytes
    of the byte-order mark, which is no part of the text."""

    text: str
    encoding: str = "utf-8"
    newline: str = "\n"
    mark: bytes = b""

    @property
    def lines(self) -> list[str]:
        """With their endings, split where Python's parser splits, so that `ast` line numbers index it."""
        return _LINE.findall(self.text)

    def encode(self, text: str) -> bytes:
        """`text` as this file's bytes. Raises ToolError for characters that the file's encoding has not."""
        try:
            return self.mark + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise ToolError(f"the file is {self.encoding}, which has no {error.object[error.start]!r}") from error

    def with_newlines(self, text: str) -> str:
        """`text`, whose lines may end in any way, with the line endings of this file."""
        return re.sub(r"\r\n|\r|\n", self.newline, text)


def decode(data: bytes, path: str) -> SourceText:
    """The file's text; ToolError if it is not text.

    Its encoding is that of its byte-order mark, in Python files that of the coding cookie, else UTF-8; what is not
    UTF-8 and has no control characters is Latin-1, in which every byte is kept.
    """
    mark, encoding = next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", "utf-8"))
    body = data[len(mark) :]
    try:
        if path.endswith((".py", ".pyi")) and encoding == "utf-8":
            named, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
            encoding = encoding if named == "utf-8-sig" else named
        if encoding == "utf-8" and b"\0" in body:
            raise ToolError(f"{path} is a binary file")
        text = body.decode(encoding)
    except (UnicodeError, SyntaxError, LookupError) as error:
        if mark or path.endswith((".py", ".pyi")):
            raise ToolError(f"{path} is not {encoding} text: {error}") from error
        if _CONTROLS.search(body):
            raise ToolError(f"{path} is a binary file") from error
        encoding, text = "latin-1", body.decode("latin-1")
    endings = re.findall(r"\r\n|\r|\n", text)
    newline = max(("\n", "\r\n", "\r"), key=endings.count) if endings else "\n"
    return SourceText(text, encoding, newline, mark)


def editable(data: bytes, path: str) -> SourceText:
    """As `decode`, with a ToolError where the text cannot be written back as the very bytes that it was read from."""
    source = decode(data, path)
    if source.encode(source.text) != data:
        raise ToolError(
            f"{path} is {source.encoding}, in which its bytes can be written in more than one way",
            hint="convert it to UTF-8 first",
        )
    return source
