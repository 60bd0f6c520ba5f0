from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from engine.lab import Lab, Notes, Nothing, Step, calls
from gateway.engine import events
from gateway.engine.graph import Graph
from gateway.engine.graph_type import GraphTypes
from gateway.engine.journal import Visit
from gateway.engine.nodes import Retry
from gateway.engine.ports import Effect, Operation, Scope
from gateway.engine.runs import GraphType
from gateway.engine.state import RunState, Status, Waiting
from gateway.errors import ModelOverloaded, RunBusy, RunNotFound, StoreError, UsageError

Make = Callable[..., Lab]


def asks(id: str = "q", **settings: Any) -> Callable[[Visit], Any]:
    async def body(visit: Visit) -> Any:
        return await visit.ask(id, "Which?", **settings)

    return body


async def hang(args: Any, scope: Scope) -> Any:
    await asyncio.sleep(60)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  what is waited for happens elsewhere
            await asyncio.sleep(0.005)


# waiting


async def test_a_question_ends_the_process_and_its_answer_goes_on_from_there(lab: Make) -> None:
    here = lab(Step("A", calls("look"), "B"), Step("B", asks()))
    here.op("look")
    state = await here.start()
    assert (state.status, here.row().status, here.row().question) == ("waiting_for_user", "waiting_for_user", "Which?")
    assert here.page().read_text().startswith("waiting_for_user None Which?")
    await here.runs.answer(here.id, "this")
    state = await here.resume()
    assert (state.status, state.data.lines[-1], here.names()) == (Status.COMPLETE, "this", ["look"])
    await here.identical()


async def test_a_waiting_run_has_no_owner_and_needs_an_answer(lab: Make) -> None:
    here = lab(Step("A", asks()))
    await here.start()
    lease = await here.store.acquire(f"run:{here.id}", "somebody", here.clock.now())
    await here.store.release(lease)
    before = here.kinds()
    assert (await here.resume()).status is Status.WAITING
    assert here.kinds() == before


async def test_the_first_answer_counts_and_the_second_is_told_so(lab: Make) -> None:
    here = lab(Step("A", asks()))
    await here.start()
    await here.runs.answer(here.id, "first")
    with pytest.raises(UsageError, match="answered already"):
        await here.runs.answer(here.id, "second")
    assert (await here.resume()).data.lines == ["first"]
    with pytest.raises(UsageError, match="not waiting"):
        await here.runs.answer(here.id, "third")


async def test_the_same_question_at_a_later_visit_waits_for_an_answer_of_its_own(lab: Make) -> None:
    here = lab(Step("A", asks(), "B"), Step("B", asks()))
    await here.start()
    for answer in ("one", "two"):
        assert here.row().status == Status.WAITING
        await here.runs.answer(here.id, answer)
        await here.resume()
    assert here.runs.state(here.row()).data.lines == ["one", "two"]  # type: ignore[attr-defined]
    await here.identical()


async def test_a_question_with_options_takes_these_or_their_beginnings(lab: Make) -> None:
    here = lab(Step("A", asks(options=("yes", "no", "Never"))))
    await here.start()
    for wrong in ("", "maybe", "n"):
        with pytest.raises(UsageError, match="yes, no, Never"):
            await here.runs.answer(here.id, wrong)
    await here.runs.answer(here.id, " NEV ")
    assert (await here.resume()).data.lines == ["Never"]


def test_an_option_that_is_the_beginning_of_another_can_be_chosen() -> None:
    assert Waiting("q", "r", "Now?", ("no", "not now")).chosen("no") == "no"


async def test_a_deadline_that_has_passed_answers_for_the_person(lab: Make) -> None:
    here = lab(Step("A", asks(deadline_s=120, on_timeout="go on")))
    await here.start()
    here.clock.advance(119)
    assert (await here.resume()).status is Status.WAITING
    here.clock.advance(2)
    assert (await here.resume()).data.lines == ["go on"]
    assert here.events(events.RUN_ANSWERED)[0].data == {"id": "q", "answer": "go on", "timeout": True}
    await here.identical()


async def test_an_answer_before_the_timeout_was_written_counts(lab: Make) -> None:
    here = lab(Step("A", asks(deadline_s=120, on_timeout="go on")))
    await here.start()
    here.clock.advance(500)
    await here.runs.answer(here.id, "late")
    assert (await here.resume()).data.lines == ["late"]


async def test_a_question_without_default_waits_for_ever(lab: Make) -> None:
    here = lab(Step("A", asks(deadline_s=120)))
    await here.start()
    here.clock.advance(1e6)
    assert (await here.resume()).status is Status.WAITING


