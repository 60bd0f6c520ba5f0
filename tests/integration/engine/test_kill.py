"""kill -9 at every event: the run ends as if nothing had happened, and nothing that happens once happened twice."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import errand
import pytest

APPENDS = 52  # that an undisturbed errand makes: see the first test
PART = 26


def carried_out(home: Path, plans: list[list[tuple[int, str]]]) -> list[dict[str, Any]]:
    """In one warmed-up process that forks for each errand."""
    program = [sys.executable, errand.__file__, str(home), json.dumps(plans)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert not done.stderr, done.stderr
    return results


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return _undisturbed(tmp_path_factory.mktemp("undisturbed"))


@cache
def _undisturbed(home: Path) -> dict[str, Any]:
    return carried_out(home / "runs", [[]])[0]


def test_the_errand_has_everything_that_can_go_wrong(undisturbed: dict[str, Any]) -> None:
    assert undisturbed["appends"] == APPENDS
    assert undisturbed["statuses"] == [errand.WAITING, errand.WAITING, 0]
    assert undisturbed["replay"] == [0, True, 1, True]
    happened = Counter(line.split()[0] for line in undisturbed["world"])
    assert happened == {"look": 6, "flaky": 2, "pay": 1, "send": 2, "note": 3, "tap": 3}


def check(killed: dict[str, Any], undisturbed: dict[str, Any]) -> None:
    """`killed` ended as the undisturbed errand did."""
    assert killed["statuses"].count(-signal.SIGKILL) == len(killed["kills"]), killed["kills"]
    for name in ("status", "data", "counters", "pages", "replay"):
        assert killed[name] == undisturbed[name], (killed["kills"], name)
    assert killed["gapless"]
    happened = Counter(line for line in killed["world"] if line.split()[0] in ("pay", "send", "tap"))
    assert set(happened.values()) == {1}, killed["kills"]
    assert set(killed["world"]) == set(undisturbed["world"])


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("first", range(1, APPENDS + 1, PART))
@pytest.mark.parametrize("share", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_run_that_is_killed_at_any_event_ends_as_an_undisturbed_one(
    tmp_path: Path, undisturbed: dict[str, Any], share: int, first: int, moment: str
) -> None:
    events = range(first, min(first + PART, APPENDS + 1))
    plans = [[(number, moment)] for number in events if (number + (moment == "after")) % 2 == share]
    for killed in carried_out(tmp_path, plans):
        check(killed, undisturbed)


@pytest.mark.parametrize("first", range(1, APPENDS, PART))
def test_a_run_that_is_killed_again_while_it_recovers_does_too(
    tmp_path: Path, undisturbed: dict[str, Any], first: int
) -> None:
    plans = [
        [(number, "after"), (number + 1 + number % 3, "after")]
        for number in range(first, min(first + PART, APPENDS - 3), 2)
    ]
    for killed in carried_out(tmp_path, plans):
        check(killed, undisturbed)
