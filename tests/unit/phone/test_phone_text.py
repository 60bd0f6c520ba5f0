"""What is typed is what stands in the field, letter for letter, and what does not is said."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.phone.field import Field, focused, matches
from gateway.phone.hierarchy import parse
from gateway.phone.text_input import PIECE, commands, typable

PRINTABLE = st.text(st.characters(min_codepoint=32, max_codepoint=126) | st.just("\n"), max_size=600)
NODE = '<node class="{}" text="{}" hint="{}" password="{}" focused="{}" bounds="[0,0][100,100]" />'


def typed_by_android(lines: list[str]) -> str:
    """What `input` makes of these lines, as its source does it: of `%s` a space, and then key by key."""
    said = ""
    for line in lines:
        name, kind, *rest = shlex.split(line)
        assert name == "input"
        if kind == "keyevent":
            said += {"66": "\n"}[rest[0]]
            continue
        (text,) = rest
        letters = list(text)
        at, escaped = 0, False
        while at < len(letters):
            if escaped and letters[at] == "s":
                letters[at - 1 : at + 1] = [" "]
                at -= 1
            escaped = letters[at] == "%"
            at += 1
        said += "".join(letters)
    return said


@given(PRINTABLE)
def test_ascii_is_typed_letter_for_letter(text: str) -> None:
    assert typed_by_android(list(commands(text))) == text


@pytest.mark.parametrize(
    "text",
    [
        "100%sure",
        "%s",
        "%%s%",
        "50% s",
        'it\'s "quoted" \\ back',
        "$HOME `id` $(id) ; & | > < * ? [a] {b} ~ # !",
        "-n --help",
        "a\nb\n\nc",
        " ",
    ],
)
def test_letters_that_mean_something_to_shells_are_typed(text: str) -> None:
    assert typed_by_android(list(commands(text))) == text


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=80))
def test_a_shell_gives_input_one_word(text: str) -> None:
    for line in commands(text):
        words = shlex.split(line)
        assert len(words) == 3


def test_a_real_shell_reads_the_same() -> None:
    text = 'it\'s 100%s of $HOME & `id` \\ "x" (y) #z'
    for line in commands(text):
        printed = line.replace("input text ", "printf %s ", 1)
        said = subprocess.run(["/bin/sh", "-c", printed], capture_output=True, text=True, check=True).stdout
        assert said == shlex.split(line)[2]


@given(PRINTABLE)
def test_pieces_are_short_enough_for_a_shell(text: str) -> None:
    assert all(len(line) <= 5 * PIECE for line in commands(text))


@pytest.mark.parametrize(("text", "can"), [("Hello, 50%!", True), ("a\nb", True), ("Grüße", False), ("苍鹭", False)])
def test_what_has_no_key_is_not_given_to_input(text: str, can: bool) -> None:
    assert typable(text) is can
    assert not typable("tab\t")


@given(st.text(max_size=40), st.text(min_size=1, max_size=20).filter(str.strip), st.data())
def test_text_that_was_inserted_is_found(before: str, typed: str, data: st.DataObject) -> None:
    before, typed = " ".join(before.split()), " ".join(typed.split())
    at = data.draw(st.integers(0, len(before)))
    after = before[:at] + typed + before[at:]
    assert matches(Field(before), Field(after), typed)


@pytest.mark.parametrize(
    ("before", "after", "typed"),
    [("", "", "hello"), ("hello", "hello", "hello"), ("", "hell", "hello"), ("", "Hello", "hello"), ("ab", "ba", "a")],
)
def test_text_that_is_missing_or_different_is_no_match(before: str, after: str, typed: str) -> None:
    assert matches(Field(before), Field(after), typed) is False


def test_what_cannot_be_read_is_not_judged() -> None:
    assert matches(Field("", True), Field("•••••", True), "hello") is None
    assert matches(Field("", hint="Name"), Field("", hint="Name"), "Name") is None
    assert matches(Field("", hint="Name"), Field("", hint="Name"), "Ada") is False
    assert matches(None, None, "hello") is None


def test_white_space_may_be_shown_in_another_way() -> None:
    assert matches(None, Field("two\u00a0words\r\nhere"), "two words\nhere")


def test_the_focused_field_is_found_with_what_stands_in_it() -> None:
    def field(*nodes: str) -> Field | None:
        return focused(parse(f"<hierarchy rotation='0'>{''.join(nodes)}</hierarchy>"))

    edit = "android.widget.EditText"
    assert field(NODE.format(edit, "no", "", "false", "false"), NODE.format(edit, "yes", "", "false", "true")) == Field(
        "yes"
    )
    assert field(NODE.format(edit, "Search", "Search", "false", "true")) == Field("", hint="Search")
    assert field(NODE.format(edit, "••••", "PIN", "true", "true")) == Field("••••", True, "PIN")
    assert field(NODE.format("android.view.View", "canvas", "", "false", "true")) == Field("canvas")
    both = NODE.format("android.view.View", "list", "", "false", "true"), NODE.format(edit, "in", "", "false", "true")
    assert field(*both) == field(*reversed(both)) == Field("in")
    assert field(NODE.format(edit, "no", "", "false", "false")) is None
