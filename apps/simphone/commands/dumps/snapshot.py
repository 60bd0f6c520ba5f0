"""What dumps are made of: the system, and what its display says of itself at the same moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simphone.system.system import System
from simphone.system.tasks import Activity


@dataclass(frozen=True)
class Snapshot:
    """`state` is the display's: keyboard, dialog, focused, …"""

    system: System
    state: Mapping[str, Any]

    @property
    def front(self) -> Activity:
        return self.system.activities.front

    @property
    def keyboard(self) -> bool:
        return bool(self.state.get("keyboard"))

    @property
    def focused_window(self) -> str:
        """As `Window{…}`: that of a system dialog, which lies over everything, of the recents, else the activity's."""
        if not self.system.display.on:
            return "Window{1651cd4 u0 NotificationShade}"
        if self.system.dialog is not None:
            return f"Window{{d1a1061 u0 {self.system.dialog}}}"
        if self.state.get("recents"):
            return window_of(self.system.activities.home_task.root)
        return window_of(self.front)


def window_of(activity: Activity) -> str:
    return f"Window{{{activity.window} u0 {activity.component.long}}}"


def record_of(activity: Activity, task: int) -> str:
    """With a second brace, as Android 13 and 14 print it."""
    return f"ActivityRecord{{{activity.record} u0 {activity.component.short}}} t{task}}}"


async def snapshot(system: System) -> Snapshot:
    return Snapshot(system, await system.display.state())
