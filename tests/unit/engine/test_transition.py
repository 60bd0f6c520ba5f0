from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.lab import Notes, Step
from gateway.engine.nodes import Retry, Route
from gateway.engine.state import RunState, Status, Waiting
from gateway.engine.transition import (
    Advance,
    Asked,
    Backtrack,
    Failure,
    Outcome,
    Stopped,
    Success,
    Terminal,
    TryAgain,
    Wait,
    decide,
    delay_ms,
    failure_of,
)
from gateway.errors import BudgetExhausted, ModelRefused, ModelTimeout

retries = st.builds(
    Retry,
    max_attempts=st.integers(1, 50),
    base_delay_ms=st.integers(0, 10_000),
    max_delay_ms=st.integers(0, 100_000),
)
outcomes = st.one_of(
    st.builds(Success, st.just(Notes())),
    st.builds(Failure, st.sampled_from(["model", "tool"]), st.text(), st.booleans()),
    st.just(Asked(Waiting("q", "r", "Which?"))),
    st.builds(Stopped, st.sampled_from(["budget:steps", "user_cancelled"])),
)


def at(attempt: int = 1, visit: int = 1) -> RunState:
    return RunState(node="A", data=Notes(lines=["x"]), visit=visit, attempt=attempt)


def test_success_advances_or_ends() -> None:
    assert decide(at(), Step("A", on_success="B"), Success(Notes()), 1) == Advance("B")
    assert decide(at(), Step("A"), Success(Notes()), 1) == Terminal(Status.COMPLETE, "success")


def test_a_route_chooses_from_the_new_state() -> None:
    node = Step("A", on_success=Route(lambda state: "B" if state.lines else None, ("B", None)))
    assert decide(at(), node, Success(None), 1) == Advance("B")


def test_a_question_waits_and_a_stop_stops() -> None:
    waiting = Waiting("q", "r", "Which?")
    assert decide(at(), Step("A"), Asked(waiting), 1) == Wait(waiting)
    assert decide(at(), Step("A"), Stopped("budget:steps"), 1) == Terminal(Status.STOPPED, "budget:steps")


def test_a_failure_that_cannot_be_retried_ends_at_once_whatever_the_policy() -> None:
    node = Step("A", backtrack_to="B")
    assert decide(at(), node, Failure("tool", "no", False), 1) == Terminal(Status.FAILED, "error:tool")


@given(node_retry=retries, attempt=st.integers(1, 60), seed=st.integers(0, 2**63), left=st.integers(-1, 3))
def test_a_failure_is_retried_then_backtracks_while_restarts_are_left_then_ends(
    node_retry: Retry, attempt: int, seed: int, left: int
) -> None:
    failure = Failure("tool", "no", True)
    decision = decide(at(attempt), Step("A", retry=node_retry, backtrack_to="B"), failure, seed, left)
    if attempt < node_retry.max_attempts:
        assert decision == TryAgain(delay_ms(node_retry, seed, 1, attempt))
    elif left > 0:
        assert decision == Backtrack("B")
    else:
        assert decision == Terminal(Status.STOPPED, "budget:restarts")
    without = decide(at(attempt), Step("A", retry=node_retry), failure, seed, left)
    assert isinstance(without, TryAgain) or without == Terminal(Status.FAILED, "error:tool")


@given(node_retry=retries, seed=st.integers(0, 2**63), visit=st.integers(1, 100))
def test_attempts_never_exceed_their_maximum(node_retry: Retry, seed: int, visit: int) -> None:
    attempts = 1
    while isinstance(decide(at(attempts, visit), Step("A", retry=node_retry), Failure("x", "", True), seed), TryAgain):
        attempts += 1
    assert attempts == node_retry.max_attempts


@given(outcome=outcomes, attempt=st.integers(1, 5), seed=st.integers(0, 2**63))
def test_the_same_run_makes_the_same_decisions(outcome: Outcome, attempt: int, seed: int) -> None:
    node = Step("A", on_success="B", backtrack_to="B")
    assert decide(at(attempt), node, outcome, seed) == decide(at(attempt), node, outcome, seed)


@given(retry=retries, seed=st.integers(0, 2**63), visit=st.integers(1, 1000), attempt=st.integers(1, 5000))
def test_delays_double_with_a_quarter_of_jitter_at_most_up_to_the_maximum(
    retry: Retry, seed: int, visit: int, attempt: int
) -> None:
    delay = delay_ms(retry, seed, visit, attempt)
    plain = retry.base_delay_ms * 2 ** (attempt - 1)
    assert min(plain, retry.max_delay_ms) <= delay <= min(plain * 5 // 4, retry.max_delay_ms)


def test_jitter_depends_on_seed_visit_and_attempt() -> None:
    retry = Retry(max_delay_ms=10**9)
    delays = {delay_ms(retry, seed, visit, 1) for seed in range(10) for visit in range(10)}
    assert len(delays) > 80


def test_the_default_policy_is_three_attempts_from_one_second_to_five() -> None:
    assert Retry() == Retry(max_attempts=3, base_delay_ms=1000, max_delay_ms=5000)


def test_an_exception_becomes_an_outcome() -> None:
    assert failure_of(BudgetExhausted("taps", 50, 50)) == Stopped("budget:taps")
    assert failure_of(ModelTimeout("late")) == Failure("model_timeout", "late", True)
    assert failure_of(ModelRefused("no")) == Failure("model_refused", "no", False)
    assert failure_of(ValueError("x")) == Failure("internal", "ValueError: x", True)


@given(st.permutations([ModelTimeout("late"), ModelRefused("no"), ValueError("x")]))
def test_of_several_errors_at_once_the_same_one_counts_in_any_order(errors: list[Exception]) -> None:
    assert failure_of(ExceptionGroup("", errors)) == Failure("model_refused", "no", False)
    both = ExceptionGroup("", [*errors, ExceptionGroup("", [BudgetExhausted("taps", 1, 1)])])
    assert failure_of(both) == Stopped("budget:taps")
