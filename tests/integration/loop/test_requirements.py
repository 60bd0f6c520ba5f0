"""What the specification asks of autonomous sessions, where neither its scenarios (`test_story_*.py`) nor the tests of
what goes wrong (`test_session_*.py`, `test_many_sessions.py`, `test_condition_*.py`) show it. How
long things take is measured by `make bench`; here it is the order of events that shows what is not waited for.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from loop_lab import exists, fake, gateway_in, options, script, until
from stage import TASK, Deed, Stage, Worker, echelon, makes, staged

from gateway import Gateway
from gateway.engine.events import CALL_INTENDED
from gateway.errors import AgentBusy, UsageError
from gateway.loop.state import ConditionSetting, Limits

AGENTS = 9


@asynccontextmanager
async def agents(place: Path, home: Path, count: int) -> AsyncIterator[list[tuple[Gateway, Worker]]]:
    """So many agents in one process and on one store, each with a workspace of its own."""
    async with AsyncExitStack() as opened:
        found = []
        for number in range(count):
            workspace = place / f"work-{number}"
            workspace.mkdir()
            gateway, worker = await opened.enter_async_context(gateway_in(home, workspace)), Worker(workspace)
            gateway.runs.register(worker.type())
            found.append((gateway, worker))
        yield found


def operations(stage: Stage) -> list[str]:
    """What the session has called, in order."""
    found = stage.gateway.runs.store.events(stage.run_id)
    return [each.data["op"] for each in found if each.kind == CALL_INTENDED]


def notices(stage: Stage) -> list[str]:
    return [each.text for each in stage.report().activity if each.kind == "warning"]


def test_the_exit_conditions_are_evaluated_after_each_iteration_and_each_result_is_kept(stage: Stage) -> None:
    """FR-003; before the first iteration, too."""
    stage.judged_by(all_tests_pass=exists("tested"))
    stage.worker.deeds[3] = makes("tested")
    stage.begin()
    session = stage.to_the_end()
    kept = [json.loads(each.read_text()) for each in sorted((session.folder / "evaluations").iterdir())]
    assert [(each["iteration"], each["results"][0]["met"]) for each in kept] == [
        (0, False),
        (1, False),
        (2, False),
        (3, True),
    ]


def test_a_checkpoint_is_made_by_time_in_the_middle_of_an_iteration(stage: Stage) -> None:
    """FR-005, SC-003"""
    stage.options = stage.options.with_(checkpoint_s=0.3)
    stage.worker.hold(1)
    stage.begin()
    stage.do(until(lambda: stage.checkpoints.all()))
    document = stage.checkpoints.load(1)
    assert (document.why, document.iteration) == ("time", 0)
    assert stage.session.state.iterations == () and stage.worker.begun == [1]


def test_a_checkpoint_that_is_due_is_made_before_the_next_iteration_begins(stage: Stage) -> None:
    """SC-003"""
    stage.options = stage.options.with_(checkpoint_every=2)
    stage.limits = Limits(iterations=3)
    stage.begin()
    stage.to_the_end()
    called = [each for each in operations(stage) if each in ("loop.iterate", "loop.evaluate", "loop.checkpoint")]
    assert called == ["loop.evaluate", *["loop.iterate", "loop.evaluate"] * 2, "loop.checkpoint"] + [
        "loop.iterate",
        "loop.evaluate",
        "loop.checkpoint",
    ]


def test_an_iteration_is_evaluated_as_soon_as_its_changes_are_known(stage: Stage) -> None:
    """SC-002: nothing that takes its time lies between the end of an iteration and its evaluation."""
    stage.limits = Limits(iterations=1)
    stage.begin()
    stage.to_the_end()
    called = operations(stage)
    ended = called.index("loop.iterate")
    assert called[ended + 1 : ended + 4] == ["loop.compare", "loop.signals", "loop.evaluate"]


def test_a_session_is_executing_as_soon_as_it_is_written_down(stage: Stage) -> None:
    """SC-001: before anything in the workspace is looked at or evaluated."""
    stage.judged_by(all_tests_pass="sleep 600")
    stage.begin()
    assert stage.begun is not None and stage.begun.state.evaluation is None
    assert (stage.begun.status, stage.session.status, stage.is_idle()) == ("executing", "executing", False)


def test_a_session_that_has_ended_leaves_its_agent_to_the_next(stage: Stage) -> None:
    """FR-001"""
    stage.limits = Limits(iterations=1)
    for _ in range(2):
        stage.begin()
        assert stage.to_the_end().status == "iteration_limit_reached"
    assert len(stage.gateway.loops.all()) == 2


@pytest.mark.parametrize("ending", ["completed", "iteration_limit_reached", "failed", "stopped"])
def test_begin_and_end_are_recorded_however_a_session_ends(stage: Stage, ending: str) -> None:
    """FR-014, SC-005"""
    stage.judged_by(all_tests_pass=exists("tested"))
    stage.limits = Limits(iterations=1)
    stage.worker.deeds[1] = makes(*["tested"] if ending == "completed" else [])
    stage.worker.hold(1)
    stage.begin(agent="command:./missing" if ending == "failed" else None)
    if ending == "stopped":
        stage.until_begun(1)
        stage.do(stage.gateway.loops.stop(stage.run_id))
    stage.worker.let_go()
    session = stage.to_the_end()
    assert session.status == ending and 0 < session.started <= session.ended
    [listed] = json.loads(echelon("loop", "list", "--json")[1])
    assert (listed["status"], listed["started"], listed["ended"]) == (ending, session.started, session.ended)
    document = (session.folder / "session.md").read_text()
    assert 'started: "20' in document and 'ended: "20' in document
    assert session.state.checkpoints[-1].why == "end"


def _crash(workspace: Path) -> None:
    raise RuntimeError("the agent crashed")


DEEDS = {
    "nothing": lambda workspace: (workspace / "progress.txt").unlink(),
    "works": lambda workspace: None,
    "crashes": _crash,
    "tested": makes("tested"),
}


@given(
    does=st.lists(st.sampled_from(["nothing", "works", "crashes", "tested"]), min_size=6, max_size=6),
    limit=st.integers(1, 6),
)
@example(does=["nothing", "crashes", "crashes", "crashes", "works", "tested"], limit=6)
@example(does=["crashes", "nothing", "nothing", "nothing", "nothing", "tested"], limit=6)
@settings(max_examples=10)
def test_whatever_an_agent_does_its_session_ends_and_says_why(
    tmp_path_factory: pytest.TempPathFactory, does: list[str], limit: int
) -> None:
    """SC-005"""
    place = tmp_path_factory.mktemp("session")
    with staged(place, place / "home") as stage:
        stage.worker.deeds = {number: DEEDS[deed] for number, deed in enumerate(does, 1)}
        stage.judged_by(all_tests_pass=exists("tested"))
        stage.limits = Limits(iterations=limit)
        stage.begin()
        session = stage.to_the_end()
        assert (session.stop_reason, session.state.iteration) == expected(does, limit, stage.options.patience)
        assert session.ended >= session.started > 0 and stage.is_idle()


def expected(does: list[str], limit: int, patience: int) -> tuple[str, int]:
    """How the session ends, and after which iteration."""
    failed = still = 0
    is_there = False  # what the worker writes in each iteration, unless it does nothing
    for number, deed in enumerate(does, 1):
        failed = failed + 1 if deed == "crashes" else 0
        still = still + 1 if deed == "nothing" and not is_there else 0
        is_there = deed != "nothing"
        if deed == "tested":
            return "success", number
        if number == limit:
            return "budget:iterations", number
        if failed == patience:
            return "error:agent", number
        if still == patience:
            return "no_progress", number
    raise AssertionError("the limit is not beyond what it does")


async def test_nine_agents_execute_at_once_and_each_is_seen_as_it_is(tmp_path: Path, echelon_home: Path) -> None:
    """SC-007, SC-009: all are in their second iteration at one time."""
    async with agents(tmp_path, echelon_home, AGENTS) as found:
        for at, (_, worker) in enumerate(found):
            worker.hold(2)
            worker.deeds[2 + at % 2] = makes("tested")
        settings = fake(("all_tests_pass", exists("tested")))
        begun: list[str] = []
        working = [
            asyncio.create_task(
                gateway.loops.start(
                    TASK,
                    exits=("all_tests_pass",),
                    options=options("turn", conditions=settings),
                    agent=worker,
                    on_begin=lambda session: begun.append(session.run_id),
                )
            )
            for gateway, worker in found
        ]
        await until(lambda: all(worker.begun == [1, 2] for _, worker in found), patience_s=120)
        seen = [found[0][0].loops.report(each) for each in begun]
        assert {(each.status, each.iteration, each.met, each.of) for each in seen} == {("executing", 1, 0, 1)}
        assert len({each.agent for each in seen}) == AGENTS
        for _, worker in found:
            worker.let_go()
        ended = await asyncio.gather(*working)
        assert [(each.status, each.state.iteration) for each in ended] == [
            ("completed", 2 + at % 2) for at in range(AGENTS)
        ]


def test_an_unrecoverable_error_ends_the_session_at_once_and_it_can_be_resumed_when_the_cause_is_gone(
    stage: Stage,
) -> None:
    """Edge case: unrecoverable error."""
    stage.judged_by(all_tests_pass=exists("tested"))
    stage.begin(agent="command:./mend.sh")
    session = stage.to_the_end()
    assert (session.status, session.state.iteration) == ("failed", 1)
    assert "mend.sh cannot be started" in session.error and "name a program that is there" in session.hint
    assert len(session.state.checkpoints) == 1 and stage.is_idle()
    script(stage.workspace / "mend.sh", "touch tested")
    again = stage.do(stage.gateway.loops.resume(stage.run_id))
    assert (again.status, again.error, again.state.iteration) == ("completed", "", 2)


def test_a_condition_that_does_not_end_in_its_time_is_not_met_and_says_so(stage: Stage) -> None:
    """Edge case: exit condition evaluation times out. The others are evaluated all the same."""
    stage.exits = ("all_tests_pass", "linting_clean")
    hangs = ConditionSetting(command="sleep 600", timeout_s=0.3)
    stage.options = stage.options.with_(
        conditions={"all_tests_pass": hangs, **fake(("linting_clean", exists("progress.txt")))}
    )
    stage.limits = Limits(iterations=1)
    stage.begin()
    session = stage.to_the_end()
    assert session.status == "iteration_limit_reached" and session.state.evaluation is not None
    hung, linted = session.state.evaluation.results
    assert not hung.met and "0.3 s" in hung.problem and (linted.met, linted.problem) == (True, "")


def test_exit_conditions_that_are_changed_meanwhile_count_from_the_next_evaluation_on(stage: Stage) -> None:
    """Edge case: an operator modifies exit conditions during execution."""
    stage.judged_by(all_tests_pass=exists("tested"), linting_clean=exists("linted"), build_succeeds=exists("built"))
    stage.exits = ("all_tests_pass", "linting_clean")
    stage.worker.deeds |= {1: makes("tested"), 3: makes("built")}
    stage.worker.hold(2)
    stage.begin()
    stage.until_begun(2)
    loops = stage.gateway.loops
    with pytest.raises(UsageError, match="there is no exit condition 'linting_cleen'"):
        stage.do(loops.change_exits(stage.run_id, add=("linting_cleen",)))
    code, out = echelon("loop", "exits", stage.run_id, "--add", "build_succeeds", "--remove", "linting_clean", "--json")
    assert code == 0 and json.loads(out)["exits"] == ["all_tests_pass", "build_succeeds"]
    assert stage.session.exits == ("all_tests_pass", "linting_clean")  # it has not heard of that yet
    stage.worker.let_go()
    session = stage.to_the_end()
    assert (session.status, session.state.iteration) == ("completed", 3)
    assert session.exits == ("all_tests_pass", "build_succeeds")
    assert [each.text for each in session.state.changes] == [
        "exit condition build_succeeds added; exit condition linting_clean removed"
    ]


def chooses(word: str) -> Deed:
    return lambda workspace: (workspace / "choice").write_text(word)


def test_conditions_that_cannot_hold_together_are_reported_as_fighting(stage: Stage) -> None:
    """Edge case: conflicting exit conditions. The session ends at its limit."""
    stage.judged_by(all_tests_pass="grep -q tests choice", build_succeeds="grep -q build choice")
    stage.worker.deeds = {number: chooses("tests" if number % 2 else "build") for number in range(1, 7)}
    stage.limits = Limits(iterations=6)
    stage.begin()
    session = stage.to_the_end()
    assert (session.status, stage.report().met) == ("iteration_limit_reached", 1)
    assert [(each.condition, each.times, each.against) for each in stage.report().fights] == [
        ("all_tests_pass", 3, ("build_succeeds",)),
        ("build_succeeds", 2, ("all_tests_pass",)),
    ]
    text = "all_tests_pass was met and lost 2 times when build_succeeds came to be met"
    assert text in notices(stage)
    assert "## Conditions that fight" in (session.folder / "session.md").read_text()


def test_another_agent_of_the_same_name_is_the_same_agent(stage: Stage) -> None:
    """FR-013: wherever it is to work."""
    stage.worker.hold(1)
    stage.begin(name="mender")
    stage.until_begun(1)
    loops = stage.gateway.loops
    with pytest.raises(AgentBusy, match="agent mender is already executing"):
        stage.do(loops.start("Something else", agent=stage.worker, name="mender"))
