from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.lab import Lab, Step, calls
from gateway.engine import budget
from gateway.engine.events import RUN_RESUMED
from gateway.engine.journal import Visit
from gateway.engine.nodes import Retry, Route
from gateway.engine.ports import Effect
from gateway.engine.state import Status
from gateway.errors import BudgetExhausted, ModelOverloaded, UsageError

Make = Callable[..., Lab]
names = st.sampled_from(["steps", "tokens", "taps", "time_s", "visits", "restarts"])
amounts = st.dictionaries(names, st.floats(0, 1e6))


@given(limits=amounts, used=amounts, spends=st.lists(names))
def test_a_limit_is_reached_when_its_counter_is_no_longer_below_it(
    limits: dict[str, float], used: dict[str, float], spends: list[str]
) -> None:
    reached = [name for name in ("time_s", "visits", *spends) if used.get(name, 0) >= limits.get(name, float("inf"))]
    if not reached:
        budget.check(limits, used, spends)
        return
    with pytest.raises(BudgetExhausted) as caught:
        budget.check(limits, used, spends)
    assert caught.value.budget == reached[0]


@given(own=amounts, parent=amounts, used=amounts)
def test_a_child_gets_no_more_than_its_parent_has_left_nor_than_it_wants(
    own: dict[str, float], parent: dict[str, float], used: dict[str, float]
) -> None:
    rest = budget.left(parent, used)
    reserved = budget.reserve(own, rest)
    assert all(value >= 0 for value in rest.values())
    assert all(reserved[name] <= own[name] for name in own)
    assert all(reserved[name] <= rest[name] for name in rest if name not in ("visits", "restarts"))


@given(used=amounts)
def test_what_a_run_counts_for_itself_is_not_charged_to_its_parent(used: dict[str, float]) -> None:
    assert budget.shared(used).keys() == used.keys() - {"time_s", "visits", "restarts"}


def test_node_visits_are_capped_at_twenty_times_the_steps() -> None:
    assert budget.limits_of({"steps": 100, "tokens": None}) == {"steps": 100, "visits": 2000}
    assert budget.limits_of({"steps": 100, "visits": 7}) == {"steps": 100, "visits": 7}


@pytest.mark.parametrize("limit", ["steps", "plans", "taps"])
async def test_a_node_that_would_spend_does_not_start_where_its_budget_is_used_up(lab: Make, limit: str) -> None:
    again = Route[Any](lambda state: "A", ("A", None))
    here = lab(Step("A", calls("decide"), again, spends=(limit,)))
    here.op("decide")
    state = await here.start(**{limit: 3})
    assert (state.status, state.stop_reason, state.counters[limit]) == (Status.STOPPED, f"budget:{limit}", 3)
    assert here.names() == ["decide"] * 3
    assert len(state.data.lines) == 3  # it stops with what it has


@given(limits=amounts, more=amounts)
def test_raised_limits_are_those_in_force_and_none_of_them_is_lower(
    limits: dict[str, float], more: dict[str, float]
) -> None:
    if more.keys() - limits.keys():
        with pytest.raises(UsageError, match="there is no limit on"):
            budget.raised(limits, more)
        return
    raised = budget.raised(limits, more)
    assert raised.keys() == limits.keys()
    assert all(raised[name] == max(limits[name], more[name]) for name in more)
    assert all(raised[name] >= limits[name] for name in limits)


async def test_a_run_whose_limit_is_raised_goes_on_and_is_replayed_with_each_limit_where_it_held(lab: Make) -> None:
    again = Route[Any](lambda state: "A" if len(state.lines) < 6 else None, ("A", None))
    here = lab(Step("A", calls("decide"), again, spends=("steps",)))
    here.op("decide")
    for limits, done in ((None, 3), ({"steps": 2}, 3), ({"steps": 5}, 5)):
        state = await (here.runs.resume(here.id, limits=limits) if limits else here.start(steps=3, tokens=9))
        assert (state.stop_reason, state.counters["steps"]) == ("budget:steps", done)
    state = await here.runs.resume(here.id, limits={"steps": 7})
    assert (state.status, state.counters["steps"]) == (Status.COMPLETE, 6)
    assert here.row().limits == {"steps": 7, "tokens": 9, "visits": 140}
    raised = [event.data["limits"]["steps"] for event in here.events(RUN_RESUMED) if "limits" in event.data]
    assert raised == [5, 7]
    await here.identical()


