"""What operators tell a session, and what that changes in it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.loop.signals import EXITS, EXTEND, PAUSE, RESUME, STOP, heard
from gateway.loop.state import ConditionResult, Evaluation, Limits, LoopState


def state(**more: Any) -> LoopState:
    return LoopState(exits=("all_tests_pass",), limits=Limits(iterations=50), **more)


@given(st.permutations([60, 200, 150, 40]))
def test_of_several_who_extend_at_once_the_greatest_limit_counts_in_whatever_order(asked: list[int]) -> None:
    after = state()
    for each in asked:
        after = heard(after, EXTEND, {"iterations": each}, 1.0)
    assert after.limits.iterations == 200
    assert len(after.changes) == len(asked)


def test_who_asks_for_less_than_there_is_is_told_so() -> None:
    after = heard(state(), EXTEND, {"iterations": 20}, 1.0)
    assert after.limits.iterations == 50
    assert after.changes[0].text == "a limit of 20 iterations was asked for, it is 50 already"


def test_a_limit_that_is_not_set_is_not_made_by_extending_it() -> None:
    after = heard(state(), EXTEND, {"time_s": 60}, 1.0)
    assert after.limits.time_s is None
    assert "no limit" in after.changes[0].text


def test_extending_takes_a_session_back_from_the_limit_that_ended_it() -> None:
    ended = state(iteration=50, ending="budget:iterations", ended=9.0)
    assert heard(ended, EXTEND, {"iterations": 49}, 1.0).ending == "budget:iterations"
    again = heard(ended, EXTEND, {"iterations": 60}, 1.0)
    assert (again.ending, again.ended) == ("", 0.0)


def test_extending_one_limit_does_not_take_it_back_from_another() -> None:
    limits = Limits(iterations=50, tokens=100)
    ended = state(iteration=3, used={"tokens": 100}, ending="budget:tokens").with_(limits=limits)
    assert heard(ended, EXTEND, {"iterations": 60}, 1.0).ending == "budget:tokens"
    assert heard(ended, EXTEND, {"tokens": 101}, 1.0).ending == ""


def test_exit_conditions_are_added_and_removed_and_that_is_recorded() -> None:
    after = heard(state(), EXITS, {"add": ["linting_clean"], "remove": ["all_tests_pass"]}, 7.0)
    assert after.exits == ("linting_clean",)
    assert after.changes[0].at == 7.0
    assert after.changes[0].text == ("exit condition linting_clean added; exit condition all_tests_pass removed")


def test_an_exit_condition_that_is_there_already_is_not_added_twice() -> None:
    after = heard(state(), EXITS, {"add": ["all_tests_pass"]}, 7.0)
    assert after.exits == ("all_tests_pass",)
    assert after.changes == ()


@pytest.mark.parametrize("ending", ["", "no_progress"])
def test_a_session_that_is_stopped_ends_as_that(ending: str) -> None:
    after = heard(state(ending=ending, paused=True), STOP, {}, 1.0)
    assert (after.ending, after.paused) == ("user_cancelled", False)


def test_pausing_and_going_on() -> None:
    paused = heard(state(), PAUSE, {}, 1.0)
    assert paused.paused
    assert not heard(paused, RESUME, {}, 2.0).paused


def test_a_session_that_ended_without_progress_begins_to_count_anew_when_it_is_resumed() -> None:
    evaluation = Evaluation(iteration=4, at=1.0, results=())
    again = heard(state(ending="no_progress", still=3, failures=2, evaluation=evaluation), RESUME, {}, 1.0)
    assert (again.ending, again.still, again.failures) == ("", 0, 0)
    assert again.evaluation == evaluation


def test_what_was_found_of_a_condition_goes_with_it() -> None:
    found = tuple(ConditionResult(name=name, met=True, summary="") for name in ("all_tests_pass", "linting_clean"))
    before = state(evaluation=Evaluation(iteration=1, at=0, results=found)).with_(
        exits=("all_tests_pass", "linting_clean")
    )
    after = heard(before, EXITS, {"remove": ["all_tests_pass"]}, 1.0)
    assert after.evaluation is not None and [each.name for each in after.evaluation.results] == ["linting_clean"]
