"""A task on a phone as a table, and where its time went."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gateway.phone.task.state import Result, Step
from gateway.phone.trajectory.words import in_words

PHASES = ("perceive", "predict", "act", "settle")
STEP_HEADERS = ("step", "result", *(f"{phase} ms" for phase in PHASES), "action")
LATENCY_HEADERS = ("phase", "times", "median ms", "p95 ms", "total ms")
WHOLE = "step"


@dataclass(frozen=True)
class Latency:
    """Of a phase, or of all phases of a step together (`step`), how often it came and the milliseconds it took."""

    phase: str
    times: int
    median_ms: float
    p95_ms: float
    total_ms: float


def step_rows(steps: Iterable[Step]) -> list[list[str]]:
    """For each step its number, what came of it, milliseconds by phase, and what was done: under `STEP_HEADERS`."""
    return [
        [
            str(step.number),
            in_a_word(step.result) + (f", {step.retries} × again" if step.retries else ""),
            *(_ms(step.timings_ms[phase]) if phase in step.timings_ms else "" for phase in PHASES),
            in_words(step.action, step.target),
        ]
        for step in steps
    ]


def in_a_word(result: Result) -> str:
    """`ok`, or why not."""
    return "ok" if result.ok else result.cause or ("unclear" if result.ok is None else "failed")


def latency(steps: Sequence[Step]) -> list[Latency]:
    """By phase, in the order of a step, those that came at all; then of whole steps. The 95th percentile is the value
    that is not exceeded by 95 % of them (nearest rank)."""
    taken = {phase: [each.timings_ms[phase] for each in steps if phase in each.timings_ms] for phase in PHASES}
    taken[WHOLE] = [sum(each.timings_ms.get(phase, 0) for phase in PHASES) for each in steps]
    return [_latency(phase, sorted(ms)) for phase, ms in taken.items() if ms]


def latency_rows(steps: Sequence[Step]) -> list[list[str]]:
    """Under `LATENCY_HEADERS`."""
    return [
        [each.phase, str(each.times), _ms(each.median_ms), _ms(each.p95_ms), _ms(each.total_ms)]
        for each in latency(steps)
    ]


def _latency(phase: str, ms: Sequence[float]) -> Latency:
    p95 = ms[math.ceil(0.95 * len(ms)) - 1]
    return Latency(phase, len(ms), round(statistics.median(ms), 1), round(p95, 1), round(sum(ms), 1))


def _ms(ms: float) -> str:
    return f"{ms:,.0f}"
