"""What an autonomous session costs beside its agent and its conditions: starting, iterating, checkpoints of a large
workspace, telling a watcher in another process, and nine sessions at once.

`python -m bench.loop` prints the table.
"""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median

from bench.table import Line, show
from gateway import Gateway, Settings
from gateway.engine.events import CALL_ENDED, CALL_INTENDED
from gateway.engine.graph import Graph
from gateway.engine.graph_type import GraphType
from gateway.engine.journal import Visit
from gateway.engine.nodes import Node
from gateway.engine.state import RunState
from gateway.loop.agents.agent import Assignment, Told
from gateway.loop.checkpoints import Checkpoints
from gateway.loop.state import Limits, LoopOptions, LoopState, Plain
from gateway.loops import Session
from gateway.tools.child import Caller, ChildRun

ITERATIONS = 50
FILES = 10_000
SESSIONS = 9
BURN = f'command:{sys.executable} -I -S -c "sum(range(3000000))"'  # some tenths of a second of CPU time
WATCHER = """
import asyncio, sys, time
from pathlib import Path
from gateway import Gateway, Settings
async def main():
    async with Gateway(Settings.load({}, environ={"ECHELON_HOME": sys.argv[1]})) as gateway:
        print("there", flush=True)
        sys.stdin.readline()
        seen = 0
        async for report in gateway.loops.watch("last"):
            if report.iteration > seen:
                seen = report.iteration
                print(seen, time.time(), flush=True)
asyncio.run(main())
"""


class Nothing(Plain):
    """No context, no state."""


class Idle(Node[Nothing, Nothing, None, None]):
    """An iteration in which nothing is done."""

    name = "Idle"

    def build_input(self, state: Nothing, context: Nothing) -> None:
        return None

    async def execute(self, given: None, visit: Visit) -> None:
        return None

    def apply_output(self, state: Nothing, output: None) -> Nothing:
        return state


class IdleAgent:
    """Does nothing, `pause_s` long, so that what is measured is the session's own."""

    def __init__(self, pause_s: float = 0.0) -> None:
        self._pause_s = pause_s

    async def pins(self) -> dict[str, bytes]:
        return {}

    async def begin(self, given: Assignment, caller: Caller) -> ChildRun:
        await asyncio.sleep(self._pause_s)
        return ChildRun("idle", Nothing(), Nothing(), title="", limits={}, pins={})

    def told(self, state: RunState, hint: str) -> Told:
        return Told(outcome="done", summary="nothing")


@asynccontextmanager
async def gateway_in(home: Path, workspace: Path) -> AsyncIterator[Gateway]:
    settings = Settings.load({"workspace": workspace}, environ={"ECHELON_HOME": str(home)}, cwd=workspace)
    async with Gateway(settings) as gateway:
        gateway.runs.register(
            GraphType("idle", Nothing, Nothing, lambda *_: Graph("idle", [Idle()], start="Idle"), lambda *_: {})
        )
        yield gateway


def _workspace(place: Path, files: int = 20) -> Path:
    for number in range(files):
        path = place / f"part{number % 100}" / f"file{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(f"x{line} = {number * line}" for line in range(60)))
    return place


async def _idle(
    gateway: Gateway, workspace: Path, iterations: int, *, exits: Sequence[str] = (), pause_s: float = 0.0
) -> tuple[Session, float]:
    """A session in which nothing is done, and the milliseconds until it was written down."""
    begun: list[float] = []
    asked = time.perf_counter()
    session = await gateway.loops.start(
        "Nothing",
        exits=exits,
        options=LoopOptions(agent="idle", checkpoint_every=10**6, patience=10**6),
        limits=Limits(iterations=iterations),
        workspace=workspace,
        agent=IdleAgent(pause_s),
        on_begin=lambda _: begun.append((time.perf_counter() - asked) * 1000),
    )
    return session, begun[0]


def _gaps(gateway: Gateway, session: Session) -> list[float]:
    """Milliseconds between the end of each iteration and the beginning of its evaluation."""
    gaps, ended = [], None
    for event in gateway.runs.store.events(session.run_id):
        if event.kind == CALL_ENDED and event.data["op"] == "loop.iterate":
            ended = event.at
        elif event.kind == CALL_INTENDED and event.data["op"] == "loop.evaluate" and ended is not None:
            gaps.append((event.at - ended) * 1000)
    return gaps


async def _alone(root: Path) -> list[Line]:
    workspace = _workspace(root / "small")
    async with gateway_in(root / "home", workspace) as gateway:
        await _idle(gateway, workspace, 3)  # what is loaded once
        session, begun = await _idle(gateway, workspace, ITERATIONS)
        records = session.state.iterations
        own = (records[-1].ended - records[0].began) / len(records) * 1000
        gap = max(_gaps(gateway, session))
        asked = time.perf_counter()
        gateway.loops.report(session.run_id)
        reported = (time.perf_counter() - asked) * 1000
    return [
        Line("a session is executing after (SC-001)", f"{begun:.0f} ms", "≤ 1 s", begun <= 1000),
        Line("the session's own share of an iteration", f"{own:.1f} ms", "≤ 50 ms", own <= 50),
        Line("evaluation begins after an iteration (SC-002)", f"{gap:.0f} ms at most", "≤ 30 s", gap <= 30_000),
        Line("a report on it (SC-009)", f"{reported:.0f} ms", "≤ 2 s", reported <= 2000),
    ]


