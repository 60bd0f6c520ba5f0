from __future__ import annotations

import difflib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.tools.code.source_text import SourceText, decode
from gateway.tools.code.unified_diff import NotApplied, applied

TEXT = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
FIX = """\
--- a/n.txt
+++ b/n.txt
@@ -2,3 +2,4 @@
 two
-three
+THREE
+and a half
 four
"""
line = st.sampled_from(["a", "b", "", "-- x", "++ y", " z", "@ q"])


def apply(text: str, diff: str) -> str:
    return applied(decode(text.encode(), "n.txt"), diff, "n.txt")


def test_a_diff_changes_its_lines_and_no_others() -> None:
    assert apply(TEXT, FIX) == TEXT.replace("three", "THREE\nand a half")


@pytest.mark.parametrize("header", ["@@ -40,3 +41,9 @@ def f():", "@@ -1 +1 @@", "@@", "@@ ... @@"])
def test_wrong_line_numbers_do_not_matter(header: str) -> None:
    assert apply(TEXT, re.sub("@@.*@@", header, FIX)) == apply(TEXT, FIX)


def test_a_fence_around_the_diff_and_missing_headers_do_not_matter() -> None:
    assert apply(TEXT, f"```diff\n{FIX}```\n") == apply(TEXT, FIX[FIX.index("@@") :]) == apply(TEXT, FIX)


@given(st.lists(line, max_size=12), st.lists(line, max_size=12), st.booleans(), st.integers(0, 3))
def test_what_difflib_makes_gives_the_new_text(old: list[str], new: list[str], ended: bool, context: int) -> None:
    before, after = ("".join(f"{each}\n" for each in text) for text in (old, new))
    if not ended:
        before, after = before.removesuffix("\n"), after.removesuffix("\n")
    a, b = (text.splitlines(keepends=True) for text in (before, after))
    made = difflib.unified_diff(a, b, "a/n.txt", "b/n.txt", n=context)
    diff = [each if each.endswith("\n") else f"{each}\n\\ No newline at end of file\n" for each in made]
    if not diff:
        return
    try:
        assert apply(before, "".join(diff)) == after
    except NotApplied as reason:  # without context, a place cannot be told
        assert "has no line that stands in the file" in str(reason)


@pytest.mark.parametrize(
    ("diff", "said"),
    [
        (FIX.replace(" four", " fore"), "hunk 1 do not stand together in the file. The nearest lines are:\n4| four"),
        (FIX.replace("n.txt", "other.txt"), "is of a/other.txt, not of n.txt"),
        (FIX + "--- a/m.txt\n+++ b/m.txt\n@@ -1 +1 @@\n-x\n+y\n", "more than one file"),
        (FIX.replace("--- a/n.txt", "--- /dev/null"), "Use file.write"),
        (FIX.replace("-three", "three"), "begins with none of space"),
        ("@@ -1 +1 @@\n one\n", "neither adds nor removes"),
        ("just text", "has no hunk"),
        ("@@ -3,0 +3 @@\n+new\n", "Begin it with the line before"),
        (FIX + "@@ -7 +8 @@\n-eight\n+8\n", "hunk 2 do not stand"),
    ],
)
def test_what_does_not_fit_is_refused_whole_with_what_to_do(diff: str, said: str) -> None:
    with pytest.raises(NotApplied, match=re.escape(said)):
        apply(TEXT, diff)


def test_lines_that_stand_there_twice_need_the_right_number() -> None:
    text = "x\ny\nx\ny\n"
    assert apply(text, "@@ -3,2 +3,2 @@\n-x\n+z\n y\n") == "x\ny\nz\ny\n"
    with pytest.raises(NotApplied, match="stand there 2 times"):
        apply(text, "@@ -2,2 +2,2 @@\n-x\n+z\n y\n")


def test_line_endings_are_those_of_the_file() -> None:
    file = SourceText("one\r\ntwo\r\nthree", newline="\r\n")
    assert applied(file, "@@ -2 +2,2 @@\n two\n-three\n+3\n+4\n", "n.txt") == "one\r\ntwo\r\n3\r\n4"
    assert applied(file, "@@ -3 +3,2 @@\n three\n+4\n", "n.txt") == "one\r\ntwo\r\nthree\r\n4"
