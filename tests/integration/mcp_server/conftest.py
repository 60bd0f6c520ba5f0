"""A folder for `echelon mcp`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from served_tools import Served


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = Served(tmp_path)
    yield made
    made.close()
