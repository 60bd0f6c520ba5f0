"""Whether the device is awake, and whether it is locked."""

from __future__ import annotations

import re

WAKEFULNESS = re.compile(r"\bmWakefulness=(\w+)|\bgetWakefulnessLocked\(\)=(\w+)")
DISPLAY = re.compile(r"^Display Power: state=(\w+)", re.MULTILINE)
INTERACTIVE = re.compile(r"\bmHalInteractiveModeEnabled=(true|false)|\bmScreenOn=(true|false)")
OCCLUDED = re.compile(r"^\s*KeyguardShowing=true\b.*\bOccluded=true", re.MULTILINE)  # an app is shown above it
KEYGUARD = (  # the surest first
    re.compile(r"\bshowingAndNotOccluded=(true|false)"),
    re.compile(r"\bisKeyguardShowing=(true|false)"),
    re.compile(r"\bmKeyguardShowing=(true|false)"),
    re.compile(r"\bmShowingLockscreen=(true|false)"),
    re.compile(r"^\s*mIsShowing=(true|false)", re.MULTILINE),
    re.compile(r"\bmDreamingLockscreen=(true|false)"),
)
SECURE = re.compile(r"^\s*secure=(true|false)", re.MULTILINE)


def is_awake(dumpsys_power: str) -> bool | None:
    """`dumpsys power`; None where it does not tell. A device that dreams or dozes is not awake."""
    if found := WAKEFULNESS.search(dumpsys_power):
        return (found[1] or found[2]) == "Awake"
    if found := DISPLAY.search(dumpsys_power):
        return found[1] == "ON"
    if found := INTERACTIVE.search(dumpsys_power):
        return (found[1] or found[2]) == "true"
    return None


def is_locked(dumpsys_window: str) -> bool | None:
    """`dumpsys window policy`, or another part of `dumpsys window` or `dumpsys activity activities`: whether the lock
    screen is in front; None where it does not tell."""
    if OCCLUDED.search(dumpsys_window):
        return False
    for pattern in KEYGUARD:
        if found := pattern.search(dumpsys_window):
            return found[1] == "true"
    return None


def needs_secret(dumpsys_window_policy: str) -> bool | None:
    """Whether a PIN, pattern or password unlocks it; None where it does not tell."""
    found = SECURE.search(dumpsys_window_policy)
    return None if found is None else found[1] == "true"
