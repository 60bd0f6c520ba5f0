from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.engine.events import Event
from gateway.engine.lease import Lease
from gateway.engine.log import StoredLog
from gateway.engine.store import Progress, RunRow, Store
from gateway.errors import LeaseLost, RunBusy, RunNotFound, StoreError


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "echelon.db")
    yield store
    store.close()


def row(run_id: str = "R1", **changes: Any) -> RunRow:
    fixed: dict[str, Any] = {"graph": "g", "title": "t", "session": None, "ordinal": None, "parent": None, "seed": 1}
    fixed |= {"context": {"a": 1}, "limits": {"steps": 2.0}, "pins": {"p": "sha"}, "status": "running"}
    fixed |= {"stop_reason": None, "question": None, "created": 1.0, "updated": 1.0, "cancel": False}
    return RunRow(id=run_id, **{**fixed, **changes})


async def made(store: Store, run_id: str = "R1", **changes: Any) -> tuple[RunRow, Lease]:
    return await store.create(row(run_id, **changes), [Event(1, "run.started", {}, 1.0)], "s1", "host:1:1")


async def test_a_run_is_read_as_it_was_written(store: Store) -> None:
    await made(store)
    assert store.run("R1") == row()
    assert store.snapshot("R1") == (1, "s1")
    assert store.events("R1") == [Event(1, "run.started", {}, 1.0)]
    with pytest.raises(RunBusy, match="exists already"):
        await made(store)


async def test_runs_of_a_session_are_numbered(store: Store) -> None:
    for run_id in ("R1", "R2"):
        await made(store, run_id, session="s")
    await made(store, "R3", session="other")
    assert [(each.id, each.ordinal) for each in store.runs(session="s")] == [("R2", 2), ("R1", 1)]
    assert (store.at("s").id, store.at("s", 1).id) == ("R2", "R1")
    with pytest.raises(RunNotFound, match="no turn 3 in session"):
        store.at("s", 3)


async def test_events_snapshot_and_row_are_written_together_or_not_at_all(store: Store) -> None:
    _, lease = await made(store)
    with pytest.raises(LeaseLost):  # event 1 is there already
        events = [Event(2, "x", {}, 2.0), Event(1, "y", {}, 2.0)]
        await store.append("R1", lease, events, "s2", Progress("complete"))
    assert (store.last_seq("R1"), store.snapshot("R1"), store.run("R1").status) == (1, (1, "s1"), "running")
    await store.append("R1", lease, [Event(2, "x", {"n": 1}, 2.0)], "s2", Progress("complete", "success"))
    assert (store.last_seq("R1"), store.snapshot("R1"), store.run("R1").status) == (2, (2, "s2"), "complete")
    assert store.events("R1", after=1) == [Event(2, "x", {"n": 1}, 2.0)]


async def test_who_lost_the_lease_can_write_nothing(store: Store) -> None:
    _, lost = await made(store)
    await store.acquire("run:R1", "host:2:2", 1000.0)
    event = Event(2, "x", {}, 2.0)
    for durable in (False, True):
        with pytest.raises(LeaseLost):
            await store.append("R1", lost, [event], durable=durable)
    with pytest.raises(LeaseLost):
        store.append_now("R1", lost, event)
    with pytest.raises(LeaseLost):
        store.verify(lost)
    assert store.last_seq("R1") == 1


async def test_a_fulfilled_wish_to_cancel_is_forgotten_and_an_open_one_is_not(store: Store) -> None:
    _, lease = await made(store)
    await store.request_cancel("R1")
    await store.append("R1", lease, [Event(2, "x", {}, 2.0)], None, Progress("waiting_for_user"))
    assert store.cancel_requested("R1")
    await store.append("R1", lease, [Event(3, "x", {}, 2.0)], None, Progress("stopped", "user_cancelled"))
    assert not store.cancel_requested("R1")


async def test_one_snapshot_is_kept(store: Store) -> None:
    _, lease = await made(store)
    for seq in range(2, 50):
        await store.append("R1", lease, [Event(seq, "x", {}, 2.0)], f"s{seq}")
    assert store._quick.execute("SELECT seq, state FROM snapshots").fetchall() == [(49, "s49")]


@pytest.mark.parametrize("content", [b"this is no database, but a text" * 200, b"SQLite format 3\0" + b"\xff" * 8000])
def test_a_file_that_is_no_database_is_an_error_with_a_hint(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "echelon.db").write_bytes(content)
    with pytest.raises(StoreError) as caught:
        Store(tmp_path / "echelon.db")
    assert "echelon.db cannot be used" in str(caught.value)
    assert "move it away" in caught.value.hint


async def test_a_database_with_a_damaged_page_is_an_error_with_a_hint(tmp_path: Path) -> None:
    path = tmp_path / "echelon.db"
    store = Store(path)
    _, lease = await made(store)
    for seq in range(2, 300):
        await store.append("R1", lease, [Event(seq, "x", {"text": "y" * 500}, 2.0)])
    store.close()
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(b"\xa5" * (size - 4096 * 3))
    with pytest.raises(StoreError) as caught:
        Store(path).events("R1")
    assert "move it away" in caught.value.hint


def test_a_folder_that_cannot_be_made_is_an_error_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("in the way")
    with pytest.raises(StoreError) as caught:
        Store(tmp_path / "home" / "echelon.db")
    assert "ECHELON_HOME" in caught.value.hint


async def test_a_database_that_stays_locked_is_an_error_with_a_hint(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, lease = await made(store)
    store._patient.execute("PRAGMA busy_timeout = 20")
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert store.append_now("R1", lease, Event(2, "x", {}, 2.0)) is False
    with pytest.raises(StoreError) as caught:
        await store.append("R1", lease, [Event(2, "x", {}, 2.0)])
    assert "locked by another process" in str(caught.value)
    assert "end the process that holds it" in caught.value.hint
    assert store.events("R1") == [Event(1, "run.started", {}, 1.0)]  # readers are not kept waiting
    other.execute("ROLLBACK")
    await store.append("R1", lease, [Event(2, "x", {}, 2.0)])
    other.close()


async def test_a_writer_that_is_cancelled_while_its_commit_waits_keeps_its_numbers_in_step(store: Store) -> None:
    _, lease = await made(store)
    seen: list[int] = []
    log = StoredLog(store, "R1", lease, 1, lambda: 2.0, lambda event: seen.append(event.seq))
    other = sqlite3.connect(store.path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    first = asyncio.create_task(log.append("first", {}))
    second = asyncio.create_task(log.append("second", {}))
    await asyncio.sleep(0.02)
    for _ in range(3):  # as an impatient person does
        first.cancel()
        await asyncio.sleep(0)
    other.execute("ROLLBACK")
    other.close()
    with pytest.raises(asyncio.CancelledError):
        await first
    await second
    await log.append("third", {})
    assert [event.kind for event in store.events("R1")] == ["run.started", "first", "second", "third"]
    assert seen == [2, 3, 4]


async def test_closing_waits_for_a_checkpoint_and_twice_is_once(tmp_path: Path) -> None:
    store = Store(tmp_path / "echelon.db")
    await made(store)
    for _ in range(5):
        store._thread.submit(store._checkpoint)
    store.close()
    store.close()
    again = Store(tmp_path / "echelon.db")
    assert again.last_seq("R1") == 1
    again.close()