async def test_time_spent_waiting_or_down_is_not_counted(lab: Make) -> None:
    async def think(args: Any, scope: Scope) -> Any:
        here.clock.advance(7)

    here = lab(Step("A", calls("think"), "B"), Step("B", asks(), "C"), Step("C", calls("think")))
    here.op("think", Effect.READ, think)
    await here.start(time_s=20)
    here.clock.advance(10_000)
    await here.runs.answer(here.id, "x")
    state = await here.resume()
    assert (state.status, state.counters["time_s"]) == (Status.COMPLETE, 14)


# cancelling and interrupting


async def test_a_run_is_cancelled_by_its_own_process(lab: Make) -> None:
    here = lab(Step("A", calls("slow")))
    here.op("slow", Effect.READ, hang)
    task = asyncio.create_task(here.start())
    await until(lambda: here.names() == ["slow"])
    assert await here.runs.cancel(here.id) is False  # it is being worked on: its owner was asked
    state = await task
    assert (state.status, state.stop_reason) == (Status.STOPPED, "user_cancelled")
    assert here.page().read_text().startswith("stopped user_cancelled")
    await here.identical()


async def test_a_cancelled_run_can_be_resumed_and_is_not_cancelled_again(lab: Make) -> None:
    here = lab(Step("A", calls("slow")))
    here.op("slow", Effect.READ, hang, "done")
    task = asyncio.create_task(here.start())
    await until(lambda: here.names() == ["slow"])
    await here.runs.cancel(here.id)
    await task
    assert not here.row().cancel
    assert (await here.resume()).status is Status.COMPLETE
    await here.identical()


async def test_a_cancel_during_the_pause_before_a_retry_does_not_wait_for_it(lab: Make) -> None:
    class RealPauses:
        def __init__(self, clock: Any) -> None:
            self.now, self.monotonic, self.sleep = clock.now, clock.monotonic, asyncio.sleep

    here = lab(Step("A", calls("busy"), retry=Retry(2, 60_000, 60_000)))
    here.runs.clock = RealPauses(here.clock)  # type: ignore[assignment]
    here.op("busy", Effect.READ, ModelOverloaded("busy"))
    task = asyncio.create_task(here.start())
    await until(lambda: here.names() == ["busy"])
    await asyncio.sleep(0.01)
    await here.runs.cancel(here.store.runs()[0].id)
    state = await asyncio.wait_for(task, 60)
    assert state.stop_reason == "user_cancelled"


async def test_a_run_that_nobody_works_on_is_cancelled_at_once_without_running_anything(lab: Make) -> None:
    here = lab(Step("A", asks(), "B"), Step("B", calls("look")))
    here.op("look")
    await here.start()
    assert await here.runs.cancel(here.id) is True
    assert (here.row().status, here.row().stop_reason, here.names()) == ("stopped", "user_cancelled", [])
    await here.identical()


async def test_a_wish_to_cancel_that_came_while_it_began_to_wait_is_fulfilled(lab: Make) -> None:
    async def body(visit: Visit) -> Any:
        await here.store.request_cancel(visit.run_id)
        return await visit.ask("q", "Which?")

    here = lab(Step("A", body))
    assert (await here.start()).stop_reason == "user_cancelled"


async def test_a_run_that_has_ended_cannot_be_cancelled(lab: Make) -> None:
    here = lab(Step("A"))
    await here.start()
    with pytest.raises(UsageError, match="has ended: it is complete"):
        await here.runs.cancel(here.id)


async def test_an_interrupted_run_says_so_and_resumes(lab: Make) -> None:
    here = lab(Step("A", calls("look", "slow")))
    here.op("look")
    here.op("slow", Effect.READ, hang, "done")
    task = asyncio.create_task(here.start())
    await until(lambda: here.names() == ["look", "slow"])
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    here.id = here.store.runs()[0].id
    assert here.kinds()[-1] == events.RUN_INTERRUPTED
    assert (here.row().status, here.row().stop_reason) == ("stopped", "user_cancelled")
    assert here.page().read_text().startswith("stopped user_cancelled")
    await here.replay()  # what there is of it
    assert (await here.resume()).status is Status.COMPLETE
    assert here.names() == ["look", "slow", "slow"]
    await here.identical()


# resuming


async def test_a_failed_run_gets_one_more_attempt_at_the_visit_that_failed(lab: Make) -> None:
    here = lab(Step("A", calls("send"), "B"), Step("B", calls("pay", "busy"), retry=Retry(1)))
    here.op("send", Effect.ONCE)
    here.op("pay", Effect.ONCE)
    here.op("busy", Effect.READ, ModelOverloaded("busy"), "fine")
    state = await here.start()
    assert (state.status, state.stop_reason, state.error) == (Status.FAILED, "error:model_overloaded", "busy")
    state = await here.resume()
    assert (state.status, state.error, here.names()) == (Status.COMPLETE, None, ["send", "pay", "busy", "busy"])
    await here.identical()


