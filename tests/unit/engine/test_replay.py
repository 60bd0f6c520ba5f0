from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

import pytest

from engine.lab import Lab, Step, calls
from gateway.engine import replay
from gateway.engine.journal import CallFailed, Visit
from gateway.engine.nodes import Retry
from gateway.engine.ports import Effect
from gateway.engine.state import Status
from gateway.errors import ModelOverloaded, ReplayMismatch, StoreError

Make = Callable[..., Lab]
NOW = Retry(base_delay_ms=0)


async def twice(lab: Make) -> Lab:
    """A run of two nodes with two calls each: events 2–5 and 7–10, decisions 6 and 11."""
    here = lab(Step("A", calls("one", "two"), "B"), Step("B", calls("one", "two")))
    here.op("one")
    here.op("two")
    assert (await here.start()).status is Status.COMPLETE
    return here


async def differs_at(here: Lab, seq: int, said: str) -> None:
    did = list(here.did)
    with pytest.raises(ReplayMismatch, match=re.escape(said)) as caught:
        await here.replay()
    assert caught.value.seq == seq
    assert here.did == did  # nothing was carried out


async def test_a_replay_of_a_complete_run_is_identical_and_touches_nothing(lab: Make) -> None:
    here = await twice(lab)
    replayed = await here.identical()
    assert (replayed.decisions, replayed.finished, replayed.children) == (2, True, [])


async def test_a_changed_result_of_a_node_is_found_at_its_decision(lab: Make) -> None:
    async def body(visit: Visit) -> Any:
        return [*await calls("one", "two")(visit), "more"]

    here = await twice(lab)
    here.nodes = (here.nodes[0], Step("B", body))
    await differs_at(here, 11, "state was")


async def test_another_way_through_the_graph_is_found_at_the_decision(lab: Make) -> None:
    here = await twice(lab)
    here.nodes = (Step("A", calls("one", "two"), "C"), Step("C", calls("one", "two")))
    await differs_at(here, 6, "to was 'B', and is 'C'")


@pytest.mark.parametrize(
    ("body", "seq", "said"),
    [
        (calls("one", "two", args={"changed": True}), 7, "one (2/one#1) is called with other arguments"),
        (calls("one"), 10, "the call 2/two#1 was made, but not in the replay"),
        (calls("one", "two", "one"), 11, "the replay calls one (2/one#2) here"),
        (calls("one", "one", "two"), 9, "the replay calls one (2/one#2) here"),
        (calls("two"), 8, "the call 2/one#1 was made, but not in the replay"),
    ],
)
async def test_changed_missing_and_further_calls_are_found_at_their_event(
    lab: Make, body: Any, seq: int, said: str
) -> None:
    here = await twice(lab)
    here.nodes = (here.nodes[0], Step("B", body))
    await differs_at(here, seq, said)


async def test_a_node_that_swallows_errors_does_not_hide_the_difference(lab: Make) -> None:
    async def body(visit: Visit) -> Any:
        try:
            await visit.call("new", {})
        except Exception:
            return await calls("one", "two")(visit)

    here = await twice(lab)
    here.op("new")
    here.nodes = (here.nodes[0], Step("B", body))
    await differs_at(here, 7, "the replay calls new (2/new#1) here")


async def test_a_page_that_was_changed_by_hand_is_reported(lab: Make) -> None:
    here = await twice(lab)
    here.page().write_text("something else")
    assert (await here.replay()).differing == [here.page()]


async def test_a_replay_of_retries_and_backtracks_takes_no_time(lab: Make) -> None:
    busy = [ModelOverloaded("busy")] * 4
    here = lab(Step("A", calls("one"), "B"), Step("B", calls("busy"), retry=Retry(2), backtrack_to="A"))
    here.op("one")
    here.op("busy", Effect.READ, *busy, "fine")
    state = await here.start(restarts=3)
    assert (state.status, state.counters["restarts"]) == (Status.COMPLETE, 2)
    here.clock.slept.clear()
    assert (await here.identical()).decisions == 8
    assert here.clock.slept == []


async def test_a_replay_of_a_failed_run_is_identical_and_a_change_in_its_failure_is_not(
    lab: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "SIBLING_S", 0.01)
    here = lab(Step("A", calls("one", "bad"), retry=Retry(1)))
    here.op("one")
    here.op("bad", Effect.READ, RuntimeError("boom"))
    assert (await here.start()).status is Status.FAILED
    await here.identical()
    here.nodes = (Step("A", calls("one", "bad", args={"changed": True}), retry=Retry(1)),)
    await differs_at(here, 2, "one (1/one#1) is called with other arguments")


