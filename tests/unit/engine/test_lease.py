from __future__ import annotations

import os
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.engine import lease
from gateway.errors import LeaseLost, RunBusy

HERE = lease.this_process()
ELSEWHERE = "another-host:1:1:0"


def database() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:")
    db.executescript(lease.SCHEMA)
    return db


def test_a_lease_is_exclusive_until_its_term_is_over() -> None:
    db = database()
    lease.acquire(db, "device:1", ELSEWHERE, 100, 15)
    with pytest.raises(RunBusy) as caught:
        lease.acquire(db, "device:1", HERE, 114.9, 15)
    assert "in use by process 1 on another-host" in str(caught.value)
    assert caught.value.hint
    assert lease.acquire(db, "device:1", HERE, 115, 15).epoch == 2
    lease.acquire(db, "device:2", HERE, 100, 15)


def test_each_owner_has_a_higher_epoch_and_the_earlier_one_can_neither_verify_renew_nor_release() -> None:
    db = database()
    old = lease.acquire(db, "run:1", ELSEWHERE, 100, 15)
    new = lease.acquire(db, "run:1", HERE, 200, 15)
    for act in (lambda: lease.verify(db, old), lambda: lease.renew(db, old, 200, 15)):
        with pytest.raises(LeaseLost):
            act()
    lease.release(db, old)
    lease.verify(db, new)
    with pytest.raises(RunBusy):
        lease.acquire(db, "run:1", ELSEWHERE, 201, 15)


def test_a_renewed_lease_lasts_another_term() -> None:
    db = database()
    mine = lease.acquire(db, "run:1", ELSEWHERE, 100, 15)
    lease.renew(db, mine, 110, 15)
    with pytest.raises(RunBusy):
        lease.acquire(db, "run:1", HERE, 124, 15)


def test_a_released_lease_is_free_and_its_epoch_goes_on() -> None:
    db = database()
    lease.release(db, lease.acquire(db, "run:1", ELSEWHERE, 100, 15))
    assert lease.acquire(db, "run:1", HERE, 101, 15).epoch == 2


def test_an_owner_of_this_machine_that_is_gone_is_succeeded_at_once() -> None:
    code = "from gateway.engine import lease; print(lease.this_process())"
    gone = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    db = database()
    lease.acquire(db, "run:1", f"{gone}:7", 100, 15)
    assert lease.acquire(db, "run:1", HERE, 100, 15).epoch == 2


def test_an_owner_that_was_killed_and_not_yet_waited_for_is_gone() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    assert not lease.alive(f"{socket.gethostname()}:{child}:12345:0")
    os.waitpid(child, 0)


def test_a_later_process_with_the_same_pid_is_another_one() -> None:
    host, pid, started = HERE.split(":")
    assert lease.alive(HERE)
    assert not lease.alive(f"{host}:{pid}:{int(started) + 1 if Path('/proc').exists() else 'x'}")


def test_an_owner_on_another_machine_may_be_alive() -> None:
    assert lease.alive(ELSEWHERE)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 30)), max_size=30))
def test_at_any_time_one_lease_at_most_can_be_verified(moves: list[tuple[str, float]]) -> None:
    db, now, held = database(), 0.0, []
    for who, passed in moves:
        now += passed
        try:
            held.append(lease.acquire(db, "run:1", f"host-{who}:1:1", now, 15))
        except RunBusy:
            continue
    valid = 0
    for each in held:
        try:
            lease.verify(db, each)
            valid += 1
        except LeaseLost:
            pass
    assert valid == min(1, len(held))
    assert [each.epoch for each in held] == list(range(1, len(held) + 1))
