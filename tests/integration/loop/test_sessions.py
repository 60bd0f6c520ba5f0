"""Sessions from begin to end: an agent that is a command, real conditions."""

from __future__ import annotations

from pathlib import Path

import pytest
from loop_lab import ALL, MEND, THINGS, calls, counting, exists, fake, gateway_in, options, project, script

from gateway.errors import UsageError
from gateway.loop.state import Limits


async def test_an_agent_that_mends_one_thing_an_iteration_completes_at_exactly_the_last(tmp_path: Path) -> None:
    workspace = project(tmp_path / "stock")
    agent = script(tmp_path / "mend.sh", MEND)
    async with gateway_in(tmp_path / "home", workspace) as gateway:
        session = await gateway.loops.start("Mend it", exits=ALL, options=options(agent))
        assert (session.status, session.state.iteration, session.error) == ("completed", THINGS, "")
        assert [each.changes.all for each in session.state.iterations] == [
            ("stock/prices.py",),
            ("stock/prices.py",),
            ("stock/labels.py",),
            ("stock/prices.py",),
            ("stock/labels.py",),
            ("stock/counting.py",),
        ]
        replayed = await gateway.replay(session.run_id)
        assert [*replayed.differing, *(each for one in replayed.children for each in one.differing)] == []
    assert (session.folder / "session.md").read_text().count("mended stock/") == THINGS


async def test_a_session_ends_at_its_limit_and_says_what_was_not_met(tmp_path: Path) -> None:
    (workspace := tmp_path / "work").mkdir()
    agent = script(tmp_path / "agent.sh", counting())
    async with gateway_in(tmp_path / "home", workspace) as gateway:
        one = options(agent, conditions=fake(("all_tests_pass", exists("calls")), ("linting_clean", exists("no"))))
        session = await gateway.loops.start(
            "Go", exits=("all_tests_pass", "linting_clean"), options=one, limits=Limits(iterations=3)
        )
        assert (session.status, session.stop_reason) == ("iteration_limit_reached", "budget:iterations")
        assert calls(workspace) == 3
        with pytest.raises(UsageError, match="is reached"):
            await gateway.loops.resume(session.run_id)
        assert (await gateway.loops.extend(session.run_id, iterations=5)).iterations == 5
        again = await gateway.loops.resume(session.run_id)
        assert (again.status, again.state.iteration, calls(workspace)) == ("iteration_limit_reached", 5, 5)
