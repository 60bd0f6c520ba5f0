"""An owner that was frozen past its lease, and whose run was resumed by another process, can do and write nothing."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import frozen
import pytest


def begin(home: Path, freeze_at: int = 0, term_s: float = 0.4) -> subprocess.Popen[str]:
    program = [sys.executable, frozen.__file__, str(home), str(term_s), str(freeze_at)]
    return subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def result(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=60)
    assert not err, err
    return out.strip()


def events(home: Path) -> list[tuple[object, ...]]:
    with sqlite3.connect(home / "echelon.db") as db:
        return db.execute("SELECT run_id, seq, kind, at, data FROM events ORDER BY run_id, seq").fetchall()


def run_id(home: Path) -> object:
    return events(home)[0][0]


# The errand: 1 create, 2–3 look, 4–5 tap (ONCE), 6 decision, 7–8 note, 9 decision.
@pytest.mark.parametrize("freeze_at", [1, 3, -4, 4, -5, 5, -6, 6, -9])
def test_a_thawed_owner_writes_nothing_and_acts_no_more(tmp_path: Path, freeze_at: int) -> None:
    first = begin(tmp_path, freeze_at)
    os.waitid(os.P_PID, first.pid, os.WSTOPPED)
    second = result(begin(tmp_path))  # starting it takes longer than what is left of the term, or nearly
    while second.startswith("run_busy"):
        second = result(begin(tmp_path))
    assert second == "complete"
    log, did = events(tmp_path), (tmp_path / "world.log").read_text()
    page = next(tmp_path.glob("*.md")).read_text()
    first.send_signal(signal.SIGCONT)
    assert result(first).startswith("lease_lost: ")
    assert events(tmp_path) == log
    assert (tmp_path / "world.log").read_text() == did
    assert next(tmp_path.glob("*.md")).read_text() == page
    assert Counter(line.split()[0] for line in did.splitlines())["tap"] == 1


def test_an_owner_that_is_thawed_within_its_lease_goes_on(tmp_path: Path) -> None:
    first = begin(tmp_path, 4, term_s=30)
    os.waitid(os.P_PID, first.pid, os.WSTOPPED)
    first.send_signal(signal.SIGCONT)
    assert result(first) == "complete"


def test_a_frozen_owner_keeps_the_run_for_its_term_and_a_killed_one_is_succeeded_at_once(tmp_path: Path) -> None:
    first = begin(tmp_path, 3, term_s=30)
    os.waitid(os.P_PID, first.pid, os.WSTOPPED)
    assert result(begin(tmp_path)).startswith(f"run_busy: run:{run_id(tmp_path)} is in use by process {first.pid}")
    first.kill()
    first.communicate()
    assert result(begin(tmp_path)) == "complete"
