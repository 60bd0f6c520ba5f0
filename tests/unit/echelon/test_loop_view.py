"""What an operator sees of a session, at the widths that terminals have, and how its end is told."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from echelon.loop_ending import as_data, ended_line, exit_code, told, what_now
from echelon.loop_view import LoopView, limit_words
from echelon.loop_work import LoopProgress
from gateway.engine.state import Waiting
from gateway.loop.activity import Activity
from gateway.loop.report import ConditionProgress, LimitProgress, ProgressReport
from gateway.loop.state import CheckpointRecord, Fight, Finding, LimitName

ID = "01KA7QW2C3D4E5F6G7H8J9K0M1"
WIDTHS = pytest.mark.parametrize("width", [60, 80, 120])


def condition(name: str, met: bool | None, **more: Any) -> ConditionProgress:
    rest = {"evaluating": False, "summary": "", "problem": "", "findings": (), "total": 0}
    return ConditionProgress(name=name, met=met, **{**rest, **more})


def limit(name: LimitName, used: float, of: float) -> LimitProgress:
    return LimitProgress(name=name, used=used, limit=of, remaining=of - used)


def happened(*texts: str) -> tuple[Activity, ...]:
    return tuple(Activity(at=60.0 * n, iteration=n, kind="agent", text=text) for n, text in enumerate(texts))


def report(**more: Any) -> ProgressReport:
    told: dict[str, Any] = {
        "session": ID,
        "agent": "/home/ada/projects/pager",
        "task": "Make the tests pass",
        "workspace": "/home/ada/projects/pager",
        "folder": f"/home/ada/.echelon/loops/{ID}",
        "works_with": "turn",
        "status": "executing",
        "stop_reason": None,
        "iteration": 25,
        "max_iterations": 100,
        "percentage": 25,
        "conditions": (
            condition("all_tests_pass", True, summary="12 passed"),
            condition("linting_clean", False, summary="3 findings"),
            condition("build_succeeds", None),
        ),
        "met": 1,
        "of": 3,
        "evaluated": 25,
        "limits": (limit("iterations", 25, 100), limit("time_s", 600, 3600)),
        "activity": happened("✓ file.edit a.py", "iteration 25 has ended"),
        "checkpoints": (CheckpointRecord(number=5, iteration=25, at=0.0, why="interval", sha256="x"),),
        "warnings": (),
        "fights": (),
        "question": None,
        "asked": (),
        "doing": "iteration 26: file.read",
        "doing_since": None,
        "started": 0.0,
        "ended": None,
        "error": "",
        "hint": "",
    }
    return ProgressReport(**{**told, **more})


def screen(told: ProgressReport, width: int = 80, height: int = 40, **more: Any) -> list[str]:
    console = Console(
        file=StringIO(), force_terminal=True, width=width, height=height, color_system=None, highlight=False
    )
    with console.capture() as captured:
        console.print(LoopView(told, **more))
    return [line.rstrip() for line in captured.get().splitlines()]


def whole(told: ProgressReport, width: int = 80) -> str:
    return " ".join(" ".join(screen(told, width)).split())


@WIDTHS
def test_it_shows_the_iteration_the_limit_the_percentage_and_each_condition(width: int) -> None:
    shown = whole(report(), width)
    for part in (
        "executing Make the tests pass",
        "iteration 25 of 100",
        "25 % of the limit",
        "conditions 1 of 3 met, after iteration 25",
        "✓ all_tests_pass 12 passed",
        "✗ linting_clean 3 findings",
        "· build_succeeds not yet evaluated",
        "25 of 100 iterations, 75 remain",
        "10 min of 60 min, 50 min remain",
        "5 after iteration 25",
        f"look into one: echelon loop checkpoints {ID} K",
        "now iteration 26: file.read",
    ):
        assert part in shown


@WIDTHS
def test_no_line_is_wider_than_the_terminal_and_it_fits_its_height(width: int) -> None:
    long = "x" * 500
    told = report(
        task=long,
        agent=long,
        activity=happened(*[long] * 40),
        warnings=(long,),
        conditions=(condition(long, False, problem=long), condition("b", None, evaluating=True)),
        doing=long,
    )
    lines = screen(told, width, height=40)
    assert max(map(len, lines)) <= width
    assert len(lines) <= 40


@WIDTHS
def test_the_command_that_answers_a_question_is_never_cut(width: int) -> None:
    asks = Waiting("q", ID, "May it delete a.py?", ("yes", "no"))
    shown = whole(report(status="waiting_for_user", question=asks), width)
    assert "May it delete a.py? (yes / no)" in shown
    assert f'answer with: echelon runs answer {ID} "…"' in shown


def test_recent_activity_is_in_the_order_of_time_with_the_newest_at_the_end() -> None:
    lines = screen(report(activity=happened(*[f"deed {n}" for n in range(40)])))
    deeds = [line.split("deed ")[1] for line in lines if "deed" in line]
    assert deeds == [str(n) for n in range(40 - len(deeds), 40)] and len(deeds) >= 4


def test_conditions_that_are_being_evaluated_say_what_they_were() -> None:
    told = report(
        conditions=(condition("a", True, evaluating=True), condition("b", None, evaluating=True)), met=1, of=2
    )
    shown = whole(told)
    assert "1 of 2 met, being evaluated now" in shown
    assert "✓ a being evaluated, was met" in shown and "· b being evaluated" in shown


def test_what_an_operator_should_know_stands_below() -> None:
    fights = (Fight(condition="linting_clean", times=2, against=("all_tests_pass",)),)
    shown = whole(report(warnings=("80 % were reached",), fights=fights, asked=("pause",)))
    for part in (
        "! 80 % were reached",
        "! linting_clean was met and lost 2 times when all_tests_pass came to be met",
        "! asked: pause; heard soon",
    ):
        assert part in shown


def test_nobody_working_on_it_is_said_with_the_command() -> None:
    assert f"nobody works on it; go on with: echelon loop resume {ID}" in whole(report(status="interrupted"))


def test_what_agents_and_programs_print_does_nothing_to_the_terminal() -> None:
    evil = "\x1b[2Jgone\x07\u202e"
    told = report(
        task=evil,
        agent=evil,
        activity=happened(evil),
        doing=evil,
        warnings=(evil,),
        error=evil,
        conditions=(condition("a", False, summary=evil, findings=(Finding(where=evil, message=evil),), total=1),),
        question=Waiting("q", ID, evil),
        status="waiting_for_user",
    )
    for line in screen(told, findings=True):
        assert not {"\x1b", "\x07", "\u202e"} & set(line)


def test_findings_are_listed_where_one_looks_closer() -> None:
    found = (Finding(where="a.py:3", message="unused import", code="F401"),)
    told = report(conditions=(condition("linting_clean", False, findings=found, total=7),))
    assert "a.py:3 F401: unused import" in " ".join(screen(told, findings=True))
    assert "6 more" in " ".join(screen(told, findings=True))
    assert "F401" not in " ".join(screen(told))


def test_before_there_is_a_report_it_says_that_it_begins() -> None:
    console = Console(file=StringIO(), width=80)
    with console.capture() as captured:
        console.print(LoopView())
    assert "beginning" in captured.get()


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (limit("iterations", 3, 50), "3 of 50 iterations, 47 remain"),
        (limit("time_s", 30, 60), "30 s of 60 s, 30 s remain"),
        (limit("tokens", 1500, 100_000), "1,500 of 100,000 tokens, 98,500 remain"),
        (limit("cost_usd", 0.5, 2), "$0.50 of $2.00, $1.50 remain"),
    ],
)
def test_a_limit_says_what_remains(shown: LimitProgress, words: str) -> None:
    assert limit_words(shown) == words


def lines_of(progress: LoopProgress) -> list[str]:
    assert isinstance(progress.console.file, StringIO)
    return progress.console.file.getvalue().splitlines()


def test_without_a_terminal_each_activity_is_a_line_once() -> None:
    progress = LoopProgress(Console(file=StringIO(), width=60), since=60.0)
    with progress:
        progress.show(report(activity=happened("before", "a" * 100)))
        progress.show(report(activity=happened("before", "a" * 100, "b")))
    assert [line.split()[-1] for line in lines_of(progress)] == ["a" * 100, "b"]


def test_a_store_that_cannot_be_read_is_said_once_until_it_can() -> None:
    progress = LoopProgress(Console(file=StringIO()))
    for _ in range(3):
        progress.trouble("the store is locked; trying again")
    progress.show(report(activity=()))
    progress.trouble("the store is locked; trying again")
    assert lines_of(progress) == ["the store is locked; trying again"] * 2


@pytest.mark.parametrize(
    ("status", "reason", "code"),
    [
        ("executing", None, 0),
        ("completed", "success", 0),
        ("failed", "error:agent", 1),
        ("stopped", "no_progress", 1),
        ("stopped", "user_cancelled", 1),
        ("iteration_limit_reached", "budget:iterations", 3),
        ("stopped", "budget:time_s", 3),
        ("paused", None, 6),
        ("waiting_for_user", None, 6),
        ("interrupted", None, 130),
    ],
)
def test_the_exit_code_says_how_it_ended(status: str, reason: str | None, code: int) -> None:
    assert exit_code(report(status=status, stop_reason=reason)) == code


@pytest.mark.parametrize(
    ("status", "reason", "said"),
    [
        ("iteration_limit_reached", "budget:iterations", f"echelon loop extend {ID} --max-iterations N"),
        ("stopped", "budget:cost_usd", f"echelon loop extend {ID} --max-cost USD"),
        ("stopped", "no_progress", f"echelon loop resume {ID}"),
        ("paused", None, f"go on with: echelon loop resume {ID}"),
        ("interrupted", None, f"go on with: echelon loop resume {ID}"),
        ("failed", "error:agent", f"when the cause is gone, go on with: echelon loop resume {ID}"),
    ],
)
def test_what_can_be_done_now_is_a_command(status: str, reason: str | None, said: str) -> None:
    assert any(said in line for line in what_now(report(status=status, stop_reason=reason)))


def test_what_is_completed_needs_no_command() -> None:
    done = report(status="completed", stop_reason="success", met=3, iteration=25, ended=90.0)
    assert list(what_now(done)) == [f"document: /home/ada/.echelon/loops/{ID}/session.md"]
    assert ended_line(done) == "completed · iteration 25 of 100 · 3 of 3 conditions met"


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("no_progress", "no progress"),
        ("user_cancelled", "stopped by an operator"),
        ("budget:time_s", "the limit of time is reached"),
    ],
)
def test_why_it_stopped_is_said_in_words(reason: str, said: str) -> None:
    assert ended_line(report(status="stopped", stop_reason=reason)).endswith(f" · {said}")


def test_what_an_operator_should_know_is_said_at_the_end_too(capsys: pytest.CaptureFixture[str]) -> None:
    changed = "iteration 1 changed what judges it: tests/test_a.py"
    assert told(report(status="completed", warnings=(changed,)), as_json=False) == 0
    assert f"! {changed}\n" in capsys.readouterr().err


def test_a_hint_names_the_session() -> None:
    told = report(status="failed", error="gone", hint="echelon loop resume ID --from 3")
    assert f"  echelon loop resume {ID} --from 3" in list(what_now(told))


def test_as_data_it_is_all_there() -> None:
    asks = Waiting("q", ID, "Which?", ("a", "b"))
    data = as_data(report(question=asks, status="waiting_for_user")).model_dump()
    assert data["waiting"] == {"id": "q", "question": "Which?", "options": ("a", "b"), "deadline": None}
    assert [each["met"] for each in data["conditions"]] == [True, False, None]
    assert data["limits"][0] == {"name": "iterations", "used": 25, "limit": 100, "remaining": 75}
    assert type(data["limits"][0]["used"]) is int and data["document"].endswith(f"{ID}/session.md")
