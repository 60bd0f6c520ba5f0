"""Whether an action did what it is for, as the screen tells it."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.engine.ports import Json
from gateway.phone.actions import DeviceAction, Wait
from gateway.phone.element import Element
from gateway.phone.task.happened import happened
from gateway.phone.task.look import Look
from gateway.phone.task.state import Result

__all__ = ["Look", "happened", "judge"]


def judge(
    action: DeviceAction,
    target: Element | None,
    before: Look,
    after: Look,
    outcome: Mapping[str, Json],
    *,
    screen_change: bool,
    consequential: str = "",
) -> Result:
    how, output = str(outcome.get("how") or ""), str(outcome.get("output") or "")
    if outcome.get("ok") is False:
        return Result(ok=False, cause="failed", note=str(outcome.get("message") or ""), how=how, output=output)
    if isinstance(action, Wait) or not screen_change or before.seen.look != after.seen.look:
        return Result(ok=True, how=how, output=output)
    return Result(ok=False, cause="dropped", note="nothing changed", how=how, output=output)
