"""What an iteration is told after its session has gone back, rested, or come to have other conditions."""

from __future__ import annotations

from pathlib import Path

from loop_lab import exists, fake, gateway_in
from stage import Worker, makes

from gateway import Gateway
from gateway.loop.session import Session
from gateway.loop.state import Limits, LoopOptions

CONDITIONS = fake(*((name, exists(name)) for name in ("all_tests_pass", "linting_clean", "build_succeeds")))
TWO = ("all_tests_pass", "linting_clean")


async def begun(gateway: Gateway, worker: Worker, **limits: int) -> Session:
    gateway.runs.register(worker.type())
    return await gateway.loops.start(
        "Go on",
        exits=TWO,
        options=LoopOptions(conditions=CONDITIONS, checkpoint_every=1),
        limits=Limits(**limits),
        agent=worker,
    )


def told(worker: Worker) -> dict[str, bool]:
    """What the last iteration was told of the conditions."""
    evaluation = worker.given[-1].evaluation
    assert evaluation is not None
    return {each.name: each.met for each in evaluation.results}


async def test_who_goes_back_and_leaves_the_workspace_is_told_what_holds_in_it(tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    worker = Worker(workspace)
    worker.deeds[2] = makes("linting_clean")
    async with gateway_in(tmp_path / "home", workspace) as gateway:
        await begun(gateway, worker, iterations=2)
        assert told(worker) == dict.fromkeys(TWO, False)
        await gateway.loops.resume("last", from_checkpoint=1)
        assert told(worker) == {"all_tests_pass": False, "linting_clean": True}
        await gateway.loops.resume("last", from_checkpoint=1, restore_workspace=True)
        assert told(worker) == dict.fromkeys(TWO, False)


async def test_an_iteration_is_told_of_the_conditions_that_there_are(tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    worker = Worker(workspace)
    async with gateway_in(tmp_path / "home", workspace) as gateway:
        await begun(gateway, worker, iterations=1)
        await gateway.loops.extend("last", iterations=2)
        await gateway.loops.change_exits("last", add=["build_succeeds"], remove=["linting_clean"])
        session = await gateway.loops.resume("last")
    assert told(worker) == {"all_tests_pass": False, "build_succeeds": False}
    assert session.state.evaluation is not None
    assert [each.name for each in session.state.evaluation.results] == ["all_tests_pass", "build_succeeds"]


async def test_where_one_cannot_be_gone_back_to_the_session_goes_on_from_where_it_was(tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    worker = Worker(workspace)
    worker.deeds[2] = makes("more")
    async with gateway_in(tmp_path / "home", workspace) as gateway:
        session = await begun(gateway, worker, iterations=2)
        aside = session.folder / "aside"
        aside.write_text("in the way of what is moved")
        failed = await gateway.loops.resume("last", from_checkpoint=1, restore_workspace=True)
        assert failed.status == "failed" and "could not be brought back" in failed.error
        await gateway.loops.extend("last", iterations=3)
        assert (await gateway.loops.resume("last")).state.iteration == 3  # not back again
        aside.unlink()
        again = await gateway.loops.resume("last", from_checkpoint=1, restore_workspace=True)
        assert (again.status, again.state.iteration) == ("iteration_limit_reached", 3)
        assert (aside / "0001" / "more").exists()
