"""Home screens and dialogs of the system, told by their packages."""

from __future__ import annotations

HOMES = frozenset(
    "com.miui.home com.sonymobile.home com.zui.home com.google.android.googlequicksearchbox org.lineageos.trebuchet "
    "com.cyanogenmod.trebuchet com.bbk.scene.launcher ginlemon.flowerfree ch.deletescape.lawnchair app.lawnchair "
    "com.hihonor.home com.tcl.android.home com.sec.android.app.easylauncher com.microsoft.launcher".split()
)


def is_launcher(package: str) -> bool:
    """Whether it is a home screen. Makers call theirs so: `com.android.launcher3`, `com.sec.android.app.launcher`."""
    return package in HOMES or "launcher" in package.lower()


def is_dialog(package: str) -> bool:
    """Whether what is in front is a dialog of the system: an app lies below it."""
    return package in ("android", "com.android.systemui") or "permissioncontroller" in package
