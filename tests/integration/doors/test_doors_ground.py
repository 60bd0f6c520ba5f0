"""The ground gives way: a damaged database, a locked one, a home that cannot be written, through each door."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .door import REFUSED, Door, Http
from .house import House
from .stub import Stub, complete


@pytest.mark.parametrize("damage", ["overwritten", "cut off"])
def test_a_damaged_database_is_said_to_be_one_and_is_left_as_it_is(
    door: Door, house: House, model: Stub, damage: str
) -> None:
    model.answers = [complete()]
    assert door.ask().turn == 1
    door.reopen()
    database = house.home / "echelon.db"
    whole = database.read_bytes()
    damaged = b"no database at all " * 1000 if damage == "overwritten" else whole[: len(whole) // 2]
    database.write_bytes(damaged)
    ended = door.ask()
    assert (ended.status, ended.code) == (REFUSED, 1)
    assert f"{database} cannot be used" in ended.said and "move it away" in ended.said and len(ended.said) < 400
    assert database.read_bytes() == damaged
    door.reopen()
    database.write_bytes(whole)
    assert door.ask().turn == 2


def test_a_damaged_list_of_conversations_is_said_to_be_one(house: House, model: Stub) -> None:
    """Only the server has one."""
    model.answers = [complete()]
    (house.home / "chats.db").write_bytes(b"no database at all " * 1000)
    door = Http(house)
    ended = door.ask()
    assert ended.status == REFUSED and "chats.db cannot be used" in ended.said and "moved away" in ended.said
    (house.home / "chats.db").unlink()
    assert door.ask().turn == 1
    door.close()


@pytest.mark.parametrize(
    ("broken", "code", "says"),
    [("echelon.db", 1, "move it away"), ("chats.db", 1, "moved away"), ("config.yaml", 2, "expected keys and values")],
)
def test_a_server_that_cannot_begin_ends_and_says_why(house: House, broken: str, code: int, says: str) -> None:
    (house.home / broken).write_bytes(b"no database at all " * 1000)
    ended = house.cli("serve")
    assert ended.returncode == code and "Traceback" not in ended.stderr and "serving" not in ended.stderr
    assert broken in ended.stderr and says in ended.stderr


@pytest.mark.parametrize("opened", [False, True])
def test_a_lock_of_a_moment_only_delays(door: Door, house: House, model: Stub, opened: bool) -> None:
    model.answers = [complete()]
    assert door.ask().turn == 1
    if not opened:
        door.reopen()
    with locked(house.home / "echelon.db") as release:
        threading.Timer(0.7, release.set).start()
        ended = door.ask()
    assert (ended.status, ended.turn) == ("complete", 2)


def test_a_lock_that_stays_is_said_to_be_one(
    door: Door, house: House, model: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.engine.store.BUSY_S", 0.2)
    model.answers = [complete()]
    assert door.ask().turn == 1
    with locked(house.home / "echelon.db"):
        ended = door.ask()
    assert (ended.status, ended.code) == (REFUSED, door.code(1, 500))
    assert "locked by another process" in ended.said and "end the process that holds it" in ended.said
    assert door.ask().turn == 2


def test_a_home_that_may_not_be_written_is_said_so(door: Door, house: House, model: Stub) -> None:
    model.answers = [complete()]
    with read_only(house.home):
        ended = door.ask()
    assert (ended.status, ended.code) == (REFUSED, 1)
    assert str(house.home) in ended.said and len(ended.said) < 400, ended.said
    door.reopen()
    assert door.ask().turn == 1


def test_a_home_that_may_no_longer_be_written_loses_nothing(door: Door, house: House, model: Stub) -> None:
    model.answers = [complete()]
    assert door.ask().turn == 1
    door.reopen()
    with read_only(house.home, *house.home.rglob("*")):
        ended = door.ask()
    assert (ended.status, ended.code) == (REFUSED, 1)
    assert str(house.home) in ended.said and len(ended.said) < 400, ended.said
    door.reopen()
    assert door.ask().turn == 2


@contextmanager
def locked(database: Path) -> Iterator[threading.Event]:
    """Another connection writes, until the event is set or the block ends."""
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        other = sqlite3.connect(database, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        held.set()
        release.wait(20)
        other.execute("ROLLBACK")
        other.close()

    holder = threading.Thread(target=hold)
    holder.start()
    assert held.wait(20)
    try:
        yield release
    finally:
        release.set()
        holder.join()


@contextmanager
def read_only(*paths: Path) -> Iterator[None]:
    modes = {path: path.stat().st_mode for path in paths}
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        if os.access(paths[0], os.W_OK):
            pytest.skip("whoever runs this may write everywhere")
        yield
    finally:
        for path, mode in modes.items():
            path.chmod(mode)
