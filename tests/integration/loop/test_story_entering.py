"""Story 1: an agent is set to work by itself."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from loop_lab import exists
from pytest_bdd import given, parsers, scenarios, then, when
from stage import TASK, Stage

from gateway.errors import AgentBusy
from gateway.loop.state import Limits

scenarios("features/entering.feature")


@given("an idle agent")
def _idle(stage: Stage) -> None:
    assert stage.is_idle() and stage.gateway.loops.all() == []


@given("a task for it")
def _task(stage: Stage) -> None:
    stage.worker.hold(1)


@when("the operator starts a session and says nothing else", target_fixture="asked")
def _starts(stage: Stage) -> float:
    asked = time.time()
    stage.begin()
    return asked


@when(parsers.parse("the operator starts a session of at most {limit:d} iterations"))
def _starts_limited(stage: Stage, limit: int) -> None:
    stage.limits = Limits(iterations=limit)
    stage.begin()


@when(parsers.parse('the operator starts a session that ends with "{one}" and "{other}"'))
def _starts_with_exits(stage: Stage, one: str, other: str) -> None:
    stage.judged_by(**{one: exists("one"), other: exists("other")})
    stage.begin()


@when("the operator starts another session of it", target_fixture="refused")
def _starts_another(stage: Stage) -> AgentBusy:
    with pytest.raises(AgentBusy) as caught:
        stage.do(stage.gateway.loops.start("Something else", agent=stage.worker))
    return caught.value


@then("it works on the task")
def _works(stage: Stage) -> None:
    stage.until_begun(1)
    [given] = stage.worker.given
    assert (given.task, given.iteration) == (TASK, 1) and given.request.startswith(TASK)


@then("the session has the time at which it began")
def _began(stage: Stage, asked: float) -> None:
    session = stage.session
    assert asked <= session.started <= time.time() and session.ended == 0
    assert stage.report().started == session.started
    document = (session.folder / "session.md").read_text()
    assert f'started: "{datetime.fromtimestamp(session.started, UTC):%Y-%m-%dT%H:%M:%S}' in document


@then(parsers.parse("its limit is {limit:d} iterations"))
def _limit(stage: Stage, limit: int) -> None:
    stage.until_begun(1)
    assert (stage.session.state.limits.iterations, stage.report().max_iterations) == (limit, limit)
    assert stage.worker.given[0].max_iterations == limit


@then(parsers.parse('both "{one}" and "{other}" are evaluated'))
def _registered(stage: Stage, one: str, other: str) -> None:
    assert stage.session.exits == (one, other)
    stage.until_begun(1)
    assert [(each.name, each.met) for each in stage.report().conditions] == [(one, False), (other, False)]


@then("that is refused")
def _refused(refused: AgentBusy) -> None:
    assert refused.exit_code == 2


@then("the refusal says that the agent is already executing, and what")
def _says(stage: Stage, refused: AgentBusy) -> None:
    assert f"agent {stage.workspace} is already executing: session {stage.run_id}" in str(refused)
    assert f"echelon loop watch {stage.run_id}" in refused.hint


@then("the session that there was goes on")
def _goes_on(stage: Stage) -> None:
    stage.until_begun(2)
    assert [each.run_id for each in stage.gateway.loops.all()] == [stage.run_id]
    assert stage.session.status == "executing"