async def test_a_run_that_a_budget_stopped_stops_again_without_spending(lab: Make) -> None:
    here = lab(Step("A", calls("think", "think")))
    here.op("think", Effect.READ, "thought", spends=("tokens",), charge=lambda result: {"tokens": 10})
    first = await here.start(tokens=10)
    again = await here.resume()
    for state in (first, again):
        assert (state.status, state.stop_reason, state.counters["tokens"]) == (Status.STOPPED, "budget:tokens", 10)
    assert here.names() == ["think"]
    await here.identical()


async def test_a_complete_run_is_given_back_and_its_page_is_made_again(lab: Make) -> None:
    here = lab(Step("A"))
    await here.start()
    here.page().unlink()
    before = here.kinds()
    assert (await here.resume()).status is Status.COMPLETE
    assert here.kinds() == before
    assert here.page().exists()


async def test_a_run_that_is_worked_on_is_busy(lab: Make) -> None:
    here = lab(Step("A", calls("slow")))
    here.op("slow", Effect.READ, hang)
    task = asyncio.create_task(here.start())
    await until(lambda: here.names() == ["slow"])
    here.id = here.store.runs()[0].id
    for runs in (here.runs, here.process()):
        with pytest.raises(RunBusy, match="is in use by process"):
            await runs.resume(here.id)
    task.cancel()
    await asyncio.wait([task])


async def test_a_run_is_found_by_the_beginning_of_its_id(lab: Make) -> None:
    here = lab(Step("A"))
    await here.start()
    assert (await here.runs.resume(here.id[:-3])).status is Status.COMPLETE
    await here.start()
    with pytest.raises(RunNotFound, match="more than one"):
        here.store.run(here.id[:5])
    with pytest.raises(RunNotFound, match="no run"):
        here.store.run("%")


async def test_a_run_of_a_graph_that_is_not_known_is_a_usage_error(lab: Make) -> None:
    here = lab(Step("A", asks()))
    await here.start()
    runs = here.process()
    runs.types = GraphTypes()
    with pytest.raises(UsageError, match="does not know"):
        await runs.resume(here.id)


async def test_a_page_that_cannot_be_written_stops_the_run_resumably(lab: Make) -> None:
    here = lab(Step("A", calls("send"), "B"), Step("B"))
    here.op("send", Effect.ONCE)
    (here.home / "pages").write_text("in the way")
    with pytest.raises(StoreError) as caught:
        await here.start()
    assert "free some disk space" in caught.value.hint
    (here.home / "pages").unlink()
    here.id = here.store.runs()[0].id
    assert (await here.resume()).status is Status.COMPLETE
    assert here.names() == ["send"]


async def test_pins_are_what_they_were_when_the_run_began(lab: Make) -> None:
    seen: list[str] = []

    class Asking(Step):
        async def execute(self, given: Notes, visit: Visit) -> Any:
            return await visit.ask("q", "Which?")

    def build(context: BaseModel, pins: Any) -> Graph:
        seen.append(pins.text("prompt.md"))
        return Graph("pinned", [Asking("A")], "A")

    here = lab(Step("A"))
    here.runs.register(GraphType("pinned", Nothing, Notes, build, lambda row, context, pins: {}))
    pins = {"prompt.md": b"as it was"}
    row, owned = await here.runs.create("pinned", Nothing(), Notes(), title="t", limits={}, pins=pins)
    await here.runs.drive(row, owned)
    await here.runs.answer(row.id, "x")
    await here.runs.resume(row.id)
    await here.runs.replay(row.id)
    assert set(seen) == {"as it was"}
    assert here.store.run(row.id).pins.keys() == {"prompt.md"}


# children


def family(here: Lab, *nodes: Step, limits: dict[str, float | None] | None = None) -> None:
    """The lab's own nodes may call `child`, which runs a graph of these."""

    async def run(args: Any, scope: Scope) -> Any:
        own = limits or {}
        ended = await here.runs.child(scope, "small", Nothing(), Notes(), title="c", limits=own, pins={})
        return {"status": ended.status, "lines": ended.data.lines, "used": dict(ended.counters)}  # type: ignore[attr-defined]

    def used(result: Any) -> dict[str, float]:
        return {name: value for name, value in result["used"].items() if name == "taps"}

    here.operations["child"] = Operation("child", run, Effect.CHILD, spends=("taps",), charge=used)
    build: Any = lambda context, pins: Graph("small", nodes, nodes[0].name)  # noqa: E731
    here.runs.register(GraphType("small", Nothing, Notes, build, lambda row, context, pins: here.operations))


def tap(here: Lab, *script: Any) -> None:
    here.op("tap", Effect.ONCE, *script, spends=("taps",), charge=lambda result: {"taps": 1})


