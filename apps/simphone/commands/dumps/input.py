"""`dumpsys input`."""

from __future__ import annotations

from collections.abc import Sequence

from simphone.commands.dumps.snapshot import Snapshot, window_of


def dump(seen: Snapshot, words: Sequence[str]) -> str:
    shown = seen.system.display
    (width, height), turned = seen.system.viewport.size, shown.rotation
    short, long = seen.system.viewport.physical
    focus = seen.focused_window
    return "\n".join(
        (
            "INPUT MANAGER (dumpsys input)",
            "",
            "Input Manager State:",
            f"  Interactive: {str(shown.on).lower()}",
            "  System UI Lights Out: false",
            "  Pointer Speed: 0",
            "",
            "Event Hub State:",
            "  BuiltInKeyboardId: -2",
            "  Devices:",
            "    1: simphone_touch",
            "      Classes: TOUCH | TOUCH_MT",
            "      Path: /dev/input/event1",
            "      Enabled: true",
            "",
            "Input Reader State:",
            "  Device 1: simphone_touch",
            "    Touch Input Mapper (mode - DIRECT):",
            f"      Viewport INTERNAL: displayId=0, uniqueId=local:4619827677550801152, port=0, orientation={turned}, "
            f"logicalFrame=[0, 0, {width}, {height}], physicalFrame=[0, 0, {width}, {height}], "
            f"deviceSize=[{short}, {long}], isActive=[{int(shown.on)}]",
            f"      SurfaceWidth: {width}px",
            f"      SurfaceHeight: {height}px",
            f"      SurfaceOrientation: {turned}",
            "",
            "Input Dispatcher State:",
            "  FocusedDisplayId: 0",
            "  FocusedApplications:",
            f"    displayId=0, name='ActivityRecord{{{seen.front.record} u0 {seen.front.component.short}}}', "
            "dispatchingTimeout=5000ms",
            "  FocusedWindows:",
            f"    displayId=0, name='{focus[len('Window{') : -1]}'",
            f"  Top window of the activity: {window_of(seen.front)}",
        )
    )
