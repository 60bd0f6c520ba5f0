"""Who may write: a lease has an owner, a term and an epoch. Losing it means that nothing more can be written.

Runs, sessions and devices are leased in the same way. A lease ends with its term, or at once where its owner was a
process of this machine that no longer exists; a process that is merely frozen keeps it until the term is over.
"""

from __future__ import annotations

import os
import socket
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import LeaseLost, RunBusy

TERM_S = 15.0
SCHEMA = """
CREATE TABLE IF NOT EXISTS leases (
  name TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL, epoch INTEGER NOT NULL) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class Lease:
    name: str
    owner: str
    epoch: int


def this_process() -> str:
    """host:pid:start time, which tells a process from a later one with the same pid."""
    return f"{socket.gethostname()}:{os.getpid()}:{_started(os.getpid())}"


def alive(owner: str) -> bool:
    """False only where it is certain that the owner is gone."""
    host, pid, started = owner.split(":")[:3]
    if host != socket.gethostname():
        return True
    return _started(int(pid)) == started


def _started(pid: int) -> str:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "gone" if fields[0] in "ZX" else fields[19]
    except OSError:
        pass
    if Path("/proc/self/stat").exists():
        return "gone"
    try:  # no /proc on this system: existence is all that can be told
        os.kill(pid, 0)
    except ProcessLookupError:
        return "gone"
    except PermissionError:
        pass
    return "there"


def acquire(db: sqlite3.Connection, name: str, owner: str, now: float, term_s: float) -> Lease:
    """Take the lease inside the caller's transaction; RunBusy while a live owner holds it."""
    row = db.execute("SELECT owner, until, epoch FROM leases WHERE name = ?", (name,)).fetchone()
    holder, until, epoch = row or ("", 0.0, 0)
    if _in_force(holder, until, now):
        raise RunBusy(
            f"{name} is in use by process {holder.split(':')[1]} on {holder.split(':')[0]}",
            hint=f"wait until it is done, or end that process; its lease ends {until - now:.0f} s after it stops",
        )
    db.execute("INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?)", (name, owner, now + term_s, epoch + 1))
    return Lease(name, owner, epoch + 1)


def held(db: sqlite3.Connection, name: str, now: float) -> bool:
    """Whether somebody who is alive, as far as can be told, has the lease."""
    row = db.execute("SELECT owner, until FROM leases WHERE name = ?", (name,)).fetchone()
    return row is not None and _in_force(row[0], row[1], now)


def _in_force(holder: str, until: float, now: float) -> bool:
    return bool(holder) and until > now and alive(holder)


def verify(db: sqlite3.Connection, lease: Lease) -> None:
    row = db.execute("SELECT epoch FROM leases WHERE name = ?", (lease.name,)).fetchone()
    if row is None or row[0] != lease.epoch:
        raise LeaseLost(f"{lease.name} has another owner now: this process lost its lease and writes nothing more")


def renew(db: sqlite3.Connection, lease: Lease, now: float, term_s: float) -> None:
    verify(db, lease)
    db.execute("UPDATE leases SET until = ? WHERE name = ?", (now + term_s, lease.name))


def release(db: sqlite3.Connection, lease: Lease) -> None:
    db.execute("UPDATE leases SET owner = '', until = 0 WHERE name = ? AND epoch = ?", (lease.name, lease.epoch))
