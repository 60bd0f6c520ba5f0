"""What a turn costs beside its model calls: against bare litellm, and against LangGraph doing the same job.

Four model calls and three tool calls, against a server without delay; each contestant is a process of its own, and they
take turns, so that a machine that slows down slows all of them. `BENCH_PYTHON` is the Python that has LangGraph.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from statistics import median

from bench.stub import stub_server
from bench.table import Line, show
from bench.worker import Worker

ROUNDS, TASKS, WARM_UP = 15, 10, 20


def measure(rounds: int = ROUNDS, tasks: int = TASKS, warm_up: int = WARM_UP) -> list[Line]:
    with ExitStack() as stack:
        base = stack.enter_context(stub_server())
        workers: dict[str, Worker] = {}
        for name, python in (
            ("echelon", sys.executable),
            ("litellm", sys.executable),  # repeats the calls that the stub has from the one before
            ("langgraph", os.environ["BENCH_PYTHON"]),
        ):
            workers[name] = stack.enter_context(Worker(python, f"bench.turn_{name}", base))
            workers[name].cpu_ms(warm_up)
        ms: dict[str, list[float]] = {name: [] for name in workers}
        for _ in range(rounds):
            for name, worker in workers.items():
                ms[name].append(worker.cpu_ms(tasks))
    echelon, litellm, langgraph = (median(ms[name]) for name in ("echelon", "litellm", "langgraph"))
    to_litellm = median(one / other for one, other in zip(ms["echelon"], ms["litellm"], strict=True))
    to_langgraph = median(one / other for one, other in zip(ms["echelon"], ms["langgraph"], strict=True))
    return [
        Line("bare litellm: its four model calls", f"{litellm:.1f} ms"),
        Line("LangGraph create_agent, AsyncSqliteSaver", f"{langgraph:.1f} ms"),
        Line("an Echelon turn", f"{echelon:.1f} ms"),
        Line("… against bare litellm", f"{to_litellm:.2f} ×", "≤ 1.25 ×", to_litellm <= 1.25),
        Line("… against LangGraph", f"{to_langgraph:.2f} ×", "< 1 ×", to_langgraph < 1),
    ]


if __name__ == "__main__":
    show("CPU of a task: 4 model calls, 3 tool calls", measure())
