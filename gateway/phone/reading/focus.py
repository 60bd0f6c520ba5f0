"""Which app is in front."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

COMPONENT = r"([A-Za-z][\w.]*)/([\w.$]+)"
DISPLAY = re.compile(r"^\s*Display: mDisplayId=(\d+)|^\s*Display #(\d+) \(", re.MULTILINE)
TOP_DISPLAY = re.compile(r"\bmTopFocusedDisplayId=(\d+)")
# `Window{1651cd4 u0 NotificationShade}`; one vendor: `Window{com.android.systemui:b3ce339 u0 StatusBar type=2000 }`
WINDOW = r"Window\{(?:([\w.]+):)?[0-9a-f]+ u\d+ ([^}\n]+?)(?: type=\d+ ?)?(?: [\w-]+=[^}\n]*)?\}"
FOCUSED_WINDOW = re.compile(r"\bmCurrentFocus=" + WINDOW)
FOCUSED_APP = re.compile(r"\bmFocusedApp=[^\n]*?" + COMPONENT)
RESUMED = re.compile(
    r"\b(topResumedActivity|mTopResumedActivity|mResumedActivity|ResumedActivity)\b[:=][^\n]*?" + COMPONENT
)
ACTIVITY = re.compile(r"^\s*ACTIVITY " + COMPONENT, re.MULTILINE)
IS_RESUMED = re.compile(r"^\s*mResumed=true\b", re.MULTILINE)
WINDOW_BLOCK = re.compile(r"^\s*Window #\d+ " + WINDOW + ":", re.MULTILINE)
PACKAGE = re.compile(r"[A-Za-z]\w*(?:\.[A-Za-z]\w*)+")
ALERT = re.compile(r"Application (?:Error|Not Responding): ([\w.]+)")
COVER = ".subscreen."  # Samsung's small outer display


@dataclass(frozen=True, slots=True)
class Focus:
    """The app in front: `activity` is its full class name, empty where only the package is told. `window` names the
    window that has the focus where it is none of an activity: the notification shade, a dialog of the system."""

    package: str
    activity: str = ""
    window: str = ""


def focus_of(dumpsys: str) -> Focus | None:
    """Of `dumpsys window displays`, `dumpsys window windows`, `dumpsys activity activities` or `dumpsys activity top`;
    None where no app is told. The display that has the focus decides; lines of displays without a focus, which are
    null, are passed over, and so are those of cover displays as long as another one is told."""
    for part in _displays(dumpsys):
        if (focus := _of_window(part)) is not None:
            return focus
    return _of_resumed(dumpsys) or _of_activities(dumpsys) or _of_windows(dumpsys)


def _displays(dumpsys: str) -> Iterator[str]:
    """The text of each display, the focused one first; all of it where displays are not told apart."""
    top = TOP_DISPLAY.search(dumpsys)
    focused = top[1] if top else "0"
    parts = [(each[1] or each[2], block) for each, block in _blocks(DISPLAY, dumpsys)]
    yield from (block for _, block in sorted(parts or [("", dumpsys)], key=lambda each: each[0] != focused))


def _of_window(part: str) -> Focus | None:
    found = FOCUSED_WINDOW.search(part)
    apps = [_focus(*each) for each in FOCUSED_APP.findall(part)]
    app = next((each for each in apps if COVER not in each.activity), apps[0] if apps else None)
    if found is None:
        return app
    owner, name = found[1], found[2].strip()
    if component := re.fullmatch(COMPONENT, name):
        return _focus(component[1], component[2])
    if alert := ALERT.match(name):
        return Focus("android", window=f"{name.partition(':')[0]}: {alert[1]}")
    if PACKAGE.fullmatch(name):  # a dialog of an app is named by its package only
        return Focus(name, app.activity if app and app.package == name else "")
    if app is not None:
        return Focus(app.package, app.activity, window=name)
    return Focus(owner, window=name) if owner else None


def _of_resumed(dumpsys: str) -> Focus | None:
    """The surest of several names first: of the top display, then of each."""
    found = {name: _focus(package, activity) for name, package, activity in reversed(RESUMED.findall(dumpsys))}
    order = ("topResumedActivity", "mTopResumedActivity", "ResumedActivity", "mResumedActivity")
    return next((found[name] for name in order if name in found), None)


def _of_activities(dumpsys: str) -> Focus | None:
    """`dumpsys activity top`: the activity that runs; all of them are stopped while the screen is off."""
    for each, block in _blocks(ACTIVITY, dumpsys):
        if IS_RESUMED.search(block):
            return _focus(each[1], each[2])
    return None


def _of_windows(dumpsys: str) -> Focus | None:
    """`dumpsys window windows` of newer versions names no focus: the uppermost window of an activity that is shown."""
    for each, block in _blocks(WINDOW_BLOCK, dumpsys):
        component = re.fullmatch(COMPONENT, each[2].strip())
        if component and "ty=BASE_APPLICATION" in block and "isVisible=false" not in block:
            return _focus(component[1], component[2])
    return None


def _blocks(pattern: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Each match, and what stands after it up to the next one."""
    found = list(pattern.finditer(text))
    ends = [each.start() for each in found[1:]] + [len(text)]
    return ((each, text[each.end() : end]) for each, end in zip(found, ends, strict=False))


def _focus(package: str, activity: str) -> Focus:
    return Focus(package, package + activity if activity.startswith(".") else activity)
