from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.tools.code.python_source import NotReplaced, changed_by, definitions, replaced
from gateway.tools.code.source_text import SourceText, decode

_FUNCTION = st.builds(
    lambda decorated, body, doc: (
        ("@wraps\n" if decorated else "")
        + "def NAME(self, x=1):\n"
        + ('    """One.\n\n      Two.\n    """\n' if doc else "")
        + f"    return {body!r}\n"
    ),
    st.booleans(),
    st.one_of(st.integers(), st.text(max_size=10), st.binary(max_size=5)),
    st.booleans(),
)


def _file(functions: list[str], newline: str) -> str:
    inside = "class C:\n" + "\n".join(
        "".join("    " + line + "\n" if line else "\n" for line in each.replace("NAME", f"m{i}").split("\n"))
        for i, each in enumerate(functions)
    )
    outside = "\n\n".join(each.replace("NAME", f"f{i}") for i, each in enumerate(functions))
    return f"import os\n\n\n{outside}\n\n{inside}\nX = 1\n".replace("\n", newline)


@given(st.lists(_FUNCTION, min_size=1, max_size=3), st.sampled_from(["\n", "\r\n"]))
def test_replacing_a_definition_by_itself_changes_nothing(functions: list[str], newline: str) -> None:
    file = decode(_file(functions, newline).encode(), "a.py")
    for each in definitions(file.text):
        source = "".join(file.lines[each.first - 1 : each.last])
        assert replaced(file, each.name, source) == (file.text, [])


@given(st.lists(_FUNCTION, min_size=2, max_size=3))
def test_only_the_lines_of_the_definition_change(functions: list[str]) -> None:
    file = SourceText(_file(functions, "\n"))
    target = next(each for each in definitions(file.text) if each.name == "C.m0")
    text, _ = replaced(file, "C.m0", "def m0(self):\n    return 'new'\n")
    assert text.startswith("".join(file.lines[: target.first - 1]))
    assert text.endswith("".join(file.lines[target.last :]))
    assert [each.name for each in definitions(text)] == [each.name for each in definitions(file.text)]
    ast.parse(text)


def test_definitions_are_found_in_branches_and_nested_classes() -> None:
    text = (
        "if True:\n    def a(): ...\nelse:\n    def b(): ...\nclass C:\n    class D:\n        async def e(self): ...\n"
    )
    assert [each.name for each in definitions(text)] == ["a", "b", "C", "C.D", "C.D.e"]
    assert definitions("def broken(:") == []


def test_a_new_definition_that_differs_in_words_only_is_refused_and_a_docstring_is_kept() -> None:
    old = decode(b'def half(n):\n    """Half of n."""\n    return n // 2\n', "a.py")
    with pytest.raises(NotReplaced, match="does just what the old one does"):
        replaced(old, "half", "def half(n):\n    return (n // 2)")
    text, _ = replaced(old, "half", "def half(n):\n    return n / 2")
    assert text == 'def half(n):\n    """Half of n."""\n    return n / 2\n'


_BOOK = """def count(n):
    return n // 2


def other(n):
    return n


class Book:
    def page(self):
        return 1

    def last(self):
        return 2
"""
_COUNT = "def count(n):\n    return n // 2 + 1\n"
_OTHER = "def other(n):\n    return n\n"
_PAGE = "def page(self):\n    return 0\n"


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (_COUNT, "count"),
        (f"```python\n{_COUNT}```", "count"),
        (f"import math\n\n\n{_OTHER}\n\n{_COUNT}", "count"),  # what stands beside it is as it was
        (_OTHER, "other"),
        (_PAGE, "Book.page"),
        ("class Book:\n    def page(self):\n        return 0\n", "Book.page"),
        ("class Book:\n    def page(self):\n        return 0\n    def last(self):\n        return 9\n", "Book"),
        (f"{_COUNT}\n\ndef helper():\n    return 3\n", "count"),
    ],
)
def test_a_new_source_tells_which_definition_it_changes(source: str, name: str) -> None:
    assert changed_by(source, _BOOK) == name


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (f"{_COUNT}\n\n{_PAGE}", "changes count, Book.page: change one of them at a time"),
        ("def missing(): ...\n", "defines missing. Write one of the file's own definitions: count, other, Book"),
        ("x = 1\n", "defines nothing"),
        ("def count(n:\n", "not valid Python: line 1"),
    ],
)
def test_a_new_source_that_does_not_tell_what_it_changes_is_refused(source: str, words: str) -> None:
    with pytest.raises(NotReplaced, match=words.replace("(", r"\(")):
        changed_by(source, _BOOK)
