from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import ToolError
from gateway.tools.code.command_line import words


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=10), min_size=1, max_size=5))
def test_what_is_quoted_comes_through_as_it_was(arguments: list[str]) -> None:
    arguments = ["program", *arguments]
    assert words(shlex.join(arguments)) == arguments


@pytest.mark.parametrize(
    "command",
    [
        "ls | wc",
        "ls > out",
        "cat < in",
        "a; b",
        "a && b",
        "a &",
        "a || b",
        "echo $(id)",
        'echo "$(id)"',
        "echo `id`",
        'echo "`id`"',
        "echo $HOME",
        'echo "${HOME}"',
        "rm *.py",
        "ls a?",
        "ls [ab]",
        "ls ~/x",
        "a\nb",
        "(a)",
        "A=1 b",
        "cd sub",
        "ls # x",
        "echo 'open",
        "",
        "   ",
        "''",
        "a\0b",
    ],
)
def test_what_only_a_shell_could_do_is_refused_with_what_to_do(command: str) -> None:
    with pytest.raises(ToolError) as refused:
        words(command)
    assert refused.value.hint or "NUL" in str(refused.value)


@given(st.text("ab \\'\"$`\n", max_size=12))
def test_words_are_split_as_a_shell_splits_them(text: str) -> None:
    command = f"printf '%s.' {text} z"
    try:
        found = words(command)
    except ToolError:
        return
    shell = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    assert shell.stdout == "".join(f"{each}." for each in found[2:])


@pytest.mark.parametrize(
    ("command", "argument"),
    [
        (r'echo "\$HOME"', "$HOME"),
        (r'echo "\`id\`"', "`id`"),
        (r'echo "\\\$x \n"', r"\$x \n"),
        (r"echo '\$HOME'", r"\$HOME"),
        (r"echo \$HOME", "$HOME"),
        ('echo "a\\\nb"', "ab"),
        ("echo a\\\nb", "ab"),
        ("echo a\\ ", "a "),
    ],
)
def test_a_backslash_is_what_it_is_to_a_shell(command: str, argument: str) -> None:
    assert words(command) == ["echo", argument]
