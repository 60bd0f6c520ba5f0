from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.lab import Lab, Step


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Callable[..., Lab]]:
    """Makes a Lab of these nodes; closed afterwards."""
    made: list[Lab] = []

    def make(*nodes: Step, **faces: Any) -> Lab:
        made.append(Lab(tmp_path / str(len(made)), *nodes, **faces))
        return made[-1]

    yield make
    for each in made:
        each.close()
