"""kill -9 at every touch of a session: it ends as it would have, and no iteration that has ended is done again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import killed_session
import pytest

PARTS = 16  # of all the touches, in the tests that take every one
SOME = 5  # of them, in the test that is always run
SAME = (
    "status",
    "said",
    "iterations",
    "checkpoints",
    "kept",
    "refs",
    "git",
    "met",
    "late",
    "replay",
    "gapless",
    "left",
)


def carried_out(home: Path, plans: list[list[tuple[int, str]]]) -> list[dict[str, Any]]:
    """In one warmed-up process that forks for each session."""
    program = [sys.executable, killed_session.__file__, str(home), json.dumps(plans)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60 + 60 * len(plans))
    assert done.returncode == 0 and not done.stderr, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return carried_out(tmp_path_factory.mktemp("undisturbed"), [[]])[0]


def check(killed: dict[str, Any], undisturbed: dict[str, Any]) -> None:
    """`killed` ended as the undisturbed session did, its iterations one after the other."""
    at = killed["kills"]
    kills = killed["statuses"].count(-signal.SIGKILL)
    assert killed["statuses"] == [*[-signal.SIGKILL] * kills, 0], at
    # a touch that another one overlaps, of a thread or of a program that is just started, has no moment after it
    assert kills == len(at) or (kills == 0 and len(at) == 1 and at[0][1] == "after"), at
    for name in SAME:
        assert killed[name] == undisturbed[name], (at, name)
    assert killed["done"] == sorted(killed["done"]) and set(killed["done"]) == set(undisturbed["done"]), at
    assert len(killed["done"]) <= len(undisturbed["done"]) + len(at), at  # the one that was cut off, again
    for iteration, times in killed["begun"].items():
        assert killed["done"].count(iteration) <= times, at


def test_the_session_has_iterations_evaluations_and_checkpoints(undisturbed: dict[str, Any]) -> None:
    assert undisturbed["appends"] > 100  # touches
    assert (undisturbed["status"], undisturbed["statuses"], undisturbed["said"]) == ("completed", [0], [""])
    assert undisturbed["iterations"] == [[number, "done", ["done"]] for number in (1, 2, 3)]
    assert undisturbed["checkpoints"] == [[1, 2, "interval", True], [2, 3, "end", True]]
    assert undisturbed["kept"] == {"1": 2, "2": 3} and undisturbed["refs"]
    assert (undisturbed["git"], undisturbed["left"]) == (["?? done"], [])
    assert undisturbed["done"] == ["1", "2", "3"] and undisturbed["late"] == 0
    assert undisturbed["replay"] == [0, True, 3] and undisturbed["gapless"]


def test_a_session_that_is_killed_ends_as_an_undisturbed_one(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    """From its begin to the moment between its last event and the document that shows it."""
    touches = undisturbed["appends"]
    moments = [touches - touches * each // SOME for each in range(SOME)]
    plans = [[(number, ("before", "after")[each % 2])] for each, number in enumerate(moments)]
    for killed in carried_out(tmp_path, plans):
        check(killed, undisturbed)


def test_a_session_that_is_killed_again_and_again_does_too(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    touches = undisturbed["appends"]
    plan = [(touches * each // 6, "before") for each in range(1, 6)]
    check(carried_out(tmp_path, [plan])[0], undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("part", range(1, PARTS + 1))
def test_a_session_that_is_killed_at_any_touch_ends_as_an_undisturbed_one(
    tmp_path: Path, undisturbed: dict[str, Any], part: int, moment: str
) -> None:
    for killed in carried_out(tmp_path, [[(each, moment)] for each in range(part, undisturbed["appends"] + 1, PARTS)]):
        check(killed, undisturbed)
