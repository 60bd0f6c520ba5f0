"""Where prompts and recipes are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway import resources
from gateway.errors import ConfigError


def write(folder: Path, relative: str, text: str) -> Path:
    path = folder / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_first_folder_that_has_the_file_wins(tmp_path: Path) -> None:
    write(tmp_path / "b", "planner/planner.md", "b")
    found = resources.find("prompts", "planner/planner.md", [tmp_path / "a", tmp_path / "b"])
    assert (found.read(), found.origin) == ("b", "user")
    assert resources.find("prompts", "planner/planner.md", [tmp_path / "a"]).origin == "shipped"


def test_a_missing_file_says_where_was_looked(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"prompts/no\.md") as caught:
        resources.find("prompts", "no.md", [tmp_path])
    assert str(tmp_path) in caught.value.hint


@pytest.mark.parametrize("relative", ["../secret.md", "/etc/hostname", "a/../../b.md"])
def test_nothing_outside_the_folder_is_found(relative: str) -> None:
    with pytest.raises(ConfigError, match="leaves"):
        resources.find("prompts", relative)


def test_a_listing_has_every_file_once_with_its_origin(tmp_path: Path) -> None:
    write(tmp_path, "patterns/mine.md", "")
    write(tmp_path, "planner/planner.md", "")
    mine = [(each.relative, each.origin) for each in resources.listing("prompts", "patterns/*.md", [tmp_path])]
    assert ("patterns/mine.md", "user") in mine and mine == sorted(mine)
    planners = resources.listing("prompts", "planner/planner.md", [tmp_path])
    assert [each.origin for each in planners] == ["user"]


def test_a_file_that_is_not_text_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "binary.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"binary\.md"):
        resources.find("prompts", "binary.md", [tmp_path]).read()
