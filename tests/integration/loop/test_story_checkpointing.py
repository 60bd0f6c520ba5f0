"""Story 2: the progress of a session is kept in checkpoints."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

from loop_lab import exists, script
from pytest_bdd import given, parsers, scenarios, then, when
from stage import TASK, Stage, makes

from gateway.loop.checkpoint_folder import CheckpointDocument
from gateway.loop.session import Session
from gateway.loop.state import LoopState

scenarios("features/checkpointing.feature")

DEFAULT = 5  # iterations between two checkpoints
NUMBERED = """#!/bin/sh
# Says which iteration it is; is in the 5th when it is killed; has done its work after the 6th.
echo $ECHELON_ITERATION >> iterations
if [ $ECHELON_ITERATION = 5 ] && [ -p ../begun ]; then rm iterations; echo > ../begun; sleep 600; fi
if [ $ECHELON_ITERATION = 6 ]; then touch done; fi
"""


@given("nothing is configured about checkpoints")
def _nothing_configured(stage: Stage) -> None:
    assert stage.gateway.settings.loop.checkpoint_every == DEFAULT == stage.options.checkpoint_every


@given(parsers.parse("a checkpoint is to be made every {every:d} iterations, and not as configured"))
def _every(stage: Stage, every: int) -> None:
    stage.configured["loop"] = {"checkpoint_every": 2}
    stage.options = stage.options.with_(checkpoint_every=every)


@given("a session with two exit conditions, of which one comes to be met")
def _two(stage: Stage) -> None:
    stage.judged_by(all_tests_pass=exists("tested"), build_succeeds=exists("built"))
    stage.options = stage.options.with_(checkpoint_every=2)
    stage.worker.deeds[2] = makes("tested")


@given(parsers.parse("a session whose process was killed in iteration {number:d}"))
def _killed(stage: Stage, number: int) -> None:
    agent = script(stage.place / "agent.sh", NUMBERED)
    os.mkfifo(stage.place / "begun")
    arguments = ["loop", "start", TASK, "--agent", agent, "--exit", "command:test -e done", "--no-input"]
    process = subprocess.Popen(
        [sys.executable, "-m", "echelon", *arguments, "--workspace", str(stage.workspace), "--checkpoint-every", "3"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        (stage.place / "begun").read_text()  # waits until the agent is in it
    finally:
        process.kill()
        assert process.wait() == -signal.SIGKILL
    [session] = stage.gateway.loops.all()
    stage.run_id = session.run_id
    assert (session.status, session.state.iteration) == ("interrupted", number - 1)


@given(parsers.parse("its checkpoint after iteration {number:d} is whole"))
def _whole(stage: Stage, number: int) -> None:
    [listed] = stage.checkpoints.all()
    assert (listed.number, listed.iteration, listed.damaged) == (1, number, "")


@when("as many iterations have ended as lie between two checkpoints")
def _default_elapsed(stage: Stage) -> None:
    _elapsed(stage, DEFAULT)


@when(parsers.parse("{count:d} iterations have ended"))
def _elapsed(stage: Stage, count: int) -> None:
    stage.worker.hold(count)
    stage.until_begun(count)
    assert stage.checkpoints.all() == []  # not before its time
    stage.worker.let_go()
    stage.worker.hold(count + 1)
    stage.until_begun(count + 1)


@when("the session makes a checkpoint")
def _makes(stage: Stage) -> None:
    stage.worker.hold(3)
    stage.until_begun(3)


@when("the operator resumes it from that checkpoint", target_fixture="resumed")
def _resumed(stage: Stage) -> Session:
    (stage.place / "begun").unlink()
    return stage.do(stage.gateway.loops.resume(stage.run_id, from_checkpoint=1))


@then("there is one checkpoint", target_fixture="checkpoint")
@then("the checkpoint has both exit conditions", target_fixture="checkpoint")
def _one(stage: Stage) -> CheckpointDocument:
    [record] = stage.session.state.checkpoints
    assert record.why == "interval"
    document = stage.checkpoints.load(record.number)
    assert tuple(document.conditions) == stage.exits
    return document


@then("it has the number of the iteration")
def _iteration(checkpoint: CheckpointDocument) -> None:
    assert checkpoint.iteration == DEFAULT


@then("it has the state of the agent, and its work")
def _state(stage: Stage, checkpoint: CheckpointDocument) -> None:
    state = LoopState.model_validate(checkpoint.state)
    assert [each.number for each in state.iterations] == [1, 2, 3, 4, 5]
    assert state == stage.session.state.with_(checkpoints=(), checkpointed=0, checkpointed_at=0.0, heard=0)
    stage.do(stage.checkpoints.restore_workspace(checkpoint.number))
    assert (stage.workspace / "progress.txt").read_text() == "5\n"


@then("it has the time at which it was made")
def _time(stage: Stage, checkpoint: CheckpointDocument) -> None:
    last = stage.session.state.iterations[-1]
    assert last.ended <= checkpoint.at <= time.time()


@then("it has one as met and one as not met")
def _met(stage: Stage, checkpoint: CheckpointDocument) -> None:
    assert checkpoint.conditions == {"all_tests_pass": True, "build_succeeds": False}
    assert [(each.met, each.of) for each in stage.checkpoints.all()] == [(1, 2)]


@then("the agent goes on from the state of the checkpoint")
def _from_it(resumed: Session) -> None:
    assert resumed.state.changes[-1].text == "gone back to checkpoint 1, iteration 3"
    assert [each.number for each in resumed.state.iterations] == [1, 2, 3, 4, 5, 6]
    assert resumed.status == "completed"


@then("the next iteration is the 4th")
def _next(stage: Stage) -> None:
    assert (stage.workspace / "iterations").read_text().split() == ["4", "5", "6"]
