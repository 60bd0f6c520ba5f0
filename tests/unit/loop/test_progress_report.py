"""A session's progress as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.engine.state import Waiting
from gateway.loop.activity import News
from gateway.loop.report import FINDINGS, ProgressReport, composed, percentage
from gateway.loop.state import (
    Changes,
    ConditionResult,
    Evaluation,
    Fight,
    Finding,
    IterationRecord,
    Limits,
    LoopState,
)

TESTS, LINT = "all_tests_pass", "linting_clean"


@dataclass(frozen=True)
class Session:
    """One that is made up."""

    state: LoopState
    status: str = "executing"
    run_id: str = "01K0"
    agent: str = "/w"
    task: str = "mend it"
    stop_reason: str | None = None
    error: str = ""
    hint: str = ""
    workspace: Path = Path("/w")
    folder: Path = Path("/h/loops/01K0")
    waiting: Waiting | None = None
    started: float = field(default=0.0)
    ended: float = 0.0


def state(limits: Limits = Limits(), **more: Any) -> LoopState:  # noqa: B008
    return LoopState(exits=(TESTS, LINT), limits=limits, **more)


def result(name: str, *, met: bool, **more: Any) -> ConditionResult:
    return ConditionResult(name=name, met=met, summary="", **more)


def evaluation(*results: ConditionResult) -> Evaluation:
    return Evaluation(iteration=3, at=1.0, results=results)


def made(state: LoopState, news: News = News(), *, now: float = 0.0, **more: Any) -> ProgressReport:  # noqa: B008
    return composed(Session(state, **more), news, works_with="turn", now=now)


@pytest.mark.parametrize(("done", "limit", "percent"), [(0, 50, 0), (25, 100, 25), (199, 200, 99), (5, 5, 100)])
def test_the_percentage_is_the_share_of_the_limit(done: int, limit: int, percent: int) -> None:
    assert percentage(done, limit) == percent


@given(st.integers(0, 10_000), st.integers(1, 10_000))
def test_a_percentage_is_100_exactly_where_nothing_remains(done: int, limit: int) -> None:
    assert 0 <= percentage(done, limit) <= 100
    assert (percentage(done, limit) == 100) == (done >= limit)


def test_conditions_are_met_not_met_or_not_yet_evaluated() -> None:
    nothing = made(state())
    assert [each.met for each in nothing.conditions] == [None, None]
    assert (nothing.met, nothing.of, nothing.evaluated) == (0, 2, None)
    found = made(state(evaluation=evaluation(result(TESTS, met=True), result(LINT, met=False))))
    assert [each.met for each in found.conditions] == [True, False]
    assert (found.met, found.of, found.evaluated) == (1, 2, 3)


def test_a_condition_that_was_added_since_is_not_yet_evaluated_and_one_taken_away_is_gone() -> None:
    before = evaluation(result(TESTS, met=True), result("build_succeeds", met=True))
    found = made(state(evaluation=before))
    assert [(each.name, each.met) for each in found.conditions] == [(TESTS, True), (LINT, None)]


def test_conditions_are_being_evaluated_only_while_somebody_does() -> None:
    news = News(doing="evaluating", evaluating=True, since=1.0)
    assert all(each.evaluating for each in made(state(), news).conditions)
    dead = made(state(), news, status="interrupted")
    assert not any(each.evaluating for each in dead.conditions)
    assert (dead.doing, dead.doing_since) == ("", None)


def test_the_first_findings_come_with_how_many_there_are() -> None:
    many = tuple(Finding(where=f"a.py:{line}", message="unused") for line in range(20))
    found = made(state(evaluation=evaluation(result(LINT, met=False, findings=many, total=240))))
    lint = next(each for each in found.conditions if each.name == LINT)
    assert (len(lint.findings), lint.total) == (FINDINGS, 240)


def test_the_limits_in_force_say_what_remains() -> None:
    limits = Limits(iterations=50, time_s=100, cost_usd=2)
    found = made(state(limits, iteration=40, used={"time_s": 30.0, "cost_usd": 0.5}))
    assert [(each.name, each.used, each.limit, each.remaining) for each in found.limits] == [
        ("iterations", 40, 50, 10),
        ("time_s", 30, 100, 70),
        ("cost_usd", 0.5, 2, 1.5),
    ]
    assert (found.iteration, found.max_iterations, found.percentage) == (40, 50, 80)


@pytest.mark.parametrize(("status", "used"), [("executing", 50.0), ("paused", 30.0), ("completed", 30.0)])
def test_time_passes_while_the_session_executes_only(status: str, used: float) -> None:
    found = made(state(Limits(time_s=100), used={"time_s": 30.0}), News(at=1000.0), now=1020.0, status=status)
    assert found.limits[1].used == used


@pytest.mark.parametrize(("status", "asked"), [("executing", ("pause", "stop")), ("paused", ("stop",))])
def test_a_pause_is_asked_for_until_the_session_rests(status: str, asked: tuple[str, ...]) -> None:
    assert made(state(), News(asked=("pause", "stop")), status=status).asked == asked


@pytest.mark.parametrize("limit", [45, 100])
def test_a_limit_that_is_reached_or_was_extended_is_not_warned_of(limit: int) -> None:
    near = state(Limits(iterations=50), iteration=45, warned=("iterations=50",))
    assert made(near).warnings == ("80 % of its limit of 50 iterations were reached",)
    assert made(near.with_(limits=Limits(iterations=limit), warned=("iterations=50", "iterations=45"))).warnings == ()


def test_what_an_operator_should_know_is_among_the_warnings() -> None:
    record = IterationRecord(
        number=2,
        run_id="R",
        outcome="done",
        summary="",
        began=0,
        ended=1,
        changes=Changes(changed=("tests/test_a.py",), tests=("tests/test_a.py",), restored=("conftest.py",)),
    )
    fights = (Fight(condition=TESTS, times=1), Fight(condition=LINT, times=2, against=(TESTS,)))
    found = made(state(warned=("iterations=50",), iterations=(record,), troubles=("no disk",), fights=fights))
    assert found.warnings == (
        "80 % of its limit of 50 iterations were reached",
        "iteration 2 changed what judges it: tests/test_a.py",
        "iteration 2 changed protected files, which were put back: conftest.py",
        "no disk",
    )
    assert [each.condition for each in found.fights] == [LINT]
