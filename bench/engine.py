"""What a step of the engine costs: against plain SQLite, over 10,000 steps, and while another process holds the lock.

`python -m bench.engine` prints the table. CPU times are of this process, all its threads; ratios hold on any machine.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

from pydantic import BaseModel

from bench.table import Line, show
from gateway.engine.artifacts import ArtifactStore
from gateway.engine.graph import Graph
from gateway.engine.journal import Visit
from gateway.engine.machine import Attempt
from gateway.engine.nodes import Node, Route
from gateway.engine.ports import Effect, Operation, Scope
from gateway.engine.runs import GraphType, Runs
from gateway.engine.store import Store

STEPS = 10_000
LOCK = """
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
time.sleep(1)
db.execute("ROLLBACK")
"""


class Count(BaseModel):
    """A state of the size that a turn has: identifiers, counters, decisions."""

    steps: int = 0
    until: int = STEPS
    task_type: str = "code_modify"
    goals: tuple[str, ...] = ("find the failing test", "mend the function that it calls", "run the tests again")
    action: str = "CALL_TOOL"
    tool: str = "file.read"
    path: str = "src/package/module.py"


class Nothing(BaseModel):
    pass


class Decide(Node[Count, Nothing, int, int]):
    name = "Decide"
    on_success = Route[Count](lambda state: "Decide" if state.steps < state.until else None, ("Decide", None))

    def build_input(self, state: Count, context: Nothing) -> int:
        return state.steps

    async def execute(self, given: int, visit: Visit) -> int:
        return given + 1

    def apply_output(self, state: Count, output: int) -> Count:
        return Count(steps=output, until=state.until)


class Call(Decide):
    """The same, with one journaled call."""

    async def execute(self, given: int, visit: Visit) -> int:
        return int(await visit.call("add", {"to": given}))


async def _add(args: Mapping[str, int], scope: Scope) -> int:
    return args["to"] + 1


class Polite(Call):
    """The same, and another run has its turn before each step."""

    async def execute(self, given: int, visit: Visit) -> int:
        await asyncio.sleep(0)
        return await super().execute(given, visit)


class Home:
    """An engine in a temporary folder."""

    def __init__(self, folder: Path, node: Decide, effect: Effect = Effect.READ, *, watched: bool = False) -> None:
        self.store = Store(folder / "echelon.db")
        self.runs = Runs(self.store, ArtifactStore(folder / "artifacts"), on_attempt=self._tell if watched else None)
        self.on_attempt: Callable[[Attempt], None] = lambda attempt: None
        table = {"add": Operation("add", _add, effect)}
        build = lambda context, pins: Graph("count", [node], "Decide")  # noqa: E731
        self.runs.register(GraphType("count", Nothing, Count, build, lambda row, context, pins: table))

    def _tell(self, attempt: Attempt) -> None:
        self.on_attempt(attempt)

    async def run(self, steps: int) -> str:
        row, owned = await self.runs.create("count", Nothing(), Count(until=steps), title="b", limits={}, pins={})
        await self.runs.drive(row, owned)
        return row.id


async def step_cost(folder: Path, rounds: int = 11, steps: int = 600) -> Line:
    """CPU of a node step against a WAL append of the same event and snapshot, in turns; the median of the ratios.

    Both check point their logs: plain SQLite as it does by itself, the store in its thread.
    """
    home = Home(folder / "engine", Decide())
    plain = sqlite3.connect(folder / "plain.db", isolation_level=None)
    plain.executescript(
        """PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
        CREATE TABLE events (run_id TEXT, seq INTEGER, kind TEXT, at REAL, data TEXT, PRIMARY KEY (run_id, seq))
        WITHOUT ROWID; CREATE TABLE snapshots (run_id TEXT PRIMARY KEY, seq INTEGER, state TEXT);"""
    )
    await home.run(steps)
    ratios, costs = [], []
    for number in range(rounds):
        before = time.process_time()
        run_id = await home.run(steps)
        engine = time.process_time() - before
        events, (_, state) = home.store.events(run_id), home.store.snapshot(run_id)
        data = [json.dumps(event.data) for event in events]
        before = time.process_time()
        for event, text in zip(events, data, strict=True):
            plain.execute("BEGIN IMMEDIATE")
            values = (f"{run_id}{number}", event.seq, event.kind, event.at, text)
            plain.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?)", values)
            plain.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", (values[0], event.seq, state))
            plain.execute("COMMIT")
        ratios.append(engine / (time.process_time() - before))
        costs.append(engine / steps * 1e6)
    home.store.close()
    ratio = median(ratios)
    measured = f"{ratio:.2f} × ({median(costs):.0f} µs)"
    return Line("CPU of a node step, against a plain SQLite append", measured, "≤ 3 ×", ratio <= 3)


async def long_run(folder: Path) -> list[Line]:
    """10,000 steps with a call each: time per step, bytes per event, memory.

    The last steps are timed in turns with those of a new run, so that a machine that slows down is not taken for a run
    that does.
    """
    home = Home(folder / "long", Polite(), watched=True)
    times: dict[bool, list[float]] = {False: [], True: []}
    memory: list[int] = []
    last = 0.0
    fresh: asyncio.Task[str] | None = None

    def time_steps(attempt: Attempt) -> None:
        nonlocal last, fresh
        if attempt.visit == STEPS - 700:
            fresh = asyncio.create_task(home.run(700))
        times[attempt.visit > 1000].append(time.perf_counter() - last)
        last = time.perf_counter()

    def weigh(attempt: Attempt) -> None:
        if attempt.visit in (STEPS // 10, STEPS):
            gc.collect()
            memory.append(tracemalloc.get_traced_memory()[0])

    home.on_attempt = time_steps
    run_id = await home.run(STEPS)
    assert fresh is not None
    await fresh
    early, late = median(times[False][-600:-50]), median(times[True][-600:-50])
    sql = "SELECT count(*), sum(length(data)) FROM events WHERE run_id = ? AND seq <= ?"
    with sqlite3.connect(home.store.path) as db:
        sizes = [db.execute(sql, (run_id, 3 * until)).fetchone() for until in (STEPS // 10, STEPS)]
    times.clear()
    home.on_attempt = weigh
    tracemalloc.start()
    await home.run(STEPS)
    tracemalloc.stop()
    home.store.close()
    whole = (folder / "long" / "echelon.db").stat().st_size
    growth = (memory[1] - memory[0]) / 1e6
    bytes_early, bytes_late = (size / count for count, size in sizes)
    ratio, linear = late / early, bytes_late / bytes_early
    return [
        Line("time per step, at the end of 10,000 against from 100 on", f"{ratio:.2f} ×", "≤ 1.2 ×", ratio <= 1.2),
        Line("bytes per event, 10,000 steps against 1,000", f"{linear:.2f} ×", "≤ 1.2 ×", linear <= 1.2),
        Line("database after 20,700 steps with a call each", f"{whole / 1e6:.1f} MB", "< 1 kB a step", whole < 20.7e6),
        Line("memory, from step 1,000 to step 10,000", f"{growth:+.2f} MB", "flat (< 1 MB)", growth < 1),
    ]


async def stall(folder: Path) -> Line:
    """How late the event loop is while steps are written and another process holds the write lock for a second."""
    home = Home(folder / "stall", Call(), Effect.ONCE)
    late: list[float] = []

    async def tick() -> None:
        while True:
            due = time.perf_counter() + 0.001
            await asyncio.sleep(0.001)
            late.append((time.perf_counter() - due) * 1000)

    await home.run(20)
    other = await asyncio.create_subprocess_exec(
        sys.executable, "-c", LOCK, str(home.store.path), stdout=subprocess.PIPE
    )
    assert other.stdout is not None
    await other.stdout.readline()
    ticking = asyncio.create_task(tick())
    runs = [asyncio.create_task(home.run(100)) for _ in range(4)]
    await other.wait()
    await asyncio.gather(*runs)
    ticking.cancel()
    home.store.close()
    p99 = sorted(late)[int(len(late) * 0.99)]
    measured = f"{p99:.1f} ms (worst {max(late):.1f} ms, {len(late)} looks)"
    return Line("event-loop stall p99, the write lock held for 1 s", measured, "< 20 ms", p99 < 20)


async def measure() -> list[Line]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [await step_cost(folder), *await long_run(folder), await stall(folder)]


if __name__ == "__main__":
    show("The engine", asyncio.run(measure()))
