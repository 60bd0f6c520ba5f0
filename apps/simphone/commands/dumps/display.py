"""`dumpsys display`."""

from __future__ import annotations

from collections.abc import Sequence

from simphone.commands.dumps.snapshot import Snapshot


def dump(seen: Snapshot, words: Sequence[str]) -> str:
    shown = seen.system.display
    (width, height), turned, density = seen.system.viewport.size, shown.rotation, shown.density
    short, long = seen.system.viewport.physical
    on = "ON" if shown.on else "OFF"
    active = str(shown.on).lower()
    logical = f"Rect(0, 0 - {width}, {height})"
    info = (
        f'DisplayInfo{{"Built-in Screen", displayId 0", displayGroupId 0, FLAG_SECURE, FLAG_TRUSTED, '
        f"real {width} x {height}, largest app {long} x {long}, smallest app {short} x {short}, mode 1, defaultMode 1, "
        f"modes [{{id=1, width={short}, height={long}, fps=60.0, alternativeRefreshRates=[]}}], rotation {turned}, "
        f'state {on}, type INTERNAL, uniqueId "local:4619827677550801152", app {width} x {height}, density {density} '
        f"({density}.0 x {density}.0) dpi, layerStack 0, colorMode 0, supportedColorModes [0]}}"
    )
    return "\n".join(
        (
            "DISPLAY MANAGER (dumpsys display)",
            "  mOnlyCode=false",
            "  mSafeMode=false",
            "  mPendingTraversal=false",
            f"  mViewports=[DisplayViewport{{type=INTERNAL, valid=true, isActive={active}, displayId=0, "
            f"uniqueId='local:4619827677550801152', physicalPort=0, orientation={turned}, logicalFrame={logical}, "
            f"physicalFrame={logical}, deviceWidth={width}, deviceHeight={height}}}]",
            f"  mStableDisplaySize=Point({short}, {long})",
            "",
            "Display States: size=1",
            "  Display Id=0",
            f"  Display State={on}",
            f"  Display Brightness={'0.4' if shown.on else '-1.0'}",
            "",
            "Logical Displays: size=1",
            "  Display 0:",
            "    mDisplayId=0",
            "    mPrimaryDisplayDevice=Built-in Screen",
            f"    mBaseDisplayInfo={info}",
            f"    mOverrideDisplayInfo={info}",
        )
    )
