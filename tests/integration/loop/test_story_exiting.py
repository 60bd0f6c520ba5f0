"""Story 3: a session ends when its exit conditions are met: the real ones."""

from __future__ import annotations

from pytest_bdd import given, parsers, scenarios, then, when
from stage import Deed, Stage
from tiny_shop import FAILS, LINTED, SCANNED, readme, replace, shop

from gateway.loop.state import ConditionResult, Limits

scenarios("features/exiting.feature")


def mends(right: str, wrong: str) -> Deed:
    return lambda workspace: replace(workspace, wrong, right)


def found(stage: Stage, name: str) -> ConditionResult:
    """What the last evaluation says."""
    evaluation = stage.session.state.evaluation
    assert evaluation is not None
    result = evaluation.of(name)
    assert result is not None and result.problem == ""
    return result


def before(stage: Stage) -> list[bool]:
    """What was met before anything was done."""
    assert stage.worker.given[0].evaluation is not None
    return [each.met for each in stage.worker.given[0].evaluation.results]


@given("a project with a failing test")
def _failing(stage: Stage) -> None:
    shop(stage.workspace, FAILS)


@given("a project that cannot be built")
def _unbuilt(stage: Stage) -> None:
    shop(stage.workspace, builds=False)


@given("a project in which the linter finds something")
def _linted(stage: Stage) -> None:
    shop(stage.workspace, LINTED)


@given("a project in which the security scan finds something")
def _scanned(stage: Stage) -> None:
    shop(stage.workspace, SCANNED)


@given("a project with a failing test, which cannot be built")
def _failing_unbuilt(stage: Stage) -> None:
    shop(stage.workspace, FAILS, builds=False)


@given("a project with a failing test and a finding of the linter, which cannot be built")
def _everything(stage: Stage) -> None:
    shop(stage.workspace, FAILS, LINTED, builds=False)


@given(parsers.re(r"an agent that is executing until (?P<names>.*)"))
def _executing_until(stage: Stage, names: str) -> None:
    stage.limits = Limits(iterations=5)
    stage.exits = tuple(names.replace(" and ", ", ").replace('"', "").split(", "))
    stage.begin()
    assert stage.session.status == "executing"


@when("its work makes every test pass")
def _tests(stage: Stage) -> None:
    stage.worker.deeds[1] = mends(*FAILS)


@when("its work makes the build succeed")
def _builds(stage: Stage) -> None:
    stage.worker.deeds[1] = readme


@when("its work leaves nothing for the linter to find")
def _lints(stage: Stage) -> None:
    stage.worker.deeds[1] = mends(*LINTED)


@when("its work leaves nothing for the security scan to find")
def _scans(stage: Stage) -> None:
    stage.worker.deeds[1] = mends(*SCANNED)


@when("its work makes every test pass, and the build still fails")
def _only_tests(stage: Stage) -> None:
    stage.worker.deeds[1] = mends(*FAILS)
    stage.worker.hold(2)
    stage.until_begun(2)


@when("its work brings about all of them, one after the other")
def _one_after_the_other(stage: Stage) -> None:
    stage.worker.deeds = {1: mends(*FAILS), 2: mends(*LINTED), 3: readme}


@then(parsers.parse('"{name}" is evaluated as met'))
def _evaluated(stage: Stage, name: str) -> None:
    session = stage.to_the_end()
    assert found(stage, name).met and before(stage) == [False]
    assert session.state.iteration == 1


@then("the agent goes on with the next iteration")
def _goes_on(stage: Stage) -> None:
    assert (stage.session.status, stage.session.state.iteration) == ("executing", 1)
    assert before(stage) == [False, False]


@then(parsers.parse('"{name}" is recorded as met'))
def _recorded_met(stage: Stage, name: str) -> None:
    assert found(stage, name).met


@then(parsers.parse('"{name}" is recorded as not met'))
def _recorded_not_met(stage: Stage, name: str) -> None:
    result = found(stage, name)
    assert not result.met and "README.md" in result.findings[0].message


@then(parsers.parse("the session is completed with all {count:d} conditions met"))
def _all_met(stage: Stage, count: int) -> None:
    report = stage.report()
    assert (report.status, report.met, report.of) == ("completed", count, count)
    assert report.iteration == count and before(stage) == [False] * count
