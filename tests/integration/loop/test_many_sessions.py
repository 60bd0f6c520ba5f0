"""Many sessions at once: in one process, in several on one store, and all at their limits in the same moment."""

from __future__ import annotations

import asyncio
from pathlib import Path

from loop_lab import gateway_in, options, script
from operator_lab import Operator

from gateway.loop.state import Limits

NINE = 9
NUMBERED = 'cat > /dev/null\necho "$ECHELON_ITERATION" >> numbers\n'
# Its first iteration goes on once all nine have come there.
TOGETHER = f"""{NUMBERED}
[ "$ECHELON_ITERATION" = 1 ] || exit 0
: > "../at/$$"
while [ "$(ls ../at | wc -l)" -lt {NINE} ]; do sleep 0.02; done
"""


def reached(iteration: int) -> tuple[str, ...]:
    return (f"command:grep -qx {iteration} numbers",)


def workspaces(tmp_path: Path, count: int) -> list[Path]:
    found = [tmp_path / f"work{number}" for number in range(count)]
    for each in found:
        each.mkdir()
    return found


def numbers(place: Path) -> list[str]:
    return (place / "numbers").read_text().split()


async def test_nine_sessions_in_one_process_each_end_as_they_should(tmp_path: Path) -> None:
    places = workspaces(tmp_path, NINE)
    (tmp_path / "at").mkdir()
    together = script(tmp_path / "agent.sh", TOGETHER)
    async with gateway_in(tmp_path / "home", places[0]) as gateway:
        sessions = await asyncio.gather(
            *(
                gateway.loops.start(
                    f"Count to {1 + number % 4}",
                    exits=reached(1 + number % 4),
                    options=options(together, checkpoint_every=2),
                    limits=Limits(iterations=3),
                    workspace=place,
                )
                for number, place in enumerate(places)
            )
        )
        for number, (session, place) in enumerate(zip(sessions, places, strict=True)):
            wanted = 1 + number % 4
            assert session.status == ("completed" if wanted <= 3 else "iteration_limit_reached")
            assert numbers(place) == [str(each) for each in range(1, min(wanted, 3) + 1)]
            assert session.agent == str(place)
            assert not any(each.damaged for each in gateway.loops.checkpoints(session.run_id).all())
            replayed = await gateway.replay(session.run_id)
            assert [*replayed.differing, *(each for one in replayed.children for each in one.differing)] == []


async def test_sessions_that_reach_their_limits_in_the_same_moment_end_and_are_extended_each_by_itself(
    tmp_path: Path,
) -> None:
    places = workspaces(tmp_path, NINE)
    (tmp_path / "at").mkdir()
    together = options(script(tmp_path / "agent.sh", TOGETHER))
    async with gateway_in(tmp_path / "home", places[0]) as gateway:
        given = {"exits": reached(2), "options": together, "limits": Limits(iterations=1)}
        sessions = await asyncio.gather(*(gateway.loops.start("Go", workspace=each, **given) for each in places))
        assert {(each.status, each.state.iteration) for each in sessions} == {("iteration_limit_reached", 1)}
        for number, each in enumerate(sessions):
            if number % 2:
                await gateway.loops.extend(each.run_id, iterations=5)
        again = await asyncio.gather(*(gateway.loops.resume(each.run_id) for each in sessions[1::2]))
        assert {(each.status, each.state.iteration) for each in again} == {("completed", 2)}
        now = [gateway.loops.session(each.run_id).state.limits.iterations for each in sessions]
        assert now == [5 if number % 2 else 1 for number in range(NINE)]


async def test_four_processes_work_on_sessions_in_one_store(tmp_path: Path) -> None:
    places = workspaces(tmp_path, 4)
    agent = options(script(tmp_path / "agent.sh", NUMBERED), checkpoint_every=1).model_dump(mode="json")
    start = {"task": "Go", "exits": reached(4), "options": agent}
    processes = await asyncio.gather(*(Operator(tmp_path / "home", each, ("start", start)).ready() for each in places))
    said = await asyncio.gather(*(each.begin().said() for each in processes))
    assert said == [["completed"]] * 4
    async with gateway_in(tmp_path / "home", places[0]) as gateway:
        sessions = gateway.loops.all()
        assert {each.agent for each in sessions} == {str(each) for each in places}
        for each in sessions:
            assert numbers(each.workspace) == ["1", "2", "3", "4"]
            assert [one.damaged for one in gateway.loops.checkpoints(each.run_id).all()] == [""] * 4
            replayed = await gateway.replay(each.run_id)
            assert [*replayed.differing, *(one for child in replayed.children for one in child.differing)] == []
