"""What a session may use up."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gateway.loop.limits import in_force, left, near, reached
from gateway.loop.state import Limits, LoopState


def at(iteration: int, limit: int, **more: float) -> LoopState:
    return LoopState(exits=(), limits=Limits(iterations=limit), iteration=iteration, used=more)


@given(limit=st.integers(1, 500))
def test_every_limit_of_iterations_is_warned_of_at_80_percent_and_never_before(limit: int) -> None:
    warned = [number for number in range(limit + 1) if near(at(number, limit))]
    assert warned[0] == -(-4 * limit // 5)
    assert warned[-1] == limit


def test_a_warning_has_the_count_and_what_remains() -> None:
    (warning,) = near(at(80, 100))
    assert (warning.used, warning.remaining) == (80, 20)
    assert warning.in_words() == "80 of 100 iterations used, 20 iterations remain"


def test_who_was_warned_of_a_limit_is_warned_again_only_of_a_greater_one() -> None:
    state = at(80, 100)
    warned = state.with_(warned=(near(state)[0].key,))
    assert near(warned) == []
    extended = warned.with_(limits=Limits(iterations=200))
    assert near(extended) == []
    assert [each.limit for each in near(extended.with_(iteration=160))] == [200]


def test_limits_that_are_not_set_are_not_in_force() -> None:
    assert [each.name for each in in_force(at(3, 10))] == ["iterations"]


@given(st.sampled_from(["time_s", "tokens", "cost_usd"]), st.integers(1, 100), st.integers(0, 200))
def test_a_limit_is_reached_when_nothing_of_it_is_left(name: str, limit: int, used: int) -> None:
    state = at(0, 10, **{name: used}).with_(limits=Limits(iterations=10).with_(**{name: limit}))
    assert left(state) == {name: max(0, limit - used)}
    assert (reached(state) is not None) == (used >= limit)


def test_an_iteration_gets_what_the_session_has_left() -> None:
    state = at(2, 10, tokens=300.0).with_(limits=Limits(iterations=10, tokens=1000))
    assert left(state) == {"tokens": 700}
