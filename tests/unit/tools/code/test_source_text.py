from __future__ import annotations

import codecs

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gateway.errors import ToolError
from gateway.tools.code.source_text import decode, editable

ENCODINGS = [
    ("a.txt", b"", "utf-8"),
    ("a.txt", codecs.BOM_UTF8, "utf-8"),
    ("a.txt", codecs.BOM_UTF16_LE, "utf-16-le"),
    ("a.txt", codecs.BOM_UTF16_BE, "utf-16-be"),
    ("a.txt", codecs.BOM_UTF32_LE, "utf-32-le"),
    ("a.txt", b"", "latin-1"),
    ("a.py", b"# coding: iso-8859-15\n", "iso-8859-15"),
    ("a.py", b"# coding: cp1252\r\n", "cp1252"),
    ("a.py", codecs.BOM_UTF8, "utf-8"),
]
letters = st.text(st.characters(codec="latin-1", exclude_categories=("Cc",)), max_size=8)
lines = st.lists(st.tuples(letters, st.sampled_from(["\n", "\r\n", "\r"])), max_size=6)


@pytest.mark.parametrize(("path", "head", "encoding"), ENCODINGS)
@given(before=lines, after=lines, last=letters)
def test_bytes_outside_of_an_edit_are_kept(
    path: str,
    head: bytes,
    encoding: str,
    before: list[tuple[str, str]],
    after: list[tuple[str, str]],
    last: str,
) -> None:
    first, second = ("".join(text + end for text, end in each) for each in (before, after))
    try:
        parts = [f"{first}<".encode(encoding), "OLD".encode(encoding), f">{second}{last}".encode(encoding)]
    except UnicodeEncodeError:
        assume(False)
    assume("coding" not in first + second + last)
    data = head + b"".join(parts)
    source = editable(data, path)
    edited = source.encode(source.text.replace("<OLD>", "<NEW>"))
    assert edited == head + parts[0] + "NEW".encode(encoding) + parts[2]


@given(st.binary(max_size=60))
def test_what_can_be_edited_is_written_back_as_it_was(data: bytes) -> None:
    for path in ("a.txt", "a.py"):
        try:
            source = editable(data, path)
        except ToolError:
            continue
        assert source.encode(source.text) == data
        assert "".join(source.lines) == source.text


def test_text_that_is_not_utf8_is_latin_1_and_other_bytes_are_binary() -> None:
    assert decode("café\n".encode("latin-1"), "a.txt").text == "café\n"
    for data in (b"\x00\x01", b"\x89PNG\r\n\x1a\n\x00", b"\xff\x01\x02"):
        with pytest.raises(ToolError, match="binary"):
            decode(data, "a.txt")
    with pytest.raises(ToolError, match="not utf-8 text"):
        decode("x = 'é'\n".encode("latin-1"), "a.py")


def test_an_encoding_that_would_change_other_bytes_is_not_edited() -> None:
    data = b"# coding: utf-7\nx = '+AGEAYg-'\n"
    assert "'ab'" in decode(data, "a.py").text
    with pytest.raises(ToolError, match="more than one way"):
        editable(data, "a.py")


@pytest.mark.parametrize("coding", ["undefined", "no-such-thing", "idna", "base64"])
def test_a_coding_cookie_that_names_no_usable_encoding_is_an_error_of_the_file(coding: str) -> None:
    with pytest.raises(ToolError, match=r"a\.py is not"):
        decode(f"# coding: {coding}\nx = '\xff..'\n".encode("latin-1"), "a.py")
