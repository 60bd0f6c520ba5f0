"""What the stories of autonomous sessions have in common."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_bdd import given, parsers, then
from stage import Stage, staged

from gateway.loop.state import Limits


@pytest.fixture
def stage(tmp_path: Path, echelon_home: Path) -> Iterator[Stage]:
    with staged(tmp_path, echelon_home) as stage:
        yield stage


@given(parsers.parse("a session of at most {limit:d} iterations"))
def _of_at_most(stage: Stage, limit: int) -> None:
    stage.limits = Limits(iterations=limit)


@given("an agent that is executing")
@then("the agent is executing")
def _is_executing(stage: Stage) -> None:
    if not stage.run_id:
        stage.begin()
    assert stage.session.status == "executing"


@then("the agent has left autonomous execution")
def _has_left(stage: Stage) -> None:
    """It is idle: what nobody holds, the next session may have."""
    session = stage.to_the_end()
    assert session.status != "executing" and session.ended >= session.started > 0
    assert stage.is_idle()


@then("the session is completed")
def _is_completed(stage: Stage) -> None:
    assert (stage.session.status, stage.session.stop_reason, stage.session.error) == ("completed", "success", "")
