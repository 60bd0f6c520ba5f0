"""kill -9 at every event of a turn: it ends with the same context.md and the same files as an undisturbed one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import journey
import pytest

APPENDS = 91  # that an undisturbed journey makes: see the first test
PART = 42
ONCE = ("pay", "tap")


def carried_out(home: Path, plans: list[list[tuple[int, str]]]) -> list[dict[str, Any]]:
    """In one warmed-up process that forks for each journey."""
    program = [sys.executable, journey.__file__, str(home), json.dumps(plans)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return carried_out(tmp_path_factory.mktemp("undisturbed"), [[]])[0]


def test_the_journey_has_everything_that_can_go_wrong(undisturbed: dict[str, Any]) -> None:
    assert undisturbed["appends"] == APPENDS
    assert undisturbed["statuses"] == [journey.WAITING, journey.WAITING, 0]
    assert undisturbed["world"] == ["look road", "note a road", "pay two coins", "tap the door"]
    assert [line.split()[0] for line in undisturbed["trip"]] == ["look", "tap", "note"]
    assert [question.split()[0] for question in undisturbed["asked"]] == ["Which", "Run"]
    assert undisturbed["replay"] == [0, True, 1, True]
    context = undisturbed["context"]
    assert "## §2 Reflection" in context and "\n\nI went, and returned.\n\n- note.txt was written\n\n## §6" in context
    assert context.endswith("Attempt 2: APPROVE (by code)\n")


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("first", range(1, APPENDS + 1, PART))
@pytest.mark.parametrize("share", [0, *(pytest.param(each, marks=pytest.mark.slow) for each in (1, 2))])  # 25 s each
def test_a_turn_that_is_killed_at_any_event_ends_as_an_undisturbed_one(
    tmp_path: Path, undisturbed: dict[str, Any], share: int, first: int, moment: str
) -> None:
    events = range(first, min(first + PART, APPENDS + 1))
    plans = [[(number, moment)] for number in events if (number + (moment == "after")) % 3 == share]
    for killed in carried_out(tmp_path, plans):
        at = killed["kills"]
        assert killed["statuses"].count(-signal.SIGKILL) == 1, at
        for name in ("status", "context", "files", "replay"):
            assert killed[name] == undisturbed[name], (at, name)
        assert killed["gapless"]
        for place in ("world", "trip"):
            assert set(killed[place]) == set(undisturbed[place]), at
            happened = Counter(line for line in killed[place] if line.startswith(ONCE))
            assert set(happened.values()) == {1}, at
        doubted = "pay two coins" in killed["world"] and len(killed["asked"]) > 2
        assert killed["asked"][:2] == undisturbed["asked"] and (doubted or len(killed["asked"]) == 2)
        assert all("world.pay" in question for question in killed["asked"][2:]), at  # the door tells by itself
