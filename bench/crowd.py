"""Many turns at once in one process: do all of them end, how long does it take, and what memory does each take?"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.stub import stub_server
from bench.table import Line, show
from bench.turn_echelon import gateway, turn

TURNS = 200


def resident_mb() -> float:
    """Memory of this process now; Linux only."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def peak_mb() -> float:
    """The most memory that this process had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def crowd(base: str, turns: int) -> dict[str, float]:
    """The turns in sessions of their own; raises where one does not do the whole job."""
    with tempfile.TemporaryDirectory() as name:
        async with gateway(Path(name), base) as opened:
            await turn(opened, "first")
            before, began = resident_mb(), time.perf_counter()
            await asyncio.gather(*(turn(opened, f"s{number}") for number in range(turns)))
            return {"s": time.perf_counter() - began, "first_mb": before, "more_mb": peak_mb() - before}


def measure(turns: int = TURNS) -> list[Line]:
    with stub_server() as base:
        command = [sys.executable, "-m", "bench.crowd", base, str(turns)]
        done = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    each = done["more_mb"] / turns
    return [
        Line("all complete, in", f"{done['s']:.1f} s"),
        Line("resident after the first turn", f"{done['first_mb']:.0f} MB"),
        Line("memory of each turn over the first, at the peak", f"{each:.2f} MB", "≤ 2 MB", each <= 2),
    ]


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(asyncio.run(crowd(sys.argv[1], int(sys.argv[2])))))
    else:
        show(f"{TURNS} turns at once", measure())
