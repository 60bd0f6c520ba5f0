"""Skills in folders, as people and other agents leave them there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Make = Callable[..., Path]


@pytest.fixture
def make() -> Make:
    """`make(folder, name, description)`: a valid skill; `files` beside its SKILL.md, by path."""

    def made(root: Path, name: str, description: str = "Does things.", files: dict[str, str] | None = None) -> Path:
        folder = root / name
        texts = {"SKILL.md": f"---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n", **(files or {})}
        for file, text in texts.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text)
        return folder

    return made
