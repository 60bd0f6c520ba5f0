"""The disk is full, the store is locked, a task is cancelled: the session goes on, or can; nothing that was is lost."""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from loop_lab import gateway_in, is_alive, options, script, until

from gateway import Gateway
from gateway.errors import StoreError
from gateway.loop.state import LoopOptions
from gateway.loop.workspace import archive, durable
from gateway.tools.sandbox import run_program

NUMBERED = 'cat > /dev/null\necho "$ECHELON_ITERATION" >> numbers\n'
LOCK = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.readline()
db.execute("ROLLBACK")
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (workspace := tmp_path / "work").mkdir()
    return workspace


def numbered(tmp_path: Path, **more: Any) -> LoopOptions:
    return options(script(tmp_path / "agent.sh", NUMBERED), **more)


def reached(iteration: int) -> tuple[str, ...]:
    return (f"command:grep -qx {iteration} numbers",)


def numbers(place: Path) -> list[str]:
    return (place / "numbers").read_text().split()


async def is_identical(gateway: Gateway, run_id: str) -> bool:
    replayed = await gateway.replay(run_id)
    return not replayed.differing and not any(each.differing for each in replayed.children)


# the disk is full


@pytest.mark.parametrize("which", range(3))  # the tar, the manifest, the document
async def test_a_checkpoint_that_does_not_fit_on_the_disk_is_told_of_and_made_up_for(
    tmp_path: Path, place: Path, which: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, write_all = 0, durable.write_all

    def full(file: int, data: bytes) -> None:
        nonlocal written
        number, written = written, written + 1
        if number == 3 + which:  # three files make the first checkpoint
            os.write(file, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_all(file, data)

    monkeypatch.setattr(durable, "write_all", full)
    monkeypatch.setattr(archive, "write_all", full)
    async with gateway_in(tmp_path / "home", place) as gateway:
        session = await gateway.loops.start("Go", exits=reached(5), options=numbered(tmp_path, checkpoint_every=2))
        assert (session.status, numbers(place)) == ("completed", ["1", "2", "3", "4", "5"])
        assert [(each.number, each.iteration) for each in session.state.checkpoints] == [(1, 2), (2, 5)]
        assert "checkpoint 2 could not be made" in session.state.troubles[0]
        assert "No space left on device" in session.state.troubles[0]
        kept = gateway.loops.checkpoints(session.run_id)
        assert [(each.number, each.iteration, each.damaged) for each in kept.all()] == [(1, 2, ""), (2, 5, "")]
        assert not [each for each in session.folder.rglob(".*") if each.is_file()]
        assert await is_identical(gateway, session.run_id)


async def test_a_checkpoint_by_time_that_does_not_fit_on_the_disk_costs_the_iteration_nothing(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: int, data: bytes) -> None:
        (tmp_path / "go").touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    held = script(tmp_path / "agent.sh", NUMBERED + "while [ ! -e ../go ]; do sleep 0.02; done")
    with monkeypatch.context() as patched:
        patched.setattr(durable, "write_all", full)
        patched.setattr(archive, "write_all", full)
        async with gateway_in(tmp_path / "home", place) as gateway:
            one = options(held, checkpoint_s=0.1)
            session = await gateway.loops.start("Go", exits=reached(1), options=one)
    assert (session.status, session.state.iterations[0].outcome) == ("completed", "done")
    assert "No space left on device" in session.state.troubles[0]
    assert session.state.checkpoints == ()


def fill(gateway: Gateway, operation: str) -> None:
    """From the end of the first such operation on nothing more can be written to the store."""
    store, full = gateway.runs.store, False
    append, append_now = store.append, store.append_now

    def check(event: Any) -> None:
        nonlocal full
        full = full or (event.kind == "call.ended" and event.data["op"] == operation)
        if full:
            raise StoreError("database or disk is full", hint="free some disk space")

    async def checked(run_id: Any, lease: Any, new: Any, *rest: Any, **settings: Any) -> None:
        check(new[-1])
        await append(run_id, lease, new, *rest, **settings)

    def checked_now(run_id: Any, lease: Any, new: Any, *rest: Any) -> bool:
        check(new)
        return append_now(run_id, lease, new, *rest)

    async def refused(*_: Any) -> None:
        raise StoreError("database or disk is full", hint="free some disk space")

    store.append, store.append_now, store.release = checked, checked_now, refused  # type: ignore[method-assign]


@pytest.mark.parametrize("operation", ["loop.checkpoint", "loop.iterate", "loop.evaluate", "command.run"])
async def test_a_session_whose_store_is_full_is_resumable_at_once_when_there_is_space(
    tmp_path: Path, place: Path, operation: str
) -> None:
    async with gateway_in(tmp_path / "home", place) as gateway:
        store = gateway.runs.store
        fill(gateway, operation)
        with pytest.raises(StoreError, match="full"):
            await gateway.loops.start("Go", exits=reached(3), options=numbered(tmp_path, checkpoint_every=1))
        del store.append, store.append_now, store.release
        session = await gateway.loops.resume("last")
        assert (session.status, session.state.iteration) == ("completed", 3)
        again = operation == "command.run"  # the program had run, and nothing says so
        assert numbers(place) == (["1", "1", "2", "3"] if again else ["1", "2", "3"])
        kept = gateway.loops.checkpoints(session.run_id).all()
        assert [(each.number, each.damaged) for each in kept] == [(1, ""), (2, ""), (3, "")]
        assert await is_identical(gateway, session.run_id)


# the store is locked


async def test_a_locked_store_delays_a_session_and_its_operators_and_loses_nothing(tmp_path: Path, place: Path) -> None:
    home = tmp_path / "home"
    holding = script(tmp_path / "agent.sh", NUMBERED + "while [ ! -e go ]; do sleep 0.02; done")
    async with gateway_in(home, place) as gateway, gateway_in(home, place) as operators:
        working = asyncio.create_task(gateway.loops.start("Go", exits=reached(9), options=options(holding)))
        await until(lambda: (place / "numbers").exists())
        lock = [sys.executable, "-c", LOCK, str(home / "echelon.db")]
        pipe = subprocess.PIPE
        other = subprocess.Popen(lock, stdin=pipe, stdout=pipe, text=True)  # noqa: ASYNC220  it is at once
        assert other.stdout is not None
        await asyncio.to_thread(other.stdout.readline)
        (place / "go").touch()  # the iteration ends while it is locked, and so does nothing else
        told = [
            asyncio.create_task(operators.loops.extend("last", iterations=60)),
            asyncio.create_task(operators.loops.extend("last", iterations=70)),
            asyncio.create_task(operators.loops.pause("last")),
        ]
        status = operators.loops.session("last").status  # who reads waits for nobody
        seqs = gateway.runs.store.last_seq(operators.loops.session("last").run_id)
        await asyncio.sleep(0.3)  # that it is locked for a while is what this is about
        assert gateway.runs.store.last_seq(operators.loops.session("last").run_id) == seqs
        assert status == "executing" and not any(each.done() for each in [*told, working])
        await asyncio.to_thread(other.communicate, "\n")
        await asyncio.gather(*told)
        session = await working
        assert session.status == "paused"  # what it has heard in the step in which it rests is in its state afterwards
        ended = await operators.loops.resume("last")
        assert (ended.status, ended.state.iteration, ended.state.limits.iterations) == ("completed", 9, 70)
        assert await is_identical(gateway, session.run_id)


# the task is cancelled


MOMENTS = ["loop.signals", "loop.evaluate", "loop.survey", "loop.iterate", "command.run", "loop.compare"]


@pytest.mark.parametrize("operation", [*MOMENTS, "loop.checkpoint"])
@pytest.mark.parametrize("kind", ["call.intended", "call.ended"])
async def test_a_session_that_is_cancelled_is_interrupted_and_goes_on_where_it_was(
    tmp_path: Path, place: Path, operation: str, kind: str
) -> None:
    """As Ctrl-C does, at the second event of the kind."""
    async with gateway_in(tmp_path / "home", place) as gateway:
        store, count = gateway.runs.store, 0
        append_now = store.append_now
        working: asyncio.Task[Any] | None = None

        def noticed(run_id: str, lease: Any, event: Any, *rest: Any) -> bool:
            nonlocal count
            if (event.kind, event.data.get("op")) == (kind, operation):
                count += 1
                if count == 2 and working is not None:
                    working.cancel()
            return append_now(run_id, lease, event, *rest)

        store.append_now = noticed  # type: ignore[method-assign]
        one = numbered(tmp_path, checkpoint_every=1)
        working = asyncio.create_task(gateway.loops.start("Go", exits=reached(3), options=one))
        with pytest.raises(asyncio.CancelledError):
            await working
        session = gateway.loops.session("last")
        assert session.status == "interrupted"
        ended = await gateway.loops.resume("last")
        assert (ended.status, ended.state.iteration) == ("completed", 3)
        assert [each.number for each in ended.state.iterations] == [1, 2, 3]
        assert sorted(set(numbers(place))) == ["1", "2", "3"] and len(numbers(place)) <= 4
        assert await is_identical(gateway, session.run_id)


@pytest.mark.parametrize("where", ["agent", "condition"])
async def test_nothing_runs_on_once_a_session_is_cancelled(tmp_path: Path, place: Path, where: str) -> None:
    hanging = f"echo $$ > {tmp_path}/pid; exec sleep 1000"
    script(tmp_path / "condition.sh", hanging if where == "condition" else "false")
    one = options(script(tmp_path / "agent.sh", hanging if where == "agent" else "true"))
    async with gateway_in(tmp_path / "home", place) as gateway:
        working = asyncio.create_task(
            gateway.loops.start("Go", exits=[f"command:{tmp_path}/condition.sh"], options=one)
        )
        await until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
        assert gateway.loops.session("last").status == "interrupted"
    assert not is_alive(int((tmp_path / "pid").read_text()))
    with sqlite3.connect(tmp_path / "home" / "echelon.db") as db:
        assert db.execute("SELECT count(*) FROM leases WHERE owner != ''").fetchone() == (0,)


async def test_a_program_that_is_cancelled_while_it_starts_leaves_no_descriptor_open(tmp_path: Path) -> None:
    async def cancelled() -> int:
        task = asyncio.create_task(run_program(["true"], cwd=tmp_path, deadline_s=60))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return len(os.listdir("/proc/self/fd"))

    gc.collect()  # what earlier tests left open
    once = await cancelled()
    assert max([await cancelled() for _ in range(5)]) <= once
