"""The store is locked, or the disk is full: nothing is lost, the event loop goes on, and the run resumes afterwards."""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import errand
import pytest

from gateway.engine import files
from gateway.engine.state import RunState, Status
from gateway.engine.store import Store
from gateway.errors import StoreError

LOCK = """
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.readline()
db.execute("ROLLBACK")
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "echelon.db")
    yield store
    store.close()


async def begin(home: Path, store: Store) -> tuple[Any, RunState]:
    runs = errand.open_runs(home, store)
    where = errand.Where(child=True)
    row, owned = await runs.create("errand", where, errand.Diary(), title="trouble", limits={}, pins={})
    return runs, await runs.drive(row, owned)


async def test_a_lock_of_another_process_delays_the_run_and_not_the_event_loop(tmp_path: Path, store: Store) -> None:
    lock, pipe = [sys.executable, "-c", LOCK, str(store.path)], subprocess.PIPE
    other = subprocess.Popen(lock, stdin=pipe, stdout=pipe, text=True)  # noqa: ASYNC220  it is at once
    assert other.stdout is not None
    await asyncio.to_thread(other.stdout.readline)
    beginning = asyncio.create_task(begin(tmp_path, store))
    for _ in range(20):
        await asyncio.sleep(0.005)  # the event loop goes on; the bench has how well
    assert not beginning.done()
    await asyncio.to_thread(other.communicate, "\n")
    _, state = await beginning
    assert state.status is Status.COMPLETE


def full_after(store: Store, writes: int) -> None:
    """SQLITE_FULL at the write after this many, by both connections."""
    left = writes

    def limit(db: sqlite3.Connection) -> None:
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages}")

    append, append_now = store.append, store.append_now

    def count(new: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            limit(store._quick)
            limit(store._patient)
            new.data["filler"] = "x" * 20_000  # what no longer fits

    async def counted(run_id: Any, lease: Any, new: Any, *rest: Any, **settings: Any) -> None:
        count(new[-1])
        await append(run_id, lease, new, *rest, **settings)

    def counted_now(run_id: Any, lease: Any, new: Any, *rest: Any) -> bool:
        count(new)
        return append_now(run_id, lease, new, *rest)

    store.append, store.append_now = counted, counted_now  # type: ignore[method-assign,assignment]


@pytest.mark.parametrize("writes", range(8))
async def test_a_full_disk_at_any_write_is_an_error_with_a_hint_and_nothing_is_lost(
    tmp_path: Path, store: Store, writes: int
) -> None:
    full_after(store, writes)
    with pytest.raises(StoreError) as caught:
        await begin(tmp_path, store)
    assert "database or disk is full" in str(caught.value)
    assert "free some disk space" in caught.value.hint
    store.close()

    again = Store(tmp_path / "echelon.db")  # as after `rm`: there is space
    run = again.runs()[0]
    assert again.last_seq(run.id) == 1 + writes
    runs = errand.open_runs(tmp_path, again)
    assert (await runs.resume(run.id)).status is Status.COMPLETE
    happened = Counter(line.split()[0] for line in errand.World(tmp_path).did())
    assert happened["tap"] == 1
    assert (await runs.replay(run.id)).differing == []
    again.close()


async def test_a_run_resumes_in_the_same_process_once_there_is_space(tmp_path: Path, store: Store) -> None:
    runs = errand.open_runs(tmp_path, store)
    release = store.release

    async def full(*_: Any) -> None:
        raise StoreError("full")

    tap = runs.types["errand"].operations(None, None, None)["tap"]  # type: ignore[arg-type]
    assert tap.reconcile is not None
    where = errand.Where(child=True)
    row, owned = await runs.create("errand", where, errand.Diary(), title="trouble", limits={}, pins={})
    append_now, store.append_now, store.append = store.append_now, full_now, full  # type: ignore[method-assign,assignment]
    store.release = full  # type: ignore[method-assign,assignment]
    with pytest.raises(StoreError):
        await runs.drive(row, owned)
    del store.append
    store.append_now, store.release = append_now, release  # type: ignore[method-assign]
    assert (await runs.resume(row.id)).status is Status.COMPLETE


def leftovers(folder: Path) -> list[Path]:
    return [path for path in folder.rglob(".*") if path.is_file()]


def full_now(*_: Any) -> bool:
    raise StoreError("full")


@pytest.mark.parametrize("which", range(5))
async def test_files_that_cannot_be_written_stop_the_run_and_lose_nothing(
    tmp_path: Path, store: Store, which: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages and artifacts: the disk is full at the n-th of them."""
    written, replace = 0, os.replace

    def until_full(*args: Any) -> None:
        nonlocal written
        written += 1
        if written > which:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(args[1]))
        replace(*args)

    monkeypatch.setattr(files.os, "replace", until_full)
    try:
        _, state = await begin(tmp_path, store)
        assert state.status is Status.COMPLETE and which >= 3
    except StoreError as error:
        assert "No space left" in str(error) and "free some disk space" in error.hint
    monkeypatch.undo()
    assert not leftovers(tmp_path)
    runs, run = errand.open_runs(tmp_path, store), store.runs()[0]
    assert (await runs.resume(run.id)).status is Status.COMPLETE
    assert Counter(line.split()[0] for line in errand.World(tmp_path).did())["tap"] == 1
    assert (await runs.replay(run.id)).differing == []


def test_many_processes_may_open_a_new_store_at_once(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from gateway.engine.store import Store; Store(Path(sys.argv[1])).close()"
    )
    program = [sys.executable, "-c", code, str(tmp_path / "echelon.db")]
    opened = [subprocess.Popen(program, stderr=subprocess.PIPE, text=True) for _ in range(6)]
    assert [each.communicate()[1] for each in opened] == [""] * 6
