"""Packages of Android itself that have no pages here: the home screen, the system's windows, input methods."""

from __future__ import annotations

from simphone.system.manifest import Manifest

ANDROID = "android"
SYSTEM_UI = "com.android.systemui"
LAUNCHER3 = "com.android.launcher3"
LATIN = "com.android.inputmethod.latin"
ADB_KEYBOARD = "com.android.adbkeyboard"
CLIPPER = "ca.zgrs.clipper"
SDK = 34
RELEASE = "14"
HOME_ACTIVITY = ".uioverrides.QuickstepLauncher"

_KEY = "platform"
PLATFORM = (
    Manifest.model_construct(  # its name has no dot
        package=ANDROID, label="Android System", signature=_KEY, version_code=SDK, version_name=RELEASE
    ),
    *(
        Manifest(package=package, label=label, signature=_KEY, version_code=SDK, version_name=RELEASE)
        for package, label in (
            (SYSTEM_UI, "System UI"),
            (LATIN, "LatinIME"),
            ("com.android.shell", "Shell"),
            ("com.android.permissioncontroller", "Permission controller"),
        )
    ),
    Manifest(
        package=LAUNCHER3,
        label="Launcher3",
        signature=_KEY,
        version_code=SDK,
        version_name=RELEASE,
        launcher=HOME_ACTIVITY,
        activities={HOME_ACTIVITY: ""},
    ),
)
HELPERS = {
    ADB_KEYBOARD: Manifest(package=ADB_KEYBOARD, label="ADB Keyboard", version_code=20, version_name="v2.0"),
    CLIPPER: Manifest(package=CLIPPER, label="Clipper", version_code=3, version_name="1.2.1"),
}
"""Helpers of automation that a phone may have installed, by package."""
