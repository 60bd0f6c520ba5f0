"""The text of a file, with what must be kept when it is written back: encoding, byte-order mark, line endings."""

from __future__ import annotations

import codecs
import io
import re
import tokenize
from dataclasses import dataclass

from gateway.errors import ToolError

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True)
class SourceText:
    """`text` has its line endings as they stand in the file; `newline` is the most common of them."""

    text: str
    encoding: str = "utf-8"
    newline: str = "\n"

    @property
    def lines(self) -> list[str]:
        """With their endings, split where Python's parser splits, so that `ast` line numbers index it."""
        return _LINE.findall(self.text)

    def encode(self, text: str) -> bytes:
        """`text` as this file's bytes. Raises ToolError for characters that the file's encoding has not."""
        try:
            return text.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise ToolError(f"the file is {self.encoding}, which has no {error.object[error.start]!r}") from error

    def with_newlines(self, text: str) -> str:
        """`text`, whose lines may end in any way, with the line endings of this file."""
        return re.sub(r"\r\n|\r|\n", self.newline, text)


def decode(data: bytes, path: str) -> SourceText:
    """The file's text; ToolError if it is not text. A coding cookie is honoured in Python files."""
    if b"\0" in data:
        raise ToolError(f"{path} is a binary file")
    encoding = "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"
    try:
        if path.endswith((".py", ".pyi")):
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (UnicodeDecodeError, SyntaxError, LookupError) as error:
        raise ToolError(f"{path} is not {encoding} text: {error}") from error
    endings = re.findall(r"\r\n|\r|\n", text)
    newline = max(("\n", "\r\n", "\r"), key=endings.count) if endings else "\n"
    return SourceText(text, encoding, newline)
