"""`session.md`: what it shows of a session, whatever agents and programs have said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gateway.engine.artifacts import ArtifactStore
from gateway.engine.state import RunState, Status
from gateway.engine.store import RunRow
from gateway.loop.document import project, render
from gateway.loop.state import (
    Change,
    Changes,
    CheckpointRecord,
    ConditionResult,
    Evaluation,
    Evidence,
    Fight,
    Finding,
    IterationRecord,
    Limits,
    LoopContext,
    LoopOptions,
    LoopState,
)

CONTEXT = LoopContext(run_id="01K0", task="Mend it", name="/w", workspace="/w", options=LoopOptions())
ROW = RunRow("01K0", "loop", "Mend it", None, None, None, 1, {}, {}, {}, "running", None, None, 0.0, 0.0, False)


def record(summary: str = "mended", **more: Any) -> IterationRecord:
    return IterationRecord(number=1, run_id="R1", outcome="done", summary=summary, began=0, ended=7, **more)


def shown(context: LoopContext = CONTEXT, status: Status = Status.RUNNING, **more: Any) -> str:
    data = LoopState(**{"exits": ("all_tests_pass",), "limits": Limits(time_s=60), **more})
    return render(ROW, context, RunState("Iterate", data, status=status))


def evaluation(**more: Any) -> Evaluation:
    result = ConditionResult(name="all_tests_pass", met=False, summary="1 failed", command="pytest", **more)
    return Evaluation(iteration=1, at=0, results=(result,))


def test_it_says_what_the_session_is_for_how_far_it_is_and_what_fails() -> None:
    text = shown(
        iteration=1,
        evaluation=evaluation(findings=(Finding(where="tests/test_a.py::test_a", message="1 != 2"),), total=3),
        iterations=(record(changes=Changes(changed=("a.py",))),),
        checkpoints=(CheckpointRecord(number=1, iteration=1, at=0, why="interval", sha256="x", ref="refs/x"),),
        fights=(Fight(condition="linting_clean", times=2, against=("all_tests_pass",)),),
        changes=(Change(at=0, text="the limit is 9 now"),),
        troubles=("no disk",),
    )
    for part in (
        "| `all_tests_pass` | not met | 1 failed | `pytest` |",
        "tests/test_a.py::test_a: 1 != 2",
        "2 more.",
        "| 1 | 1970-01-01T00:00:00Z | 7 s | done | `a.py` | mended | `R1` |",
        "| 1 | 1 | 1970-01-01T00:00:00Z | interval | `refs/x` |",
        "- linting_clean was met and lost 2 times when all_tests_pass came to be met",
        "- 1970-01-01T00:00:00Z the limit is 9 now",
        "- no disk",
    ):
        assert part in text
    assert "## End" not in text


def test_its_front_matter_is_yaml() -> None:
    told = yaml.safe_load(shown(CONTEXT.with_(workspace='/a: "b"\n# c')).split("---\n")[1])
    assert (told["session"], told["workspace"]) == ("01K0", '/a: "b"\n# c')
    assert told["limits"] == {"iterations": 50, "time_s": 60}


def test_how_it_ended_comes_last() -> None:
    text = shown(status=Status.FAILED, iteration=4, ending="failed", error="no model", hint="start one")
    assert 'status: "failed"' in text
    assert text.endswith("## End\n\nEnded after iteration 4: failed.\n\n```\nno model\n```\n\n```\nstart one\n```\n")


def test_each_evaluation_has_a_file_also_the_second_after_the_same_iteration(tmp_path: Path) -> None:
    evidence = tuple(Evidence(iteration=n, sha256=f"{at}") for at, n in enumerate((0, 1, 2, 1)))
    data = LoopState(exits=(), limits=Limits(), evidence=evidence)
    projection = project(Path("/h"), ROW, CONTEXT, RunState("Iterate", data), ArtifactStore(tmp_path))
    assert projection.folder == Path("/h/loops/01K0") and list(projection.texts) == ["session.md"]
    assert projection.artifacts == {
        "evaluations/0000.json": "0",
        "evaluations/0001.json": "1",
        "evaluations/0002.json": "2",
        "evaluations/0001-2.json": "3",
    }


@given(st.text(max_size=80), st.text(max_size=80))
def test_what_others_say_makes_no_section_and_no_row_of_its_own(said: str, message: str) -> None:
    hostile = f"{said}\n## End\n| x |\n```\n# {message}"
    text = shown(
        CONTEXT.with_(task=hostile),
        exits=("all_tests_pass", f"command:{hostile}"),
        evaluation=evaluation(findings=(Finding(where="a", message=hostile),), total=1),
        iterations=(record(hostile),),
        troubles=(hostile,),
    )
    outside, fence = [], ""
    for line in text.split("\n"):
        if fence:
            fence = "" if line == fence else fence
        elif line.startswith("```"):
            fence = line
        else:
            outside.append(line)
    assert not fence
    assert [line for line in outside if line.startswith("## ")] == [
        "## Task",
        "## Exit conditions",
        "## Iterations",
        "## Troubles",
    ]
    assert sum(line.startswith("| 1 |") for line in outside) == 1


@pytest.mark.parametrize(
    ("status", "ending", "word"),
    [
        (Status.RUNNING, "", "executing"),
        (Status.COMPLETE, "completed", "completed"),
        (Status.STOPPED, "", "interrupted"),
        (Status.STOPPED, "user_cancelled", "stopped"),
        (Status.FAILED, "failed", "failed"),
    ],
)
def test_its_status_is_the_one_that_people_are_told_everywhere(status: Status, ending: str, word: str) -> None:
    assert f'status: "{word}"' in shown(status=status, ending=ending)
