"""How autonomous sessions end, warn and recover: counts over many of them, where the specification promises "all".

`python -m bench.loop_ends` prints the table.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import product
from pathlib import Path

from bench.loop import IdleAgent, gateway_in
from bench.table import Line, show
from gateway.engine.events import CALL_INTENDED
from gateway.loop.agents.agent import Assignment
from gateway.loop.limits import NEAR
from gateway.loop.state import Limits, LoopOptions
from gateway.tools.child import Caller, ChildRun

REACHED = (1, 2, 3, 5, 8, 13, 99)  # the iteration whose work is all that is wanted; the last is none's
LIMITS = (1, 2, 3, 4, 5, 7, 10)
KILLED = 20  # sessions
ITERATIONS = 6  # of each of these
AGENT = """#!/bin/sh
cat > /dev/null
echo "$ECHELON_ITERATION" >> done
sleep 0.1
touch "is-$ECHELON_ITERATION"
"""


class Working(IdleAgent):
    """Leaves a file that is called as the iteration."""

    def __init__(self, workspace: Path) -> None:
        super().__init__()
        self._workspace = workspace

    async def begin(self, given: Assignment, caller: Caller) -> ChildRun:
        (self._workspace / str(given.iteration)).touch()
        return await super().begin(given, caller)


async def _endings(root: Path) -> list[Line]:
    """Sessions that reach what is wanted in an iteration, before and after their limit and never."""
    ended = warned = expected = unasked = 0
    pairs = list(product(REACHED, LIMITS))
    async with gateway_in(root / "home", root) as gateway:
        for reached, limit in pairs:
            (workspace := root / f"{reached}-{limit}").mkdir()
            session = await gateway.loops.start(
                "Count",
                exits=(f"command:test -e {reached}",),
                options=LoopOptions(agent="idle", checkpoint_every=10**6, patience=10**6),
                limits=Limits(iterations=limit),
                workspace=workspace,
                agent=Working(workspace),
            )
            as_it_should = ("completed", reached) if reached <= limit else ("iteration_limit_reached", limit)
            ended += (session.status, session.state.iteration) == as_it_should
            told = [
                event.data["args"]["iteration"]
                for event in gateway.runs.store.events(session.run_id)
                if event.kind == CALL_INTENDED
                and event.data["op"] == "loop.notify"
                and event.data["args"]["kind"] == "warning"
            ]
            first = next(number for number in range(1, limit + 1) if number >= NEAR * limit)
            due = [first] if session.state.iteration >= first else []
            expected += len(due)
            warned += len(set(told) & set(due))
            unasked += len(told) - len(set(told) & set(due))
    return [
        Line(
            "sessions that end where their conditions or their limit say (SC-005)",
            f"{ended} of {len(pairs)}",
            "all",
            ended == len(pairs),
        ),
        Line(
            "… that warn in the first iteration at 80 % of it (SC-008)",
            f"{warned} of {expected}, {unasked} at other times",
            "all, 0",
            warned == expected and not unasked,
        ),
    ]


def _killed(root: Path) -> list[Line]:
    """kill -9 of the process of a session at any moment, then `echelon loop resume`."""
    agent = root / "agent.sh"
    agent.write_text(AGENT)
    agent.chmod(0o755)
    moments = random.Random(1)
    recovered, again, cut = 0, 0, 0
    for number in range(KILLED):
        (workspace := root / f"work-{number}").mkdir()
        env = {**os.environ, "ECHELON_HOME": str(root / f"home-{number}")}
        command = [sys.executable, "-m", "echelon", "loop"]
        start = [*command, "start", "Count", "--exit", f"command:test -e is-{ITERATIONS}", "--checkpoint-every", "1"]
        with subprocess.Popen(
            [*start, "--agent", f"command:{agent}"],
            cwd=workspace,
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as process:
            assert process.stderr is not None
            process.stderr.readline()  # it is written down
            time.sleep(moments.uniform(0, 1.5))
            process.send_signal(signal.SIGKILL)
            process.stderr.read()
        cut += process.returncode == -signal.SIGKILL
        if process.returncode:
            done = subprocess.run(
                [*command, "resume", "last"],
                cwd=workspace,
                env=env,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            times = Counter((workspace / "done").read_text().split())
            recovered += done.returncode == 0 and len(times) == ITERATIONS
            again = max(again, times.total() - len(times))
    return [
        Line(
            f"sessions of {ITERATIONS} iterations that were killed, and went on to their end (SC-006)",
            f"{recovered} of {cut}",
            "all",
            recovered == cut,
        ),
        Line("… iterations of one of them that were done again", f"{again} at most", "≤ 1", again <= 1),
    ]


def measure() -> list[Line]:
    with tempfile.TemporaryDirectory(prefix="echelon-bench-") as folder:
        (ends := Path(folder, "ends")).mkdir()
        (killed := Path(folder, "killed")).mkdir()
        return asyncio.run(_endings(ends)) + _killed(killed)


if __name__ == "__main__":
    show("Sessions that end, warn and are killed", measure())
