"""Texts of others on a terminal."""

from __future__ import annotations

import click
import pytest

from echelon.terminal import harmless, say


def test_nothing_moves_the_cursor_or_turns_a_line_around() -> None:
    assert harmless("a\x1b[2Jb\x07\x9b1mc\rd\u202ee\u2066f\tg\nh") == "a[2Jb1mcdef\tg\nh"
    assert harmless("שלום — 你好 👩\u200d💻") == "שלום — 你好 👩\u200d💻"


def test_what_is_said_is_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    say("\x1b]0;title\x07Pay?")
    assert click.unstyle(capsys.readouterr().err) == "]0;titlePay?\n"
