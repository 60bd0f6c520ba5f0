"""A run's events as lines that a person reads."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from echelon.terminal import one_line
from gateway.engine import events
from gateway.engine.events import Event

LONGEST = 120


def line(event: Event) -> str:
    """Number, local time, kind, and what matters of it."""
    at = time.strftime("%H:%M:%S", time.localtime(event.at)) + f".{int(event.at % 1 * 1000):03d}"
    return f"{event.seq:>5}  {at}  {event.kind:<15}  {one_line(_told(event), LONGEST)}".rstrip()


def _told(event: Event) -> str:
    data = event.data
    match event.kind:
        case events.RUN_STARTED:
            return f"{data['graph']}, {len(data['pins'])} files pinned"
        case events.RUN_RESUMED:
            limits = ", ".join(f"{name} {value:g}" for name, value in sorted(data.get("limits", {}).items()))
            return f"after {data['after']}" + (f", limits: {limits}" if limits else "")
        case events.RUN_ANSWERED:
            return f"{data['id']}: {data['answer']}" + (" (time was up)" if data["timeout"] else "")
        case events.CALL_INTENDED:
            return f"{data['key']} {data['effect']} {data['op']} {_short(data['args'])}"
        case events.CALL_IN_DOUBT:
            return f"{data['key']} {data['op']}"
        case events.CALL_ENDED:
            return f"{data['key']} {_outcome(data)} · {data['ms']} ms"
        case events.NODE_DECIDED:
            return _decision(data)
        case _:
            return _short(data)


def _outcome(data: Mapping[str, Any]) -> str:
    if "error" in data:
        return f"error {data['error'][0]}: {data['error'][1]}"
    if "budget" in data:
        return f"the budget for {data['budget'][0]} is used up"
    return f"ok {_short(data['ok'])}"


def _decision(data: Mapping[str, Any]) -> str:
    told = f"{data['node']} (visit {data['visit']}, attempt {data['attempt']}): {data['outcome']} → {data['decision']}"
    if data["decision"] in ("advance", "backtrack"):
        told += f" to {data['to']}"
    if "delay_ms" in data:
        told += f" in {data['delay_ms']} ms"
    if "waiting" in data:
        told += f": {data['waiting']['question']}"
    if "status" in data:
        told += f": {data['status']}, {data['stop_reason']}"
    if "error" in data:
        told += f" ({data['error'][0]}: {data['error'][1]})"
    return told


def _short(value: Any) -> str:
    if isinstance(value, dict) and set(value) == {"artifact", "bytes"}:
        return f"{value['bytes']:,} characters, artifact {value['artifact'][:12]}"
    return json.dumps(value, ensure_ascii=False)