async def test_a_child_runs_in_what_its_parent_has_left_and_gives_back_the_rest(lab: Make) -> None:
    here = lab(Step("A", calls("tap", "child", "tap")))
    tap(here)
    family(here, Step("C", calls("tap", "tap")), limits={"taps": 50, "steps": 7})
    state = await here.start(taps=5, time_s=100)
    child = here.store.runs(parent=here.id)[0]
    assert child.limits == {"taps": 4, "steps": 7, "time_s": 100, "visits": 140}
    assert (state.status, state.counters["taps"]) == (Status.COMPLETE, 4)
    replayed = await here.identical()
    assert [each.run_id for each in replayed.children] == [child.id]


async def test_a_child_that_uses_up_its_parents_rest_stops_and_so_does_the_parent(lab: Make) -> None:
    here = lab(Step("A", calls("tap", "child", "tap")))
    tap(here)
    family(here, Step("C", calls("tap", "tap")))
    state = await here.start(taps=2)
    assert (state.stop_reason, state.counters["taps"], here.names()) == ("budget:taps", 2, ["tap", "tap"])
    assert here.store.runs(parent=here.id)[0].stop_reason == "budget:taps"
    await here.identical()


async def test_children_at_once_do_not_reserve_the_same_rest(lab: Make) -> None:
    async def body(visit: Visit) -> Any:
        async with asyncio.TaskGroup() as group:
            group.create_task(visit.call("child", 1, name="one"))
            group.create_task(visit.call("child", 2, name="two"))

    here = lab(Step("A", body))
    tap(here, lambda args, scope: asyncio.sleep(0.01))
    family(here, Step("C", calls("tap")), limits={"taps": 3})
    await here.start(taps=5)
    assert sorted(row.limits["taps"] for row in here.store.runs(parent=here.id)) == [2, 3]


async def test_a_child_is_resumed_under_the_same_id(lab: Make) -> None:
    here = lab(Step("A", calls("child")))
    here.op("slow", Effect.READ, hang, "fine")
    here.op("send", Effect.ONCE)
    family(here, Step("C", calls("send", "slow")))
    task = asyncio.create_task(here.start())
    await until(lambda: here.names() == ["send", "slow"])
    task.cancel()
    await asyncio.wait([task])
    here.id = next(row.id for row in here.store.runs() if row.parent is None)
    assert (await here.resume()).status is Status.COMPLETE
    assert len(here.store.runs(parent=here.id)) == 1
    assert here.names() == ["send", "slow", "slow"]
    await here.identical()


@pytest.mark.parametrize("through", ["parent", "child"])
async def test_a_childs_question_is_its_parents_and_can_be_answered_through_either(lab: Make, through: str) -> None:
    here = lab(Step("A", calls("look", "child")))
    here.op("look")
    family(here, Step("C", asks()))
    assert (await here.start()).status is Status.WAITING
    child = here.store.runs(parent=here.id)[0]
    assert (here.row().question, child.question, child.status) == ("Which?", "Which?", "waiting_for_user")
    await here.runs.answer(here.id if through == "parent" else child.id, "this")
    with pytest.raises(UsageError, match="answered already"):
        await here.runs.answer(here.id, "that")
    state = await here.resume()
    assert state.data.lines[0][1]["lines"] == ["this"]
    assert here.names() == ["look"]
    await here.identical()


async def test_a_parent_goes_on_where_its_child_was_resumed_on_its_own(lab: Make) -> None:
    here = lab(Step("A", calls("child")))
    family(here, Step("C", asks()))
    await here.start()
    child = here.store.runs(parent=here.id)[0].id
    await here.runs.answer(child, "this")
    await here.runs.resume(child)
    assert (await here.resume()).data.lines[0][0]["lines"] == ["this"]
    await here.identical()


async def test_a_childs_deadline_is_seen_through_its_parent(lab: Make) -> None:
    here = lab(Step("A", calls("child")))
    family(here, Step("C", asks(deadline_s=60, on_timeout="never mind")))
    await here.start()
    here.clock.advance(61)
    assert (await here.resume()).data.lines[0][0]["lines"] == ["never mind"]
    await here.identical()


async def test_cancelling_a_parent_leaves_its_child_interrupted(lab: Make) -> None:
    here = lab(Step("A", calls("child")))
    here.op("slow", Effect.READ, hang)
    family(here, Step("C", calls("slow")))
    task = asyncio.create_task(here.start())
    await until(lambda: here.names() == ["slow"])
    here.id = next(row.id for row in here.store.runs() if row.parent is None)
    await here.runs.cancel(here.id)
    state: RunState = await task
    child = here.store.runs(parent=here.id)[0]
    assert (state.stop_reason, child.status) == ("user_cancelled", "stopped")
    assert here.store.events(child.id)[-1].kind == events.RUN_INTERRUPTED
    await here.identical()
