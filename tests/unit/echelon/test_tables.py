"""Tables on a terminal that is too narrow for them."""

from __future__ import annotations

from io import StringIO
from typing import Any

import click
import pytest

from echelon.terminal import LAST, put_table

TITLE = "Remember that the heron is grey, and that it stands in the reeds"
ROW = ["01M81AK4S6PZSR5TWMBHE3HQZ5", "turn", "2026-01-01 09:00", "failed", "error:model_unavailable", TITLE]
HEADERS = ["id", "graph", "updated", "status", "why", "title"]


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, width: int, *table: Any) -> list[str]:
    """Its lines, on a terminal."""
    terminal = Terminal()
    with monkeypatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        patch.setattr("sys.stdout", terminal)
        put_table(*table)
    return click.unstyle(terminal.getvalue()).splitlines()


@pytest.mark.parametrize(
    ("width", "left"),
    [
        (200, HEADERS),
        (105, ["id", "updated", "status", "why", "title"]),
        (90, ["id", "updated", "status", "title"]),
        (62, ["id", "status", "title"]),
    ],
)
def test_columns_that_can_be_spared_make_room_for_the_last(
    monkeypatch: pytest.MonkeyPatch, width: int, left: list[str]
) -> None:
    head, first, *_ = shown(monkeypatch, width, HEADERS, [ROW], ("graph", "why", "updated"))
    assert head.split() == left
    assert first.startswith(ROW[0]) and "…" not in first
    assert len(first) <= width and width - head.index("title") >= LAST


def test_the_last_column_has_its_room_where_others_have_to_be_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    head, first, *_ = shown(monkeypatch, 60, ["key", "text"], [["k" * 100, TITLE]])
    assert 60 - head.index("text") >= LAST and "…" in first


def test_elsewhere_nothing_is_left_out(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    put_table(HEADERS, [ROW], spare=("graph", "why", "updated"))
    told = capsys.readouterr().out
    assert all(cell in told for cell in ROW)
