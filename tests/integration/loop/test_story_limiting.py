"""Story 4: a session ends at its limit of iterations."""

from __future__ import annotations

import json
from typing import Any

from loop_lab import exists, script
from pytest_bdd import given, parsers, scenarios, then, when
from stage import Stage, makes

scenarios("features/limiting.feature")


@given("of two exit conditions one is never met")
def _never(stage: Stage) -> None:
    """There is nothing in the workspace that could be built."""
    stage.judged_by(all_tests_pass=exists("tested"))
    stage.exits += ("build_succeeds",)
    stage.worker.deeds[60] = makes("tested")


@given(parsers.parse("the exit conditions come to be met in iteration {number:d}"))
def _met_in(stage: Stage, number: int) -> None:
    stage.judged_by(all_tests_pass=exists("tested"), build_succeeds=exists("built"))
    stage.worker.deeds |= {10: makes("tested"), number: makes("built")}


@given(parsers.parse("an agent that is executing, after {number:d} iterations"))
def _after(stage: Stage, number: int) -> None:
    stage.begin()
    stage.worker.hold(number + 1)
    stage.until_begun(number + 1)
    assert (stage.session.status, stage.session.state.iteration) == ("executing", number)


@given("an agent that is executing")
def _notified(stage: Stage) -> None:
    """With somebody who is told of what concerns the operator."""
    told = stage.place / "told"
    notify = script(stage.place / "notify.sh", f"cat >> {told}; echo >> {told}").removeprefix("command:")
    stage.configured["loop"] = {"notify": {"command": notify}}
    stage.begin()
    assert stage.session.status == "executing"


def told(stage: Stage) -> list[dict[str, Any]]:
    path = stage.place / "told"
    return [json.loads(each) for each in path.read_text().splitlines()] if path.exists() else []


@when(parsers.parse("{count:d} iterations have ended"))
def _ended(stage: Stage, count: int) -> None:
    stage.worker.hold(count)
    stage.until_begun(count)
    assert stage.session.status == "executing"
    stage.worker.let_go()
    stage.to_the_end()


@when("the session has ended")
def _over(stage: Stage) -> None:
    stage.to_the_end()


@when(parsers.parse("{share:d} % of them have ended"))
def _share(stage: Stage, share: int) -> None:
    before = share * stage.limits.iterations // 100
    stage.worker.hold(before)
    stage.until_begun(before)
    assert told(stage) == []  # one iteration less is no reason to warn
    stage.worker.let_go()
    stage.worker.hold(before + 1)
    stage.until_begun(before + 1)


@when(parsers.parse("the operator extends the limit to {limit:d}"))
def _extends(stage: Stage, limit: int) -> None:
    assert stage.do(stage.gateway.loops.extend(stage.run_id, iterations=limit)).iterations == limit


@then("the status says that the limit of iterations is reached")
def _reached(stage: Stage) -> None:
    session = stage.session
    assert (session.status, session.stop_reason) == ("iteration_limit_reached", "budget:iterations")
    assert (session.state.iteration, max(stage.worker.begun)) == (100, 100)


@then("the status has the exit condition that was not met")
def _not_met(stage: Stage) -> None:
    assert [(each.name, each.met) for each in stage.report().conditions] == [
        ("all_tests_pass", True),
        ("build_succeeds", False),
    ]
    assert told(stage)[-1]["data"]["not_met"] == ["build_succeeds"]


@then(parsers.parse("that was after iteration {number:d}"))
def _at(stage: Stage, number: int) -> None:
    assert (stage.session.state.iteration, stage.worker.begun) == (number, [*range(1, number + 1)])
    assert stage.is_idle()


@then("the operator is notified of a warning", target_fixture="warning")
def _warned(stage: Stage) -> dict[str, Any]:
    [warning] = told(stage)
    assert (warning["kind"], warning["session"]) == ("warning", stage.run_id)
    assert len(stage.report().warnings) == 1
    return warning


@then("the warning has the iteration count")
def _count(warning: dict[str, Any]) -> None:
    assert (warning["iteration"], warning["data"]["used"], warning["data"]["of"]) == (80, 80, 100)
    assert "80 of 100 iterations" in warning["text"]


@then("the warning has the iterations that remain")
def _remain(warning: dict[str, Any]) -> None:
    assert warning["data"]["remaining"] == 20 and "20 iterations remain" in warning["text"]


@then(parsers.parse("the agent goes on beyond iteration {number:d}"))
def _beyond(stage: Stage, number: int) -> None:
    stage.worker.let_go()
    stage.worker.hold(number + 2)
    stage.until_begun(number + 2)
    assert (stage.session.status, stage.session.state.iteration) == ("executing", number + 1)


@then(parsers.parse("the limit of the session is {limit:d} iterations"))
def _limit(stage: Stage, limit: int) -> None:
    assert (stage.session.state.limits.iterations, stage.report().max_iterations) == (limit, limit)
    assert f"the limit is {limit} iterations now, it was 100" in [each.text for each in stage.session.state.changes]
