"""`dumpsys power`."""

from __future__ import annotations

from collections.abc import Sequence

from simphone.commands.dumps.snapshot import Snapshot


def dump(seen: Snapshot, words: Sequence[str]) -> str:
    awake = seen.system.display.on
    on = str(awake).lower()
    stay = seen.system.settings.get("global", "stay_on_while_plugged_in") not in (None, "0")
    return "\n".join(
        (
            "POWER MANAGER (dumpsys power)",
            "",
            "Power Manager State:",
            "  mDirty=0x0",
            f"  mWakefulness={'Awake' if awake else 'Asleep'}",
            "  mWakefulnessChanging=false",
            "  mIsPowered=true",
            "  mPlugType=2",
            "  mBatteryLevel=100",
            f"  mStayOn={str(stay).lower()}",
            "  mBootCompleted=true",
            "  mSystemReady=true",
            f"  mHalInteractiveModeEnabled={on}",
            "  mWakeLockSummary=0x0",
            "  mHoldingWakeLockSuspendBlocker=false",
            f"  mHoldingDisplaySuspendBlocker={on}",
            "",
            "Settings and Configuration:",
            f"  mStayOnWhilePluggedInSetting={seen.system.settings.get('global', 'stay_on_while_plugged_in') or 0}",
            f"  mScreenOffTimeoutSetting={seen.system.settings.get('system', 'screen_off_timeout') or 0}",
            "",
            f"Display Power: state={'ON' if awake else 'OFF'}",
        )
    )
