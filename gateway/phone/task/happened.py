"""Whether an act whose answer was lost happened all the same, as the screen tells it."""

from __future__ import annotations

from gateway.phone.actions import DeviceAction
from gateway.phone.element import Element
from gateway.phone.task.look import Look


def happened(
    action: DeviceAction, target: Element | None, consequential: str, before: Look, after: Look
) -> bool | None:
    """None where that cannot be told."""
    if consequential:
        return None
    return before.seen.look != after.seen.look
