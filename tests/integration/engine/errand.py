"""A run with calls of every effect, a child, a retry and a wait; and processes that work on it until they are killed.

What its operations do to the world is appended to `world.log`, outside of the engine. As a program, `errand.py HOME
PLAN` runs the errand once for each list of moments in PLAN (JSON; a moment is [which append, "before" or "after"]),
each time in processes that kill themselves at these moments, and prints what became of each.
"""

from __future__ import annotations

import asyncio
import json
import mmap
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from gateway.engine import budget
from gateway.engine.artifacts import ArtifactStore
from gateway.engine.graph import Graph
from gateway.engine.journal import Visit
from gateway.engine.nodes import Node, OnFailure, Retry, Route
from gateway.engine.ports import Clock, Effect, Operation, Reconciled, Reconciliation, Scope
from gateway.engine.runs import GraphType, Projection, Runs
from gateway.engine.scripted import ScriptedClock, ScriptedRandom
from gateway.engine.state import RunState, Status
from gateway.engine.store import RunRow, Store
from gateway.errors import ModelOverloaded

WAITING = 6
Hook = Callable[[str], None]
Work = Callable[[Path, Hook], Coroutine[Any, Any, int]]
Result = Callable[[Path], Coroutine[Any, Any, dict[str, Any]]]


class Diary(BaseModel):
    done: list[Any] = []
    rounds: int = 0


class Where(BaseModel):
    child: bool = False


class Task(Node[Diary, Where, Diary, Any]):
    """Calls some operations, and notes what they gave."""

    on_failure = OnFailure(Retry(base_delay_ms=0))

    def __init__(self, name: str, *operations: str, then: str | Route[Diary] | None, ask: str = "") -> None:
        self.name = name  # type: ignore[misc]
        self.operations = operations
        self.on_success = then
        self.ask = ask

    def build_input(self, state: Diary, context: Where) -> Diary:
        return state

    async def execute(self, given: Diary, visit: Visit) -> Any:
        results = []
        for name in self.operations:
            args = {"attempt": visit.attempt} if name == "flaky" else {"round": given.rounds}
            results.append(await visit.call(name, args))
        return [*results, await visit.ask("colour", self.ask)] if self.ask else results

    def apply_output(self, state: Diary, output: Any) -> Diary:
        return Diary(done=[*state.done, [self.name, *output]], rounds=state.rounds + 1)


class Concurrent(Task):
    """The same, all calls at once."""

    async def execute(self, given: Diary, visit: Visit) -> Any:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(visit.call(name, {"round": given.rounds})) for name in self.operations]
        return [task.result() for task in tasks]


def graph(context: Where, pins: Any) -> Graph:
    if context.child:
        return Graph("errand", [Task("Tap", "look", "tap", then="Tell"), Task("Tell", "note", then=None)], "Tap")
    twice = Route[Diary](lambda state: "Choose" if state.rounds < 3 else "Delegate", ("Choose", "Delegate"))
    nodes = [
        Task("Pay", "look", "pay", "flaky", then="Choose"),
        Task("Choose", "look", "send", then=twice, ask="Which colour?"),
        Task("Delegate", "note", "child", "tap", then="Both"),
        Concurrent("Both", "look", "note", "tap", then=None),
    ]
    return Graph("errand", nodes, "Pay")


class World:
    """Everything outside: one file."""

    def __init__(self, home: Path) -> None:
        self.path = home / "world.log"

    def did(self) -> list[str]:
        return self.path.read_text().splitlines() if self.path.exists() else []

    def do(self, line: str) -> None:
        with self.path.open("a") as file:
            file.write(f"{line}\n")

    def operation(self, name: str, effect: Effect, *, reconcile: bool = False) -> Operation:
        async def run(args: Any, scope: Scope) -> Any:
            await asyncio.sleep(0)
            self.do(f"{name} {scope.call_id}")
            if args.get("attempt") == 1:
                raise ModelOverloaded("busy")
            return None if effect is Effect.ONCE else f"{name} {args.get('round')}"

        async def look(args: Any, scope: Scope) -> Reconciliation:
            happened = f"{name} {scope.call_id}" in self.did()
            return Reconciliation(Reconciled.DONE if happened else Reconciled.NOT_DONE)

        spends = (f"{name}s",)
        return Operation(
            name, run, effect, None, look if reconcile else None, spends, lambda result: dict.fromkeys(spends, 1)
        )


def project(row: RunRow, context: Where, state: RunState, artifacts: ArtifactStore) -> Projection:
    home = artifacts.root.parent
    asked = state.waiting.question if state.waiting else ""
    text = f"# {row.title}\n{state.status} {state.stop_reason} {asked}\n{state.data.model_dump_json(indent=1)}\n"
    return Projection(home, {f"{row.id}.md": text})


