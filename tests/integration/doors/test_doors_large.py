"""A workspace of a hundred thousand files: found, listed and read in no time that anybody would notice."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .door import Door
from .house import House
from .stub import Stub, call, complete, done, plan

FOLDERS, EACH = 100, 1000
SOON_S = 30.0  # it takes less than one; the machine may be busy
READING = "---\ntask_type: reading\ndescription: d\n---\n1. CALL file.read\n2. DONE\n"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Links to a file in each folder: making them takes half as long as files."""
    root = tmp_path_factory.mktemp("large")
    for folder in (root / f"pkg{number:03}" for number in range(FOLDERS)):
        folder.mkdir()
        first = folder / "mod0000.py"
        first.write_text("x = 1\n")
        for number in range(1, EACH):
            os.link(first, f"{folder}/mod{number:04}.py")
    return root


@pytest.fixture(autouse=True)
def settled(house: House, large: Path) -> None:
    house.configure(workspace=str(large))
    own = house.home / "prompts/patterns/reading.md"
    own.parent.mkdir(parents=True)
    own.write_text(READING)


def test_small_talk_among_many_files_takes_no_time(door: Door, model: Stub) -> None:
    model.answers = [complete()]
    with soon():
        assert door.ask().response == "Hello!"


def test_a_list_of_many_files_is_cut_and_says_so(door: Door, house: House, model: Stub) -> None:
    model.answers = [plan(), call("file.list"), done(), "Many."]
    with soon():
        assert door.ask("Which files are here?").response == "Many."
    result = (house.home / "turns/work/0001/results/01-file.list.json").read_text()
    assert "and at least 4800 more; name a glob" in result
    assert len(str(model.asked[2])) < 50_000


def test_a_file_that_the_request_names_is_found_among_many(door: Door, model: Stub) -> None:
    model.answers = [plan("reading"), "It sets x."]
    with soon():
        assert door.ask("Explain pkg099/mod0500.py").response == "It sets x."
    assert "pkg099/mod0500.py\\n1| x = 1" in str(model.asked[1]["messages"])


@contextmanager
def soon() -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < SOON_S
