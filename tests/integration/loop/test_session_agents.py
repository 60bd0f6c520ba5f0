"""Agents that crash, hang, delete the workspace, change what judges them, flood and leave processes behind."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import pytest
from loop_lab import gateway_in, is_alive, options, script, until

from gateway.loop.session import Session
from gateway.loop.state import Limits

NUMBERED = 'cat > /dev/null\necho "$ECHELON_ITERATION" >> numbers\n'
GIT = ("git", "-c", "user.name=T", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=main")


def reached(iteration: int) -> tuple[str, ...]:
    return (f"command:grep -qx {iteration} numbers",)


def outcomes(session: Session) -> list[str]:
    return [each.outcome for each in session.state.iterations]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (workspace := tmp_path / "work").mkdir()
    return workspace


async def test_an_agent_that_crashes_has_failed_an_iteration_and_the_session_goes_on(
    tmp_path: Path, place: Path
) -> None:
    crashing = NUMBERED + "[ $ECHELON_ITERATION = 1 ] && exit 3\n[ $ECHELON_ITERATION = 2 ] && kill -SEGV $$\ntrue"
    async with gateway_in(tmp_path / "home", place) as gateway:
        one = options(script(tmp_path / "agent.sh", crashing))
        session = await gateway.loops.start("Go", exits=reached(3), options=one)
    assert (session.status, outcomes(session)) == ("completed", ["failed", "failed", "done"])
    assert [each.summary for each in session.state.iterations][:2] == [
        "the command ended with code 3",
        "the command was ended by signal 11",
    ]


async def test_an_agent_that_only_crashes_ends_the_session_which_can_go_on_once_it_is_mended(
    tmp_path: Path, place: Path
) -> None:
    async with gateway_in(tmp_path / "home", place) as gateway:
        one = options(script(tmp_path / "agent.sh", NUMBERED + "echo broken\nexit 1"), patience=2)
        session = await gateway.loops.start("Go", exits=reached(4), options=one)
        assert (session.status, outcomes(session)) == ("failed", ["failed", "failed"])
        assert "2 iterations in a row failed" in session.error and "broken" in session.error
        script(tmp_path / "agent.sh", NUMBERED)
        again = await gateway.loops.resume(session.run_id)
        assert (again.status, again.state.iteration, again.error) == ("completed", 4, "")


async def test_an_agent_that_hangs_is_ended_at_its_deadline(tmp_path: Path, place: Path) -> None:
    hanging = NUMBERED + "[ $ECHELON_ITERATION = 1 ] && sleep 1000\ntouch done"
    async with gateway_in(tmp_path / "home", place) as gateway:
        one = options(script(tmp_path / "agent.sh", hanging), iteration_timeout_s=2.0)
        session = await gateway.loops.start("Go", exits=("command:test -e done",), options=one)
    assert (session.status, outcomes(session)[0], outcomes(session)[-1]) == ("completed", "failed", "done")
    assert session.state.iterations[0].summary.startswith("it did not end within 2 s")


async def test_a_stop_cuts_off_an_agent_that_hangs(tmp_path: Path, place: Path) -> None:
    async with gateway_in(tmp_path / "home", place) as gateway:
        one = options(script(tmp_path / "agent.sh", "cat > /dev/null\necho $$ > pid\nsleep 1000"))
        working = asyncio.create_task(gateway.loops.start("Go", exits=reached(1), options=one))
        await until(lambda: (place / "pid").exists() and (place / "pid").read_text())
        await gateway.loops.stop("last")
        session = await working
    assert (session.status, session.stop_reason, session.state.iterations) == ("stopped", "user_cancelled", ())
    assert [each.why for each in session.state.checkpoints] == ["end"]
    assert not is_alive(int((place / "pid").read_text()))


async def test_an_agent_that_deletes_the_workspace_ends_the_session_and_a_checkpoint_brings_it_back(
    tmp_path: Path, place: Path
) -> None:
    (place / "README").write_text("A project.\n")
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "begin")):
        subprocess.run([*GIT, *command], cwd=place, check=True, capture_output=True)  # noqa: ASYNC221
    deleting = NUMBERED + 'if [ $ECHELON_ITERATION = 2 ] && mkdir ../once; then rm -rf "$PWD"; fi'
    async with gateway_in(tmp_path / "home", place) as gateway:
        one = options(script(tmp_path / "agent.sh", deleting), checkpoint_every=1)
        session = await gateway.loops.start("Go", exits=reached(3), options=one)
        assert (session.status, outcomes(session)) == ("failed", ["done", "done"])  # the second has been, too
        assert str(place) in session.error and "--from 1 --restore-workspace" in session.hint
        assert len(session.state.checkpoints) == 1 and session.state.checkpoints[0].commit
        assert any("checkpoint 2 could not be made" in each for each in session.state.troubles)
        again = await gateway.loops.resume(session.run_id, from_checkpoint=1, restore_workspace=True)
        assert (again.status, again.state.iteration, again.error) == ("completed", 3, "")
        assert (place / "numbers").read_text().split() == ["1", "2", "3"]
        assert (place / "README").read_text() == "A project.\n"
        assert "no commit" in again.state.checkpoints[-1].notes[0]  # no snapshot has the repository itself


async def test_an_agent_that_deletes_the_repository_costs_the_commits_only(tmp_path: Path, place: Path) -> None:
    subprocess.run([*GIT, "init", "-q"], cwd=place, check=True, capture_output=True)  # noqa: ASYNC221
    async with gateway_in(tmp_path / "home", place) as gateway:
        one = options(script(tmp_path / "agent.sh", NUMBERED + "rm -rf .git"), checkpoint_every=1)
        session = await gateway.loops.start("Go", exits=reached(2), options=one)
        assert session.status == "completed" and not any(each.commit for each in session.state.checkpoints)
        assert [each.damaged for each in gateway.loops.checkpoints(session.run_id).all()] == ["", ""]


@pytest.mark.parametrize("protect", [(), ("tests",)])
async def test_an_agent_that_edits_its_tests_is_told_of_and_they_are_put_back_where_they_are_protected(
    tmp_path: Path, place: Path, protect: tuple[str, ...]
) -> None:
    (place / "tests").mkdir()
    judge = place / "tests" / "test_it.py"
    judge.write_text("def test_it():\n    assert False\n")
    cheating = NUMBERED + "echo 'def test_it(): pass' > tests/test_it.py\necho x > tests/test_more.py"
    async with gateway_in(tmp_path / "home", place) as gateway:
        one = options(script(tmp_path / "agent.sh", cheating), protect=protect)
        session = await gateway.loops.start("Go", exits=reached(1), options=one)
        warnings = gateway.loops.report(session.run_id).warnings
    changes = session.state.iterations[0].changes
    both = ("tests/test_it.py", "tests/test_more.py")
    if protect:
        assert changes.restored == both and changes.all == ("numbers",)
        assert judge.read_text() == "def test_it():\n    assert False\n" and not (place / both[1]).exists()
        assert "put back" in warnings[0]
    else:
        assert (changes.tests, changes.restored) == (both, ())
        assert "changed what judges it: tests/test_it.py" in warnings[0]
    assert "tests/test_it.py" in (session.folder / "session.md").read_text()


async def test_what_an_agent_prints_is_bounded(tmp_path: Path, place: Path) -> None:
    flood = NUMBERED + "head -c 30000000 /dev/zero | tr '\\0' x\necho\necho the end"
    async with gateway_in(tmp_path / "home", place) as gateway:
        session = await gateway.loops.start(
            "Go", exits=reached(1), options=options(script(tmp_path / "agent.sh", flood))
        )
    assert (session.status, session.state.iterations[0].summary) == ("completed", "the end")
    assert sum(each.stat().st_size for each in (tmp_path / "home").rglob("*") if each.is_file()) < 3_000_000


async def test_what_an_agent_leaves_behind_ends_with_its_iteration(tmp_path: Path, place: Path) -> None:
    forking = NUMBERED + "(setsid sh -c 'echo $$ > ../daemon; exec sleep 1000' &)\nwhile [ ! -s ../daemon ]; do :; done"
    async with gateway_in(tmp_path / "home", place) as gateway:
        session = await gateway.loops.start(
            "Go", exits=reached(1), options=options(script(tmp_path / "agent.sh", forking)), limits=Limits(iterations=2)
        )
    assert session.status == "completed"
    assert not is_alive(int((tmp_path / "daemon").read_text()))
    assert os.listdir(place) == ["numbers"]
