"""Telling whoever wants to know of a warning or an end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway.engine.journal import Visit
from gateway.loop.state import KEPT, LoopState


async def tell(visit: Visit, state: LoopState, kind: str, text: str, data: Mapping[str, Any]) -> LoopState:
    """The state, with what went wrong about it. `kind` is "warning" or "end"."""
    notice = {"kind": kind, "text": text, "iteration": state.iteration, "data": dict(data)}
    told = await visit.call("loop.notify", notice)
    after: LoopState = state.with_(troubles=(*state.troubles, *told["problems"])[-KEPT:])
    return after
