"""A fresh workbench for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from workbench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    opened = Bench(tmp_path)
    yield opened
    opened.close()
