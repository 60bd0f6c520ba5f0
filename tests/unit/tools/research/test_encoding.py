from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.tools.research.encoding import decode

RUSSIAN = "Этот довольно длинный текст написан по-русски, чтобы его можно было узнать по буквам и словам."


@given(st.binary(max_size=200), st.text(max_size=20))
def test_any_bytes_give_a_text_that_can_be_stored(data: bytes, charset: str) -> None:
    text = decode(data, charset)
    assert "\0" not in text
    text.encode()


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff")))
def test_utf_8_is_read_as_it_is_whatever_the_header_says(text: str) -> None:
    for charset in ("", "utf-8", "iso-8859-1", "windows-1251", "shift_jis", "nonsense"):
        assert decode(text.encode(), charset) == text


@pytest.mark.parametrize(
    ("text", "encoding", "charset"),
    [
        ("“Grüße” – €", "cp1252", "iso-8859-1"),  # as the HTML standard reads that name
        ("日本語の文章です", "shift_jis", "Shift_JIS"),
        ("日本語の文章です", "iso2022_jp", "iso-2022-jp"),
        ("简体中文的文章", "gb18030", "gb2312"),
        ("Words", "utf-16", ""),
        ("Words", "utf-16-le", "utf-16le"),
        (RUSSIAN, "koi8_r", "koi8-r"),
        (RUSSIAN, "cp1251", "utf-8"),  # it is not
        (RUSSIAN, "cp1251", "base64"),
    ],
)
def test_the_words_are_found(text: str, encoding: str, charset: str) -> None:
    assert decode(text.encode(encoding), charset) == text


@pytest.mark.parametrize(
    "said",
    ['<meta charset="windows-1251">', "<META http-equiv=Content-Type content='text/html; charset=windows-1251'>"],
)
def test_a_page_may_name_its_encoding_itself(said: str) -> None:
    assert decode(f"<html>{said}Да".encode("cp1251")) == f"<html>{said}Да"
