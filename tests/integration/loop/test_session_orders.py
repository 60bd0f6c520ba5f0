"""What operators tell a session at moments that do not suit it: it rests, asks, evaluates, or has ended."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest
from freezing import freeze
from loop_lab import gateway_in, options, script, until
from operator_lab import Operator
from pydantic import BaseModel

from gateway import Gateway
from gateway.engine.graph import Graph
from gateway.engine.journal import Visit
from gateway.engine.nodes import Node
from gateway.engine.ports import SystemClock
from gateway.engine.runs import GraphType
from gateway.engine.state import RunState
from gateway.errors import AgentBusy, CheckpointDamaged, UsageError
from gateway.loop.agents.agent import Assignment, Told, ended
from gateway.loop.checkpoints import Listed
from gateway.loop.session import Session
from gateway.loop.signals import PAUSE, STOP, heard
from gateway.loop.state import Limits, LoopOptions, LoopState
from gateway.tools.child import Caller, ChildRun

NUMBERED = 'cat > /dev/null\necho "$ECHELON_ITERATION" >> numbers\n'
HELD = NUMBERED + "while [ ! -e ../go ]; do sleep 0.02; done\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (workspace := tmp_path / "work").mkdir()
    return workspace


def agent(tmp_path: Path, text: str = NUMBERED, **more: Any) -> LoopOptions:
    return options(script(tmp_path / "agent.sh", text), **more)


def reached(iteration: int) -> tuple[str, ...]:
    return (f"command:grep -qx {iteration} numbers",)


def numbers(place: Path) -> list[str]:
    return (place / "numbers").read_text().split() if (place / "numbers").exists() else []


async def check_replay(gateway: Gateway, session: Session) -> None:
    replayed = await gateway.replay(session.run_id)
    assert [*replayed.differing, *(each for one in replayed.children for each in one.differing)] == []


# an agent whose second iteration asks


class Given(BaseModel):
    iteration: int
    workspace: str


class Colour(BaseModel):
    said: str = ""


class Ask(Node[Colour, Given, Given, str]):
    name = "Ask"

    def build_input(self, state: Colour, context: Given) -> Given:
        return context

    async def execute(self, given: Given, visit: Visit) -> str:
        said = await visit.ask("colour", "Which colour?") if given.iteration == 2 else "none"
        with (Path(given.workspace) / "numbers").open("a") as file:
            file.write(f"{given.iteration}\n")
        return said

    def apply_output(self, state: Colour, output: str) -> Colour:
        return Colour(said=output)


class Asker:
    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace

    async def pins(self) -> dict[str, bytes]:
        return {}

    async def begin(self, given: Assignment, caller: Caller) -> ChildRun:
        context = Given(iteration=given.iteration, workspace=str(self._workspace))
        return ChildRun("asking", context, Colour(), title="asks", limits={}, pins={})

    def told(self, state: RunState, hint: str) -> Told:
        return ended(state, hint, state.data.said)  # type: ignore[attr-defined]


async def asked(gateway: Gateway, place: Path) -> Session:
    """A session that waits for an answer, with a checkpoint after its first iteration."""
    graph = Graph("asking", [Ask()], start="Ask")
    gateway.runs.register(GraphType("asking", Given, Colour, lambda *_: graph, lambda *_: {}))
    one = LoopOptions(checkpoint_every=1)
    session = await gateway.loops.start("Go", exits=reached(3), options=one, agent=Asker(place))
    assert session.status == "waiting_for_user" and session.waiting is not None
    assert session.waiting.question == "Which colour?"
    return session


async def test_a_session_goes_on_with_the_answer_to_what_its_agent_asked(tmp_path: Path, place: Path) -> None:
    async with gateway_in(tmp_path / "home", place) as gateway:
        session = await asked(gateway, place)
        assert (await gateway.loops.resume("last")).status == "waiting_for_user"  # it has no answer yet
        await gateway.runs.answer(session.run_id, "blue")
        session = await gateway.loops.resume("last")
        assert (session.status, numbers(place)) == ("completed", ["1", "2", "3"])
        assert session.state.iterations[1].summary == "blue"
        await check_replay(gateway, session)


async def test_a_session_that_waits_for_an_answer_is_stopped_with_what_asked(tmp_path: Path, place: Path) -> None:
    async with gateway_in(tmp_path / "home", place) as gateway:
        await asked(gateway, place)
        session = await gateway.loops.stop("last")
        assert (session.status, session.state.iteration, numbers(place)) == ("stopped", 1, ["1"])
        assert [each.why for each in session.state.checkpoints] == ["interval", "end"]
        assert gateway.runs.store.runs(parent=session.run_id)[0].status == "stopped"
        await check_replay(gateway, session)


async def test_a_session_that_waits_for_an_answer_can_go_back_instead(tmp_path: Path, place: Path) -> None:
    async with gateway_in(tmp_path / "home", place) as gateway:
        first = await asked(gateway, place)
        session = await gateway.loops.resume("last", from_checkpoint=1)
        assert session.status == "waiting_for_user" and session.waiting is not None and first.waiting is not None
        assert session.waiting.run_id != first.waiting.run_id  # it has come there again
        await gateway.runs.answer(session.run_id, "red")
        session = await gateway.loops.resume("last")
        assert (session.status, session.state.iteration, numbers(place)) == ("completed", 3, ["1", "2", "3"])
        await check_replay(gateway, session)


async def test_a_question_of_an_agent_that_was_paused_before_is_no_pause(tmp_path: Path, place: Path) -> None:
    graph = Graph("asking", [Ask()], start="Ask")
    async with gateway_in(tmp_path / "home", place) as gateway:
        gateway.runs.register(GraphType("asking", Given, Colour, lambda *_: graph, lambda *_: {}))

        def pause(session: Session) -> None:
            gateway.runs.store._quick.execute(
                "INSERT INTO signals VALUES (?, 1, 'pause', 0, '{}')", (session.run_id,)
            )  # heard before anything else

        first = await gateway.loops.start("Go", exits=reached(3), agent=Asker(place), on_begin=pause)
        assert (first.status, numbers(place)) == ("paused", [])
        assert (await gateway.loops.resume("last")).status == "waiting_for_user"


# pause, stop, and going on


async def paused(gateway: Gateway, place: Path, one: LoopOptions, iteration: int = 3) -> Session:
    """A session that rests after its first iteration, whose agent is `HELD`."""
    working = asyncio.create_task(gateway.loops.start("Go", exits=reached(iteration), options=one))
    await until(lambda: numbers(place) == ["1"])
    await gateway.loops.pause("last")
    (place.parent / "go").touch()
    session = await working
    assert (session.status, numbers(place)) == ("paused", ["1"])
    return session


async def test_a_session_that_was_paused_in_an_iteration_goes_on_from_another_process(
    tmp_path: Path, place: Path
) -> None:
    home = tmp_path / "home"
    async with gateway_in(home, place) as gateway:
        await paused(gateway, place, agent(tmp_path, HELD))
        with pytest.raises(UsageError, match="is paused"):
            await gateway.loops.pause("last")
        other = (await Operator(home, place, ("resume", {})).ready()).begin()
        assert await other.said() == ["completed"]
        session = gateway.loops.session("last")
        assert (session.state.iteration, numbers(place)) == (3, ["1", "2", "3"])
        await check_replay(gateway, session)


async def test_a_paused_session_is_stopped_once_by_two_who_want_it_at_once(tmp_path: Path, place: Path) -> None:
    home = tmp_path / "home"
    async with gateway_in(home, place) as gateway, gateway_in(home, place) as another:
        await paused(gateway, place, agent(tmp_path, HELD))
        await asyncio.gather(gateway.loops.stop("last"), another.loops.stop("last"))
        session = gateway.loops.session("last")
        assert (session.status, session.stop_reason, numbers(place)) == ("stopped", "user_cancelled", ["1"])
        events = gateway.runs.store.events(session.run_id)
        kinds = [each.kind for each in events if each.data.get("op") == "loop.notify"]
        assert kinds == ["call.intended", "call.ended"]
        assert (await another.loops.stop("last")).status == "stopped"
        assert gateway.runs.store.last_seq(session.run_id) == events[-1].seq
        again = await gateway.loops.resume("last")
        assert (again.status, numbers(place)) == ("completed", ["1", "2", "3"])
        await check_replay(gateway, session)


async def test_a_session_is_not_stopped_while_its_agent_executes_another(tmp_path: Path, place: Path) -> None:
    async with gateway_in(tmp_path / "home", place) as gateway:
        first = await paused(gateway, place, agent(tmp_path, HELD))
        (tmp_path / "go").unlink()
        working = asyncio.create_task(gateway.loops.start("Go", exits=reached(1), options=agent(tmp_path, HELD)))
        await until(lambda: numbers(place) == ["1", "1"])
        with pytest.raises(AgentBusy, match=gateway.loops.session("last").run_id):
            await gateway.loops.stop(first.run_id)
        (tmp_path / "go").touch()
        assert (await working).status == "completed"
        assert gateway.loops.session(first.run_id).status == "paused"
        assert (await gateway.loops.stop(first.run_id)).status == "stopped"


@pytest.mark.parametrize("orders", [("pause", "stop"), ("stop", "pause")])
async def test_of_pause_and_stop_at_once_stop_counts(tmp_path: Path, place: Path, orders: tuple[str, str]) -> None:
    async with gateway_in(tmp_path / "home", place) as gateway:
        working = asyncio.create_task(gateway.loops.start("Go", exits=reached(3), options=agent(tmp_path, HELD)))
        await until(lambda: numbers(place) == ["1"])
        await asyncio.gather(*(getattr(gateway.loops, each)("last") for each in orders))
        session = await working
        assert (session.status, session.state.iteration) == ("stopped", 0)
        (tmp_path / "go").touch()
        assert (await gateway.loops.resume("last")).status == "completed"  # and does not rest before
        await check_replay(gateway, gateway.loops.session("last"))


def test_a_pause_that_comes_after_a_stop_is_not_heard() -> None:
    stopped = heard(LoopState(exits=(), limits=Limits()), STOP, {}, 1.0)
    assert heard(stopped, PAUSE, {}, 2.0) == stopped


async def test_a_stop_cuts_off_an_evaluation(tmp_path: Path, place: Path) -> None:
    script(tmp_path / "condition.sh", "echo $$ > ../judging; [ -e ../once ] && exec sleep 1000; touch ../once; false")
    async with gateway_in(tmp_path / "home", place) as gateway:
        exits = [f"command:{tmp_path}/condition.sh"]
        working = asyncio.create_task(gateway.loops.start("Go", exits=exits, options=agent(tmp_path)))
        await until(lambda: numbers(place) == ["1"] and gateway.loops.report("last").doing.startswith("evaluat"))
        await gateway.loops.stop("last")
        session = await working
        assert (session.status, session.state.iteration) == ("stopped", 1)
        assert session.state.evaluation is not None and session.state.evaluation.iteration == 0
        await check_replay(gateway, session)


async def test_a_session_on_which_nobody_works_is_stopped_with_a_checkpoint(tmp_path: Path, place: Path) -> None:
    async with gateway_in(tmp_path / "home", place) as gateway:
        working = asyncio.create_task(gateway.loops.start("Go", exits=reached(3), options=agent(tmp_path, HELD)))
        await until(lambda: numbers(place) == ["1"])
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
        with pytest.raises(UsageError, match="is interrupted"):
            await gateway.loops.pause("last")
        session = await gateway.loops.stop("last")
        assert (session.status, session.state.iteration, numbers(place)) == ("stopped", 0, ["1"])
        assert [each.why for each in session.state.checkpoints] == ["end"]
        await check_replay(gateway, session)


async def test_a_pause_that_came_before_an_interruption_does_not_hold_who_goes_on(tmp_path: Path, place: Path) -> None:
    async with gateway_in(tmp_path / "home", place) as gateway:
        working = asyncio.create_task(gateway.loops.start("Go", exits=reached(2), options=agent(tmp_path, HELD)))
        await until(lambda: numbers(place) == ["1"])
        await gateway.loops.pause("last")
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
        (tmp_path / "go").touch()
        assert (await gateway.loops.resume("last")).status == "completed"


# checkpoints


async def test_going_back_leaves_the_workspace_alone_unless_that_is_asked_for(tmp_path: Path, place: Path) -> None:
    async with gateway_in(tmp_path / "home", place) as gateway:
        one = agent(tmp_path, checkpoint_every=1)
        session = await gateway.loops.start("Go", exits=reached(9), options=one, limits=Limits(iterations=3))
        assert (session.status, len(session.state.checkpoints)) == ("iteration_limit_reached", 3)
        again = await gateway.loops.resume("last", from_checkpoint=2)
        assert (again.status, again.state.iteration) == ("iteration_limit_reached", 3)
        assert numbers(place) == ["1", "2", "3", "3"]
        (place / "extra").write_text("mine")
        again = await gateway.loops.resume("last", from_checkpoint=1, restore_workspace=True)
        assert (again.state.iteration, numbers(place)) == (3, ["1", "2", "3"])
        assert [each.read_text() for each in session.folder.rglob("aside/*/extra")] == ["mine"]
        assert [each.number for each in again.state.checkpoints] == list(range(1, len(again.state.checkpoints) + 1))
        assert not any(each.damaged for each in gateway.loops.checkpoints("last").all())
        await check_replay(gateway, again)


async def test_a_damaged_checkpoint_is_named_and_the_one_before_it_offered(tmp_path: Path, place: Path) -> None:
    async with gateway_in(tmp_path / "home", place) as gateway:
        one = agent(tmp_path, checkpoint_every=1)
        session = await gateway.loops.start("Go", exits=reached(9), options=one, limits=Limits(iterations=3))
        document = session.folder / "checkpoints" / "0002.json"
        document.write_bytes(document.read_bytes().replace(b'"iteration"', b'"iteratiom"', 1))
        seqs = gateway.runs.store.last_seq(session.run_id)
        with pytest.raises(CheckpointDamaged) as caught:
            await gateway.loops.resume("last", from_checkpoint=2)
        assert caught.value.before == 1 and "--from 1" in caught.value.hint
        assert gateway.runs.store.last_seq(session.run_id) == seqs and not gateway.runs.store.signals(session.run_id)
        again = await gateway.loops.resume("last", from_checkpoint=1)
        assert (again.status, again.state.iteration) == ("iteration_limit_reached", 3)


async def test_who_could_not_go_back_to_one_checkpoint_goes_back_to_another(tmp_path: Path, place: Path) -> None:
    """Damaged between the look and the leap."""
    async with gateway_in(tmp_path / "home", place) as gateway:
        one = agent(tmp_path, checkpoint_every=1)
        session = await gateway.loops.start("Go", exits=reached(9), options=one, limits=Limits(iterations=3))

        def damage(_: Session) -> None:
            (session.folder / "checkpoints" / "0002.json").unlink()

        broken = await gateway.loops.resume("last", from_checkpoint=2, on_begin=damage)
        assert broken.status == "failed" and "checkpoint 2" in broken.error and "--from 1" in broken.hint
        again = await gateway.loops.resume("last", from_checkpoint=1)
        assert (again.status, again.state.iteration, again.error) == ("iteration_limit_reached", 3, "")
        await check_replay(gateway, again)


async def test_a_session_keeps_its_conditions_where_it_goes_back_to_before_they_were_changed(
    tmp_path: Path, place: Path
) -> None:
    async with gateway_in(tmp_path / "home", place) as gateway:
        one = agent(tmp_path, checkpoint_every=1)
        await gateway.loops.start("Go", exits=reached(9), options=one, limits=Limits(iterations=2))
        await gateway.loops.change_exits("last", add=["command:test -e numbers"], remove=list(reached(9)))
        session = await gateway.loops.resume("last", from_checkpoint=1)
        assert session.exits == ("command:test -e numbers",)
        assert (session.status, session.state.iteration) == ("completed", 1)  # they hold: nothing is done before that


# conditions that change


async def test_a_condition_that_is_added_while_the_last_one_is_evaluated_is_evaluated_too(
    tmp_path: Path, place: Path
) -> None:
    script(tmp_path / "condition.sh", "[ -s numbers ] && while [ ! -e ../judge ]; do sleep 0.02; done; [ -s numbers ]")
    added = "command:grep -qx 2 numbers"
    async with gateway_in(tmp_path / "home", place) as gateway:
        exits = [f"command:{tmp_path}/condition.sh"]
        working = asyncio.create_task(gateway.loops.start("Go", exits=exits, options=agent(tmp_path)))
        await until(lambda: numbers(place) == ["1"] and gateway.loops.report("last").doing.startswith("evaluat"))
        assert await gateway.loops.change_exits("last", add=[added]) == (*exits, added)
        (tmp_path / "judge").touch()
        session = await working
        assert (session.status, session.state.iteration, session.exits) == ("completed", 2, (*exits, added))
        assert session.state.evaluation is not None and session.state.evaluation.met == 2
        await check_replay(gateway, session)


async def test_two_who_remove_each_others_last_condition_leave_one(tmp_path: Path, place: Path) -> None:
    async with gateway_in(tmp_path / "home", place) as gateway:
        one, both = agent(tmp_path), (*reached(3), "command:test -e never")
        session = await gateway.loops.start("Go", exits=both, options=one, limits=Limits(iterations=1))
        for each in both:  # as two do who both look before either has told
            await gateway.runs.signal(session.run_id, "exits", {"add": [], "remove": [each]})
        await gateway.loops.extend("last", iterations=5)
        session = await gateway.loops.resume("last")
        assert (session.status, session.exits) == ("iteration_limit_reached", ("command:test -e never",))


# sessions that have ended


async def test_a_session_without_progress_goes_on_once_something_is_different(tmp_path: Path, place: Path) -> None:
    async with gateway_in(tmp_path / "home", place) as gateway:
        one = agent(tmp_path, "true", patience=2)
        session = await gateway.loops.start("Go", exits=reached(4), options=one)
        assert (session.status, session.stop_reason, session.state.iteration) == ("stopped", "no_progress", 2)
        script(tmp_path / "agent.sh", NUMBERED)
        session = await gateway.loops.resume("last")
        assert (session.status, numbers(place)) == ("completed", ["3", "4"])
        await check_replay(gateway, session)


class Hurried(SystemClock):
    """In which an hour may pass at once."""

    ahead_s = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead_s


async def test_a_session_whose_time_is_up_ends_and_can_be_given_more(tmp_path: Path, place: Path) -> None:
    clock = Hurried()
    async with gateway_in(tmp_path / "home", place, clock=clock) as gateway:
        working = asyncio.create_task(
            gateway.loops.start(
                "Go", exits=reached(2), options=agent(tmp_path, HELD), limits=Limits(iterations=9, time_s=3600)
            )
        )
        await until(lambda: numbers(place) == ["1"])
        clock.ahead_s = 3600.0
        session = await working
        assert (session.status, session.stop_reason) == ("stopped", "budget:time_s")
        assert session.state.iterations[-1].outcome == "limited"
        with pytest.raises(UsageError, match="is reached"):
            await gateway.loops.resume("last")
        (tmp_path / "go").touch()
        await gateway.loops.extend("last", time_s=10_000)
        assert (await gateway.loops.resume("last")).status == "completed"


async def test_a_limit_that_is_extended_after_a_pause_was_asked_for_too_late_is_gone_on_with(
    tmp_path: Path, place: Path
) -> None:
    async with gateway_in(tmp_path / "home", place) as gateway:
        one = agent(tmp_path, HELD)
        working = asyncio.create_task(
            gateway.loops.start("Go", exits=reached(3), options=one, limits=Limits(iterations=1))
        )
        await until(lambda: numbers(place) == ["1"])
        await gateway.loops.pause("last")
        (tmp_path / "go").touch()
        assert (await working).status == "iteration_limit_reached"
        await gateway.loops.extend("last", iterations=5)
        assert (await gateway.loops.resume("last")).status == "completed"


# several operators at several terminals


async def test_of_two_who_extend_at_once_thirty_times_nobody_loses_anything(tmp_path: Path, place: Path) -> None:
    home = tmp_path / "home"
    async with gateway_in(home, place) as gateway:
        working = asyncio.create_task(gateway.loops.start("Go", exits=reached(2), options=agent(tmp_path, HELD)))
        await until(lambda: numbers(place) == ["1"])
        orders = [[("extend", {"iterations": 100 + 2 * each + odd}) for each in range(30)] for odd in (0, 1)]
        operators = await asyncio.gather(*(Operator(home, place, *each).ready() for each in orders))
        said = await asyncio.gather(*(each.begin().said() for each in operators))
        assert [len(each) for each in said] == [30, 30]
        (tmp_path / "go").touch()
        session = await working
        assert (session.status, session.state.limits.iterations) == ("completed", 159)
        asked = [each.data["iterations"] for each in gateway.runs.store.signals(session.run_id)]
        assert sorted(asked) == list(range(100, 160)) and len(session.state.changes) == 60
        await check_replay(gateway, session)


async def test_who_extends_while_another_stops_has_extended(tmp_path: Path, place: Path) -> None:
    home = tmp_path / "home"
    async with gateway_in(home, place) as gateway:
        working = asyncio.create_task(gateway.loops.start("Go", exits=reached(2), options=agent(tmp_path, HELD)))
        await until(lambda: numbers(place) == ["1"])
        orders = [[("extend", {"iterations": 60 + each}) for each in range(10)], [("stop", {})]]
        operators = await asyncio.gather(*(Operator(home, place, *each).ready() for each in orders))
        await asyncio.gather(*(each.begin().said() for each in operators))
        assert (await working).status == "stopped"
        (tmp_path / "go").touch()
        session = await gateway.loops.resume("last")
        assert (session.status, session.state.limits.iterations) == ("completed", 69)
        await check_replay(gateway, session)


# who may begin


async def test_an_agent_that_executes_is_not_begun_a_second_time_from_anywhere(tmp_path: Path, place: Path) -> None:
    home = tmp_path / "home"
    (tmp_path / "link").symlink_to(place)
    async with gateway_in(home, place) as gateway, gateway_in(home, tmp_path / "link") as linked:
        working = asyncio.create_task(gateway.loops.start("Go", exits=reached(1), options=agent(tmp_path, HELD)))
        await until(lambda: numbers(place) == ["1"])
        session = gateway.loops.session("last")
        for each in (gateway, linked):
            with pytest.raises(AgentBusy, match=f"already executing: session {session.run_id}, after iteration 0"):
                await each.loops.start("Go", exits=reached(1), options=agent(tmp_path, HELD))
        with pytest.raises(AgentBusy, match=session.run_id):
            await linked.loops.resume("last")
        start = {"task": "Go", "exits": reached(1), "options": agent(tmp_path, HELD).model_dump(mode="json")}
        other = await Operator(home, tmp_path / "link", ("start", start)).ready()
        (said,) = await other.begin().said()
        assert said.startswith("AgentBusy: ") and session.run_id in said
        (tmp_path / "go").touch()
        assert (await working).status == "completed"
        assert len(gateway.loops.all()) == 1


async def test_an_agent_whose_process_was_killed_is_free_and_its_watchers_see_it(tmp_path: Path, place: Path) -> None:
    home = tmp_path / "home"
    start = {"task": "Go", "exits": reached(2), "options": agent(tmp_path, HELD).model_dump(mode="json")}
    other = (await Operator(home, place, ("start", start)).ready()).begin()
    async with gateway_in(home, place) as gateway:
        await until(lambda: numbers(place) == ["1"])
        first = gateway.loops.session("last")

        async def watch() -> list[str]:
            return [each.status async for each in gateway.loops.watch(first.run_id)]

        watchers = [asyncio.create_task(watch()) for _ in range(5)]
        await asyncio.sleep(0)
        assert first.status == "executing"
        await other.killed()
        for each in await asyncio.wait_for(asyncio.gather(*watchers), 60):
            assert (each[0], each[-1]) == ("executing", "interrupted")
        (tmp_path / "go").touch()
        second = await gateway.loops.start("Go", exits=reached(1), options=agent(tmp_path))
        assert second.status == "completed"
        again = await gateway.loops.resume(first.run_id)
        assert (again.status, again.state.iteration) == ("completed", 2)


async def test_a_process_that_was_frozen_while_another_went_on_with_its_session_writes_nothing_more(
    tmp_path: Path, place: Path
) -> None:
    home = tmp_path / "home"
    one = agent(tmp_path, HELD, checkpoint_every=1)
    start = {"task": "Go", "exits": reached(2), "options": one.model_dump(mode="json")}
    frozen = (await Operator(home, place, ("start", start), term_s=0.5).ready()).begin()
    await until(lambda: numbers(place) == ["1"])
    freeze(frozen.process.pid)
    (tmp_path / "go").touch()
    said = [""]
    while said[-1] != "completed":
        assert said[-1] == "" or said[-1].startswith("AgentBusy: ")
        said = await (await Operator(home, place, ("resume", {}), term_s=0.5).ready()).begin().said()
    async with gateway_in(home, place) as gateway:
        session = gateway.loops.session("last")
        seqs = [gateway.runs.store.last_seq(each.id) for each in gateway.runs.store.runs()]
        shown = {path: path.read_bytes() for path in session.folder.rglob("*") if path.is_file()}
        frozen.process.send_signal(signal.SIGCONT)
        (last,) = await frozen.said()
        assert last.startswith("LeaseLost: ")
        assert seqs == [gateway.runs.store.last_seq(each.id) for each in gateway.runs.store.runs()]
        assert shown == {path: path.read_bytes() for path in session.folder.rglob("*") if path.is_file()}
        assert (gateway.loops.session("last").status, session.state.iteration) == ("completed", 2)
        await check_replay(gateway, session)


async def test_checkpoints_by_time_are_whole_where_the_process_was_killed_in_the_iteration(
    tmp_path: Path, place: Path
) -> None:
    home = tmp_path / "home"
    one = agent(tmp_path, HELD, checkpoint_s=0.2)
    start = {"task": "Go", "exits": reached(2), "options": one.model_dump(mode="json")}
    other = (await Operator(home, place, ("start", start)).ready()).begin()
    async with gateway_in(home, place) as gateway:
        await until(lambda: any(each.number == 2 for each in checkpoints(gateway)))
        await other.killed()
        assert not any(each.damaged for each in checkpoints(gateway))
        (tmp_path / "go").touch()
        session = await gateway.loops.resume("last")
        assert (session.status, session.state.iteration) == ("completed", 2)
        made = [each.number for each in session.state.checkpoints]
        assert made == list(range(1, len(made) + 1))
        assert not any(each.damaged for each in checkpoints(gateway))
        await check_replay(gateway, session)


def checkpoints(gateway: Gateway) -> list[Listed]:
    return gateway.loops.checkpoints("last").all() if gateway.loops.all() else []


async def test_a_watcher_that_is_cut_off_begins_again_with_how_things_are_then(tmp_path: Path, place: Path) -> None:
    async with gateway_in(tmp_path / "home", place) as gateway:
        working = asyncio.create_task(gateway.loops.start("Go", exits=reached(4), options=agent(tmp_path, HELD)))
        await until(lambda: numbers(place) == ["1"])
        async for each in gateway.loops.watch("last"):
            assert (each.status, each.iteration) == ("executing", 0)
            break

        async def watch() -> list[int]:
            return [each.iteration async for each in gateway.loops.watch("last")]

        cut = asyncio.create_task(watch())
        await asyncio.sleep(0)
        cut.cancel()
        many = [asyncio.create_task(watch()) for _ in range(20)]
        (tmp_path / "go").touch()
        assert (await working).status == "completed"
        for seen in await asyncio.gather(*many):
            assert seen == sorted(seen) and seen[-1] == 4
        assert [each.status async for each in gateway.loops.watch("last")] == ["completed"]
