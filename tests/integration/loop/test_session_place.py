"""Where a session may work, what it is called, what it protects, and where its documents are."""

from __future__ import annotations

import asyncio
import stat
import subprocess
from pathlib import Path

import pytest
from loop_lab import fake, gateway_in
from stage import Worker

from gateway import Gateway
from gateway.errors import UsageError
from gateway.loop.session import Session
from gateway.loop.state import Limits, LoopOptions

NEVER = fake(("all_tests_pass", "false"))
ONE = Limits(iterations=1)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    path = tmp_path / "work"
    path.mkdir()
    return path.resolve()


async def begun(gateway: Gateway, worker: Worker, *, limits: Limits = ONE, **more: object) -> Session:
    if worker.type().name not in gateway.runs.types:
        gateway.runs.register(worker.type())
    options = LoopOptions(conditions=NEVER, checkpoint_every=1).with_(protect=more.pop("protect", ()))
    return await gateway.loops.start(
        "Go on", exits=["all_tests_pass"], options=options, limits=limits, agent=worker, **more
    )


@pytest.mark.parametrize("below", [".", "work"])
async def test_the_home_is_no_workspace(tmp_path: Path, below: str) -> None:
    home = tmp_path / "home"
    (home / below).mkdir(parents=True)
    async with gateway_in(home, home / below) as gateway:
        with pytest.raises(UsageError, match="is in Echelon's home"):
            await begun(gateway, Worker(home / below))
        assert gateway.loops.all() == []


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\x1b[31m", "last", "01KABCDEFGHJKMNPQRSTVWXYZ0", "x" * 5000])
async def test_an_agent_has_a_name_that_it_can_be_called_by(tmp_path: Path, workspace: Path, name: str) -> None:
    async with gateway_in(tmp_path / "home", workspace) as gateway:
        with pytest.raises(UsageError, match="agent"):
            await begun(gateway, Worker(workspace), name=name)
        assert gateway.loops.all() == []


@pytest.mark.parametrize("limit", [float("nan"), float("inf"), 0.0, -1.0])
async def test_what_is_no_number_above_0_is_no_limit(tmp_path: Path, workspace: Path, limit: float) -> None:
    async with gateway_in(tmp_path / "home", workspace) as gateway:
        with pytest.raises(UsageError, match="is no limit"):
            await begun(gateway, Worker(workspace), limits=Limits(time_s=limit))
        await begun(gateway, Worker(workspace), limits=Limits(iterations=1, time_s=3600))
        with pytest.raises(UsageError, match="is no limit"):
            await gateway.loops.extend("last", time_s=limit)


@pytest.mark.parametrize("name", ["/etc", "../other", "", ".git", ".git/hooks", "out"])
async def test_what_cannot_be_protected_is_refused(tmp_path: Path, workspace: Path, name: str) -> None:
    (workspace / "out").symlink_to("/etc")
    async with gateway_in(tmp_path / "home", workspace) as gateway:
        with pytest.raises(UsageError, match="cannot be protected"):
            await begun(gateway, Worker(workspace), protect=(name,))


@pytest.mark.parametrize("name", ["tests", "./tests/", "{workspace}/tests", "tests/*.py", "src/../tests", "link", "."])
async def test_however_a_folder_is_named_it_is_protected(tmp_path: Path, workspace: Path, name: str) -> None:
    (workspace / "tests").mkdir()
    (workspace / "tests" / "test_a.py").write_text("judges")
    (workspace / "link").symlink_to("tests")
    worker = Worker(workspace)
    worker.deeds[1] = lambda root: [(root / "tests" / f"test_{each}.py").write_text("") for each in "ab"]
    async with gateway_in(tmp_path / "home", workspace) as gateway:
        session = await begun(gateway, worker, protect=(name.format(workspace=workspace),))
    assert (workspace / "tests" / "test_a.py").read_text() == "judges"
    assert not (workspace / "tests" / "test_b.py").exists()
    assert {"tests/test_a.py", "tests/test_b.py"} <= {*session.state.iterations[0].changes.restored}


async def test_a_session_goes_on_where_its_home_was_moved_to(tmp_path: Path, workspace: Path) -> None:
    worker = Worker(workspace)
    async with gateway_in(tmp_path / "home", workspace) as gateway:
        first = await begun(gateway, worker)
    (tmp_path / "home").rename(tmp_path / "elsewhere")
    async with gateway_in(tmp_path / "elsewhere", workspace) as gateway:
        gateway.runs.register(worker.type())
        assert [each.damaged for each in gateway.loops.checkpoints("last").all()] == [""]
        await gateway.loops.extend("last", iterations=3)
        session = await gateway.loops.resume("last", from_checkpoint=1, restore_workspace=True, agent=worker)
    assert (first.state.iteration, session.state.iteration) == (1, 3)
    assert session.folder.is_relative_to(tmp_path / "elsewhere") and not (tmp_path / "home").exists()
    assert "iteration: 3\n" in (session.folder / "session.md").read_text()


async def test_what_is_in_the_home_is_for_its_owner(tmp_path: Path, workspace: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o755)  # by whoever made it
    async with gateway_in(home, workspace) as gateway:
        await begun(gateway, Worker(workspace), limits=Limits(iterations=2))
        files = {each: stat.S_IMODE(each.stat().st_mode) for each in home.rglob("*") if each.is_file()}
    assert {"echelon.db", "echelon.db-wal", "session.md"} <= {each.name for each in files}
    assert {each: mode for each, mode in files.items() if mode & 0o077} == {}


def git(root: Path, *args: str) -> str:
    return subprocess.run(["git", "-C", str(root), *args], check=True, capture_output=True, text=True).stdout


async def test_two_agents_in_one_workspace_each_have_their_own_checkpoints_and_commits(
    tmp_path: Path, workspace: Path
) -> None:
    """What one changes while the other is at work is told of as changed by both: they share the files."""
    git(workspace, "init", "-q")
    one, other = Worker(workspace), Worker(workspace)
    async with gateway_in(tmp_path / "home", workspace) as gateway:
        gateway.runs.register(one.type())
        both = [begun(gateway, each, name=name) for each, name in ((one, "one"), (other, "other"))]
        sessions = await asyncio.gather(*both)
        assert [each.status for each in sessions] == ["iteration_limit_reached"] * 2
        for session in sessions:
            assert not any(each.damaged for each in gateway.loops.checkpoints(session.run_id).all())
    made = {f"refs/echelon/{each.run_id}/{one.number}" for each in sessions for one in each.state.checkpoints}
    assert {*git(workspace, "for-each-ref", "--format=%(refname)").split()} == made and len(made) == 2
