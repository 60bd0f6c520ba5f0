"""What real devices printed: recordings that lie beside the project, or nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "samples" / "android"


def recorded(name: str) -> bytes:
    """A recording's bytes. The test is skipped where there are no recordings."""
    if not FOLDER.is_dir():
        pytest.skip("there are no recordings here")
    return (FOLDER / name).read_bytes()


def recorded_text(name: str) -> str:
    """As the bridge gives it to parsers: decoded, with line feeds only."""
    return recorded(name).decode("utf-8-sig", "replace").replace("\r\n", "\n")


def all_recorded(*patterns: str) -> list[str]:
    """The names that match, for tests that look at every one of a kind."""
    return sorted(path.name for pattern in patterns for path in FOLDER.glob(pattern))
