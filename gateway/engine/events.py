"""The event log's vocabulary: append-only, numbered without gaps within a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

RUN_STARTED = "run.started"
RUN_RESUMED = "run.resumed"
RUN_INTERRUPTED = "run.interrupted"
RUN_ANSWERED = "run.answered"
CALL_INTENDED = "call.intended"
CALL_IN_DOUBT = "call.in_doubt"
CALL_ENDED = "call.ended"
NODE_DECIDED = "node.decided"


@dataclass(frozen=True)
class Event:
    """`seq` counts from 1 within the run; `at` is wall time in seconds since the epoch, and no part of a replay."""

    seq: int
    kind: str
    data: dict[str, Any]
    at: float = 0.0
