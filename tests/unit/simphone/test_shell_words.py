from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simphone.shell.words import parse


def argv(line: str) -> list[list[str]]:
    steps = parse(line)
    assert steps is not None
    return [each.argv(0) for each in steps]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("input tap 1 2", [["input", "tap", "1", "2"]]),
        ("  input\ttap 1 2 ", [["input", "tap", "1", "2"]]),
        ("input text 'a b'\\''c'", [["input", "text", "a b'c"]]),
        ('input text "a \\"b\\" \\n"', [["input", "text", 'a "b" \\n']]),
        ("input text a\\ b", [["input", "text", "a b"]]),
        ("input text ''", [["input", "text", ""]]),
        ("input text héllo%s你好", [["input", "text", "héllo%s你好"]]),
        ("am start -n a.b/.C --es k=v x#y", [["am", "start", "-n", "a.b/.C", "--es", "k=v", "x#y"]]),
        ("wm size; wm density", [["wm", "size"], ["wm", "density"]]),
        ("wm size;", [["wm", "size"]]),
        ("'wm' size", [["wm", "size"]]),
        ("", []),
        ("  ", []),
    ],
)
def test_a_plain_line_is_understood(line: str, words: list[list[str]]) -> None:
    assert argv(line) == words


def test_the_exit_code_of_the_step_before_goes_into_words() -> None:
    steps = parse("input tap 1 2; echo X4EXIT:$? \"<$?>\" '$?'")
    assert steps is not None
    assert steps[1].argv(7) == ["echo", "X4EXIT:7", "<7>", "$?"]


def test_joints_are_kept() -> None:
    steps = parse("a && b || c; d")
    assert steps is not None
    assert [each.joint for each in steps] == ["", "&&", "||", ";"]


@pytest.mark.parametrize(
    "line",
    [
        "ls *",
        "a | b",
        "a > b",
        "a &",
        "a $b",
        'a "$b"',
        "a `b`",
        "a $(b)",
        "a 'b",
        'a "b',
        "a \\",
        "a\nb",
        "a # b",
        "a ~",
        "a {b,c}",
        "A=b c",
        "if a",
        "! a",
        "a ;; b",
        "; a",
        "a &&",
        "a && && b",
        "(a)",
        "a ?",
        "a [b]",
        "a \0b",
    ],
)
def test_what_takes_a_shell_is_left_to_a_shell(line: str) -> None:
    assert parse(line) is None


fragments = st.sampled_from(
    [
        "a",
        "b1",
        " ",
        "\t",
        "é",
        "#",
        "~",
        "=",
        "-",
        ":~",
        "!",
        "%s",
        ",",
        "$?",
        "\\ ",
        "\\$",
        "\\'",
        "''",
        "'a b'",
        "'\"\\'",
    ]
    + ['""', '"a  b"', '"\\""', '"\\n\\\\"', '"$?"', '"\'"']
)


@settings(max_examples=200)
@given(st.lists(fragments | st.text(alphabet="'\"\\$?#~= ", max_size=3), max_size=7).map("".join))
def test_a_line_means_what_it_means_to_a_shell(text: str) -> None:
    steps = parse(f"say {text}")
    if steps is None or len(steps) > 1:
        return
    said = subprocess.run(
        ["/bin/sh", "-c", f"say() {{ printf '%s\\0' \"$@\"; }}; say {text}"], capture_output=True, check=True
    ).stdout
    expected = [each.encode() for each in steps[0].argv(0)[1:]]
    assert said == b"".join(each + b"\0" for each in expected) or (not expected and said == b"\0")
