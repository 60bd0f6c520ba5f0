"""What an iteration's changes are compared with."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.loop.workspace.before import Before
from gateway.loop.workspace.snapshot import Damage
from gateway.loop.workspace.survey import survey


def test_how_a_workspace_was_is_read_as_it_was_written_and_only_the_last_time_is_kept(tmp_path: Path) -> None:
    (root := tmp_path / "work").mkdir()
    path = tmp_path / "home" / "before.json"
    (root / "a").write_text("one")
    first = Before(survey(root), {"a": "0" * 64})
    old = first.write(path)
    assert Before.read(path, old) == first
    (root / "a").write_text("two")
    second = Before(survey(root), {})
    assert Before.read(path, second.write(path)) == second
    assert [each.name for each in path.parent.iterdir()] == ["before.json"]
    with pytest.raises(Damage, match="is not what was written"):
        Before.read(path, old)


def test_one_that_is_gone_is_damage(tmp_path: Path) -> None:
    with pytest.raises(Damage, match="cannot be read"):
        Before.read(tmp_path / "before.json", "0" * 64)