def _command_line(root: Path) -> list[Line]:
    """The same as a person has it: from the command to the first line about the session."""
    (work := root / "typed").mkdir()
    env = {**os.environ, "ECHELON_HOME": str(root / "home2")}
    start = [sys.executable, "-m", "echelon", "loop", "start", "Nothing", "--exit", "command:true"]
    start += ["--agent", "command:true", "--max-iterations", "1"]
    took = []
    for _ in range(3):
        asked = time.perf_counter()
        with subprocess.Popen(start, cwd=work, env=env, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
            assert process.stderr is not None
            process.stderr.readline()
            took.append(time.perf_counter() - asked)
            process.stderr.read()
    return [Line("`echelon loop start`: the first line about it", f"{median(took):.2f} s", "≤ 1 s", median(took) <= 1)]


def _git(workspace: Path, *command: str) -> None:
    subprocess.run(["git", "-c", "user.name=b", "-c", "user.email=b@b", *command], cwd=workspace, check=True)


async def _checkpoints(root: Path) -> list[Line]:
    lines = []
    state = LoopState(exits=(), limits=Limits())
    for kind in ("git, committed", "git, not committed", "no git"):
        workspace = _workspace(root / kind.replace(", ", "-").replace(" ", "-"), FILES)
        if kind != "no git":
            _git(workspace, "init", "-q")
        if kind == "git, committed":
            _git(workspace, "add", "-A")
            _git(workspace, "commit", "-qm", "all")
        checkpoints = Checkpoints(root / "checkpoints" / kind.split()[-1] / workspace.name, workspace)
        took = []
        for number in (1, 2):
            (workspace / "part0" / "file0.py").write_text(f"x = {number}\n")
            began = time.perf_counter()
            await checkpoints.save(number=number, why="interval", at=time.time(), session="S", agent="a", state=state)
            took.append(time.perf_counter() - began)
        said = f"{took[0]:.2f} s, then {took[1]:.2f} s"
        lines.append(Line(f"a checkpoint of {FILES:,} files (SC-003), {kind}", said, "≤ 2 s", took[0] <= 2))
    return lines


async def _watched(root: Path) -> list[Line]:
    """Seconds from an iteration's end to its report in another process."""
    workspace = _workspace(root / "watched")
    home = root / "watched-home"
    async with gateway_in(home, workspace) as gateway:
        await _idle(gateway, workspace, 1)
        watcher = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", WATCHER, str(home)), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert watcher.stdin is not None and watcher.stdout is not None
        await watcher.stdout.readline()
        running = asyncio.create_task(_idle(gateway, workspace, 10, pause_s=0.3))
        await asyncio.sleep(0.15)
        watcher.stdin.write(b"\n")
        session, _ = await running
        told = [line.split() for line in (await watcher.stdout.read()).decode().splitlines()]
        await watcher.wait()
    ended = {each.number: each.ended for each in session.state.iterations}
    late = [float(at) - ended[int(number)] for number, at in told]
    worst = max(late)
    said = f"{median(late) * 1000:.0f} ms, {worst * 1000:.0f} ms at most of {len(late)}"
    return [Line("an iteration's end reaches a watcher in another process (SC-004)", said, "≤ 0.5 s", worst <= 0.5)]


async def _many(root: Path) -> list[Line]:
    """Nine sessions whose conditions take CPU time, against what that time explains on these cores."""
    cores = len(os.sched_getaffinity(0))

    async def iterations(count: int, each: int) -> tuple[float, float]:
        """Mean seconds of an iteration with its evaluation, and CPU seconds of its condition."""
        place = root / f"many-{count}"
        spaces = [_workspace(place / f"w{number}") for number in range(count)]
        async with gateway_in(place / "home", spaces[0]) as gateway:
            began, cpu = time.perf_counter(), _children_s()
            await asyncio.gather(*(_idle(gateway, space, each, exits=(BURN,)) for space in spaces))
            took = time.perf_counter() - began
            return took / (each + 1), (_children_s() - cpu) / (count * (each + 1))

    one, burnt = await iterations(1, 5)
    nine, burnt_nine = await iterations(SESSIONS, 5)
    explained = max(one, burnt_nine * SESSIONS / cores)
    over = nine / explained
    return [
        Line("an iteration of one session, its condition's CPU time", f"{one * 1000:.0f} ms, {burnt * 1000:.0f} ms"),
        Line(
            f"an iteration of {SESSIONS} at once (SC-007), over what CPU time explains",
            f"{nine * 1000:.0f} ms, {over:.2f} ×",
            "≤ 1.25 ×",
            over <= 1.25,
        ),
    ]


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def _measured() -> list[Line]:
    with tempfile.TemporaryDirectory(prefix="echelon-bench-") as folder:
        root = Path(folder)
        lines = await _alone(root)
        lines += await asyncio.to_thread(_command_line, root)
        lines += await _checkpoints(root)
        lines += await _watched(root)
        return lines + await _many(root)


def measure() -> list[Line]:
    return asyncio.run(_measured())


if __name__ == "__main__":
    show("An autonomous session", measure())