async def test_a_limit_is_raised_for_a_run_that_goes_on_only(lab: Make) -> None:
    here = lab(Step("A", lambda visit: visit.ask("q", "Which?"), "B"), Step("B", calls("do")))
    here.op("do")
    assert (await here.start(steps=3)).status is Status.WAITING
    for limits, said in (({"tokens": 5}, "no limit on tokens"), ({"steps": 5}, "is waiting_for_user")):
        with pytest.raises(UsageError, match=said):
            await here.runs.resume(here.id, limits=limits)
    await here.runs.answer(here.id, "yes")
    assert (await here.runs.resume(here.id, limits={"steps": 5})).status is Status.COMPLETE
    with pytest.raises(UsageError, match="is complete"):
        await here.runs.resume(here.id, limits={"steps": 9})
    assert here.row().limits["steps"] == 5
    await here.identical()


async def test_a_loop_that_decides_nothing_is_stopped_by_its_visits(lab: Make) -> None:
    here = lab(Step("A", None, Route(lambda state: "A", ("A", None))))
    state = await here.start(steps=2)
    assert (state.stop_reason, state.counters["visits"]) == ("budget:visits", 41)  # the visit that was refused counts


@pytest.mark.parametrize(("limit", "each"), [("tokens", 10), ("cost_usd", 0.25)])
async def test_tokens_and_money_are_charged_by_results_and_refused_before_they_are_spent(
    lab: Make, limit: str, each: float
) -> None:
    here = lab(Step("A", calls("think", "think", "think", "think")))
    here.op("think", Effect.READ, {"used": each}, spends=(limit,), charge=lambda result: {limit: result["used"]})
    state = await here.start(**{limit: 3 * each})
    assert (state.stop_reason, state.counters[limit]) == (f"budget:{limit}", 3 * each)
    assert here.names() == ["think"] * 3
    await here.identical()


async def test_calls_at_once_reserve_what_they_may_spend(lab: Make) -> None:
    async def tap(args: Any, scope: Any) -> Any:
        await asyncio.sleep(0)

    async def body(visit: Visit) -> Any:
        tasks = [visit.call("tap", n, name=f"tap{n}") for n in range(4)]
        return [type(each).__name__ for each in await asyncio.gather(*tasks, return_exceptions=True)]

    here = lab(Step("A", body))
    here.op("tap", Effect.ONCE, tap, spends=("taps",), charge=lambda result: {"taps": 1})
    state = await here.start(taps=2)
    assert here.names() == ["tap", "tap"]
    assert state.data.lines == [["NoneType", "NoneType", "BudgetExhausted", "BudgetExhausted"]]
    assert state.counters["taps"] == 2
    await here.identical()


async def test_a_budget_that_stops_one_of_several_calls_stops_the_run(lab: Make) -> None:
    async def body(visit: Visit) -> Any:
        async with asyncio.TaskGroup() as group:
            for n in range(3):
                group.create_task(visit.call("tap", n, name=f"tap{n}"))

    here = lab(Step("A", body))
    here.op("tap", Effect.READ, spends=("taps",), charge=lambda result: {"taps": 1})
    state = await here.start(taps=2)
    assert (state.stop_reason, state.counters["taps"]) == ("budget:taps", 2)
    await here.identical()


async def test_a_call_is_refused_once_the_time_is_over(lab: Make) -> None:
    async def slow(args: Any, scope: Any) -> Any:
        here.clock.advance(200)

    here = lab(Step("A", calls("slow", "slow", "slow")))
    here.op("slow", Effect.READ, slow)
    state = await here.start(time_s=300)
    assert (state.stop_reason, here.names()) == ("budget:time_s", ["slow", "slow"])
    await here.identical()


async def test_pauses_before_retries_are_time(lab: Make) -> None:
    here = lab(Step("A", calls("busy"), retry=Retry(2, 2000, 2000)))
    here.op("busy", Effect.READ, ModelOverloaded("busy"), "fine")
    assert (await here.start()).counters["time_s"] == 2


async def test_restarts_end_at_their_limit(lab: Make) -> None:
    here = lab(Step("A", None, "B"), Step("B", calls("bad"), retry=Retry(1), backtrack_to="A"))
    here.op("bad", Effect.READ, RuntimeError("boom"))
    state = await here.start(restarts=3)
    assert (state.stop_reason, state.counters["restarts"], len(here.names())) == ("budget:restarts", 3, 4)
    await here.identical()


async def test_a_failed_attempt_is_no_step_but_what_its_calls_spent_is_spent(lab: Make) -> None:
    here = lab(Step("A", calls("think", "busy"), retry=Retry(base_delay_ms=0), spends=("steps",)))
    here.op("think", Effect.READ, spends=("tokens",), charge=lambda result: {"tokens": 10})
    here.op("busy", Effect.READ, ModelOverloaded("busy"), "fine")
    state = await here.start()
    assert {name: state.counters[name] for name in ("steps", "tokens")} == {"steps": 1, "tokens": 20}