async def test_a_replay_of_a_waiting_run_is_identical_and_a_changed_call_before_the_question_is_found(
    lab: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "SIBLING_S", 0.01)

    def body(**args: Any) -> Any:
        async def ask(visit: Visit) -> Any:
            await visit.call("one", args)
            return await visit.ask("q", "Which?", deadline_s=60, on_timeout="none")

        return ask

    here = lab(Step("A", body()))
    here.op("one")
    assert (await here.start()).status is Status.WAITING
    here.clock.advance(1000)
    await here.identical()
    here.nodes = (Step("A", body(changed=True)),)
    await differs_at(here, 2, "other arguments")


@pytest.mark.parametrize("limit", ["steps", "tokens", "time_s", "visits"])
async def test_a_replay_of_a_run_that_a_budget_stopped_is_identical(lab: Make, limit: str) -> None:
    async def think(args: Any, scope: Any) -> Any:
        here.clock.advance(3)
        return "thought"

    body = calls("think", "think")
    here = lab(Step("A", body, "B", spends=("steps",)), Step("B", body, "C", spends=("steps",)), Step("C", body))
    here.op("think", Effect.READ, think, spends=("tokens",), charge=lambda result: {"tokens": 10})
    state = await here.start(**{limit: {"steps": 1, "tokens": 30, "time_s": 8, "visits": 1}[limit]})
    assert state.stop_reason == f"budget:{limit}"
    await here.identical()
    await here.resume()
    await here.identical()


async def test_a_replay_of_a_cancelled_run_that_had_spent_something_is_identical(lab: Make) -> None:
    async def hang(args: Any, scope: Any) -> Any:
        begun.set()
        await asyncio.sleep(60)

    begun = asyncio.Event()
    here = lab(Step("A", calls("think", "slow")))
    here.op("think", Effect.READ, spends=("tokens",), charge=lambda result: {"tokens": 10})
    here.op("slow", Effect.READ, hang, "done")
    task = asyncio.create_task(here.start())
    await asyncio.wait_for(begun.wait(), 60)
    await here.runs.cancel(here.store.runs()[0].id)
    assert (await task).counters["tokens"] == 10
    await here.identical()
    assert (await here.resume()).status is Status.COMPLETE
    await here.identical()


async def test_a_replay_with_concurrent_calls_of_which_one_failed_is_identical(lab: Make) -> None:
    async def slow(args: Any, scope: Any) -> Any:
        await asyncio.sleep(0.02)
        if not failed:
            failed.append(True)
            raise ModelOverloaded("busy")

    async def slower(args: Any, scope: Any) -> Any:
        await asyncio.sleep(0.05)

    async def chain(visit: Visit) -> None:
        await visit.call("quick", 1)
        await visit.call("slower", 2)
        await visit.call("quick", 3)

    async def body(visit: Visit) -> Any:
        async with asyncio.TaskGroup() as group:
            group.create_task(visit.call("slow", {}))
            group.create_task(chain(visit))
            group.create_task(visit.call("slower", 4, name="other"))

    failed: list[bool] = []
    here = lab(Step("A", body, retry=NOW))
    here.op("quick")
    here.op("slow", Effect.READ, slow)
    here.op("slower", Effect.READ, slower)
    assert (await here.start()).status is Status.COMPLETE
    assert (await here.identical()).decisions == 2


async def test_a_replay_with_a_race_that_was_won_is_identical(lab: Make) -> None:
    async def hang(args: Any, scope: Any) -> Any:
        await asyncio.sleep(60)

    async def quick(args: Any, scope: Any) -> Any:
        await asyncio.sleep(0.01)
        return "first"

    async def body(visit: Visit) -> Any:
        tasks = [asyncio.create_task(visit.call(name, {})) for name in ("slow", "quick")]
        done, late = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in late:
            task.cancel()
        await asyncio.wait(late)
        return [task.result() for task in done]

    here = lab(Step("A", body))
    here.op("slow", Effect.READ, hang)
    here.op("quick", Effect.READ, quick)
    assert (await here.start()).data.lines == [["first"]]
    await here.identical()


async def test_a_replay_of_errors_that_a_node_handles_is_identical(lab: Make) -> None:
    async def body(visit: Visit) -> Any:
        try:
            await visit.call("bad", {})
        except CallFailed as error:
            return error.kind

    here = lab(Step("A", body))
    here.op("bad", Effect.READ, RuntimeError("boom"))
    assert (await here.start()).data.lines == ["internal"]
    await here.identical()


async def test_a_replay_of_a_run_that_is_not_over_goes_as_far_as_the_log(lab: Make) -> None:
    here = lab(Step("A", calls("one"), "B"), Step("B", calls("bad")))
    here.op("one")
    here.op("bad", Effect.READ, StoreError("full"))
    with pytest.raises(StoreError):
        await here.start()
    here.id = here.store.runs()[0].id
    assert (await here.replay()).decisions == 1
