"""Another way to do what a dropped touch was for."""

from __future__ import annotations

from gateway.phone.actions import DeviceAction, Swipe, Tap
from gateway.phone.element import Element

SHORT_MS = 80


def another_way(action: DeviceAction, target: Element | None, size: tuple[int, int]) -> DeviceAction | None:
    if isinstance(action, Tap):
        return Swipe(start=action.coordinate, end=action.coordinate, duration=SHORT_MS)
    return None
