"""A house for each test, and each of its doors in turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.llm import client

from .door import DOORS, Door
from .house import House
from .stub import Stub


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    monkeypatch.setattr(client, "FIRST_DELAY_S", 0.01)  # instead of half a second, before a call is tried again
    stub = Stub()
    yield stub
    stub.close()


@pytest.fixture
def house(echelon_home: Path, tmp_path: Path, model: Stub) -> Iterator[House]:
    house = House(tmp_path, echelon_home, model)
    yield house
    house.cli.close()


@pytest.fixture(params=list(DOORS))
def door(request: pytest.FixtureRequest, house: House) -> Iterator[Door]:
    opened = DOORS[request.param](house)
    yield opened
    opened.close()
