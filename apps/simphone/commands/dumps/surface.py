"""`dumpsys SurfaceFlinger --display-id`: one display."""

from __future__ import annotations

from collections.abc import Sequence

from simphone.commands.dumps.snapshot import Snapshot
from simphone.commands.screencap import DISPLAY_ID


def dump(seen: Snapshot, words: Sequence[str]) -> str:
    line = f'Display {DISPLAY_ID} (HWC display 0): port=0 pnpId=SIM displayName="Common Panel"'
    if "--list" in words:
        return f"{seen.front.component.short}#0\nStatusBar#0\nNavigationBar0#0"
    return line