def open_runs(home: Path, store: Store, clock: Clock | None = None) -> Runs:
    world = World(home)
    runs = Runs(store, ArtifactStore(home / "artifacts"), clock=clock or ScriptedClock(), random=ScriptedRandom())

    async def delegate(args: Any, scope: Scope) -> Any:
        limits = {"taps": 2.0}
        ended = await runs.child(scope, "errand", Where(child=True), Diary(), title="child", limits=limits, pins={})
        return {"status": ended.status.value, "used": budget.shared(ended.counters)}

    operations = [
        world.operation("look", Effect.READ),
        world.operation("flaky", Effect.READ),
        world.operation("note", Effect.IDEMPOTENT),
        world.operation("pay", Effect.ONCE),
        world.operation("send", Effect.ONCE),
        world.operation("tap", Effect.ONCE, reconcile=True),
        Operation("child", delegate, Effect.CHILD, None, None, ("taps",), lambda result: result["used"]),
    ]
    table = {operation.name: operation for operation in operations}
    runs.register(GraphType("errand", Where, Diary, graph, lambda row, context, pins: table, project))
    return runs


class HookedStore(Store):
    """Tells before and after each append."""

    def __init__(self, path: Path, hook: Hook, **settings: Any) -> None:
        super().__init__(path, **settings)
        self.hook = hook

    async def create(self, *args: Any, **settings: Any) -> Any:
        self.hook("before")
        created = await super().create(*args, **settings)
        self.hook("after")
        return created

    async def append(self, *args: Any, **settings: Any) -> None:
        self.hook("before")
        await super().append(*args, **settings)
        self.hook("after")

    def append_now(self, *args: Any, **settings: Any) -> bool:
        self.hook("before")
        written = super().append_now(*args, **settings)
        self.hook("after")
        return written


async def work(home: Path, hook: Hook) -> int:
    """What one process does: begin the errand or go on with it, answering what it waits for. 0 done, 6 waiting."""
    store = HookedStore(home / "echelon.db", hook)
    runs = open_runs(home, store)
    rows = [row for row in store.runs() if row.parent is None]
    if not rows:
        limits = {"taps": 10.0, "time_s": 1000.0}
        row, owned = await runs.create("errand", Where(), Diary(), title="parent", limits=limits, pins={})
        state = await runs.drive(row, owned)
    else:
        state = runs.state(rows[0])
        if state.waiting is not None and rows[0].status == Status.WAITING and open_question(store, state):
            await runs.answer(rows[0].id, answer_to(home, state))
        state = await runs.resume(rows[0].id)
    return WAITING if state.status is Status.WAITING else 0


def open_question(store: Store, state: RunState) -> bool:
    assert state.waiting is not None
    asker = state.waiting.run_id
    last = store.events(asker, after=store.snapshot(asker)[0])
    return not any(event.kind == "run.answered" for event in last)


def answer_to(home: Path, state: RunState) -> str:
    """A person knows the world: did it happen?"""
    assert state.waiting is not None
    if not state.waiting.id.startswith("doubt:"):
        return "blue"
    key = state.waiting.id.split(":")[1]
    happened = any(f"{state.waiting.run_id}/{key}/" in line for line in World(home).did())
    return "yes" if happened else "no"


def pages(home: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(home.glob("*.md"))}


async def result(home: Path) -> dict[str, Any]:
    """What is left behind, and whether a replay is identical."""
    store = Store(home / "echelon.db")
    runs = open_runs(home, store)
    row = next(row for row in store.runs() if row.parent is None)
    state = runs.state(row)
    before = World(home).did()
    replayed = await runs.replay(row.id)
    seqs = [[event.seq for event in store.events(each.id)] for each in store.runs()]
    return {
        "status": state.status.value,
        "data": state.data.model_dump(),
        "counters": {name: value for name, value in state.counters.items() if name != "time_s"},
        "pages": pages(home),
        "world": before,
        "replay": [len(replayed.differing), replayed.finished, len(replayed.children), World(home).did() == before],
        "gapless": all(seq == list(range(1, len(seq) + 1)) for seq in seqs),
    }


def in_process(job: Callable[[], int]) -> int:
    """Fork, run, and give the exit status; negative is a signal."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = job()
        except BaseException:
            sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        finally:
            sys.stderr.flush()
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def carry_out(home: Path, kills: list[tuple[int, str]], work: Work = work, result: Result = result) -> dict[str, Any]:
    """One errand, with the process killed at these appends (counted through all processes)."""
    home.mkdir(parents=True)
    count = mmap.mmap(-1, 8)  # shared with the children

    def hook(moment: str) -> None:
        number = int.from_bytes(count[:8], "big") + (moment == "before")
        count[:8] = number.to_bytes(8, "big")
        if [number, moment] in [list(kill) for kill in kills]:
            os.kill(os.getpid(), signal.SIGKILL)

    statuses = [WAITING]
    while statuses[-1] in (WAITING, -signal.SIGKILL) and len(statuses) < 30:
        statuses.append(in_process(lambda: asyncio.run(work(home, hook))))
    out = home / "result.json"

    def report() -> int:
        out.write_text(json.dumps(asyncio.run(result(home))))
        return 0

    if in_process(report) != 0:
        return {"statuses": statuses[1:], "appends": 0}
    return {"statuses": statuses[1:], "appends": int.from_bytes(count[:8], "big"), **json.loads(out.read_text())}


if __name__ == "__main__":
    base = Path(sys.argv[1])
    for index, plan in enumerate(json.loads(sys.argv[2])):
        print(json.dumps({"kills": plan, **carry_out(base / str(index), plan)}), flush=True)
