"""`dumpsys window [windows|displays|policy]`: which window has the focus stands among the displays."""

from __future__ import annotations

from collections.abc import Sequence

from simphone.commands.dumps.activity import task_line
from simphone.commands.dumps.snapshot import Snapshot, record_of, window_of

_BAR = 72, 144  # pixels of status bar and navigation bar


def dump(seen: Snapshot, words: Sequence[str]) -> str:
    words = [each for each in words if not each.startswith("-")]
    parts = {"policy": _policy, "p": _policy, "displays": _displays, "d": _displays, "windows": _windows, "w": _windows}
    if words and words[0] in parts:
        return parts[words[0]](seen)
    if words and words[0] not in ("all", "visible", "visible-apps", "v"):
        return f"Bad window command, or no windows match: {words[0]}\nUse -h for help."
    divided = f"\n{'-' * 79}\n"
    return divided.join((_policy(seen), _displays(seen), _windows(seen)))


def _displays(seen: Snapshot) -> str:
    system = seen.system
    width, height = system.viewport.size
    dpi, turned, tasks = system.display.density, system.display.rotation, system.activities.tasks
    short, long = system.viewport.physical
    top, bottom = _BAR
    forced = system.viewport.forced
    base = f"base={forced[0]}x{forced[1]} {dpi}dpi " if forced else ""
    front = tasks[0]
    lines = [
        "WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)",
        f"  Display: mDisplayId=0 rootTasks={len(tasks)}",
        f"    init={short}x{long} {dpi}dpi {base}mMinSizeOfResizeableTaskDp=220 cur={width}x{height} "
        f"app={width}x{height - bottom} rng={short}x{short - top}-{long}x{long - top}",
        f"    deferred=false mLayoutNeeded=false mTouchExcludeRegion=SkRegion((0,0,{width},{height}))",
        "",
        "  mLayoutSeq=844",
        f"  mCurrentFocus={seen.focused_window}",
        f"  mFocusedApp={record_of(front.top, front.id)}",
        "",
        "  Application tokens in top down Z order:",
    ]
    for number, task in enumerate(tasks):
        lines += [
            f"    * {task_line(task, visible=number == 0 and system.display.on)}",
            f"      bounds=[0,0][{width},{height}]",
            *(f"      * {record_of(each, task.id)}" for each in reversed(task.activities)),
        ]
    awake = str(system.display.on).lower()
    lines += [
        "",
        f"  DisplayFrames w={width} h={height} r={turned}",
        "",
        "  DisplayPolicy",
        f"    mAwake={awake} mScreenOnEarly={awake} mScreenOnFully={awake}",
        "    isKeyguardShowing=false",
        f"    mFocusedWindow={seen.focused_window}",
        "",
        "  DisplayRotation",
        "    mCurrentAppOrientation=SCREEN_ORIENTATION_UNSPECIFIED",
        f"    mRotation={turned} mDeferredRotationPauseCount=0",
    ]
    return "\n".join(lines)


def _windows(seen: Snapshot) -> str:
    """From the top; without the line of the focus, which stands among the displays."""
    width, height = seen.system.viewport.size
    shown: list[tuple[str, str, str, bool]] = []
    if seen.system.dialog is not None:
        shown.append((seen.focused_window, "android", "SYSTEM_ALERT", True))
    shown.append(
        (
            "Window{1ab3aa4 u0 InputMethod}",
            seen.system.input_methods.chosen.partition("/")[0],
            "INPUT_METHOD",
            seen.keyboard,
        )
    )
    shown.append(("Window{c7432be u0 StatusBar}", "com.android.systemui", "STATUS_BAR", True))
    shown.append(("Window{2dc28f9 u0 NavigationBar0}", "com.android.systemui", "NAVIGATION_BAR", True))
    for task in seen.system.activities.tasks:
        shown += [
            (window_of(each), each.component.package, "BASE_APPLICATION", each is seen.front)
            for each in reversed(task.activities)
        ]
    lines = ["WINDOW MANAGER WINDOWS (dumpsys window windows)"]
    for number, (window, package, kind, visible) in enumerate(shown):
        there = visible and seen.system.display.on
        said = str(there).lower()
        lines += [
            f"  Window #{number} {window}:",
            "    mDisplayId=0 rootTaskId=1 mSession=Session{5fcd691 2420:u0a10086} "
            f"mClient=android.os.BinderProxy@{number:x}",
            f"    mOwnerUid=10086 showForAllUsers=false package={package} appop=NONE",
            f"    mAttrs={{(0,0)(fillxfill) sim={{adjust=resize}} ty={kind}}}",
            f"    Requested w={width} h={height} mLayoutSeq=844",
            f"    mViewVisibility={'0x0' if there else '0x8'} mHaveFrame=true mObscured=false",
            f"    Frames: parent=[0,0][{width},{height}] display=[0,0][{width},{height}] frame=[0,0][{width},{height}]",
            f"    mHasSurface={said} isReadyForDisplay()={said} mWindowRemovalAllowed=false",
            f"    isOnScreen={said}",
            f"    isVisible={said}",
        ]
    lines.append(f"  mDisplayFrozen=false windows=0 client=false apps=0  mRotation={seen.system.display.rotation}")
    return "\n".join(lines)


def _policy(seen: Snapshot) -> str:
    awake = seen.system.display.on
    return "\n".join(
        (
            "WINDOW MANAGER POLICY STATE (dumpsys window policy)",
            "    mSafeMode=false mSystemReady=true mSystemBooted=true",
            f"    mShowingLockscreen=false mShowingDream=false mDreamingLockscreen={str(not awake).lower()}",
            "    KeyguardServiceDelegate",
            "      showing=false",
            "      showingAndNotOccluded=false",
            "      inputRestricted=false",
            "      occluded=false",
            "      secure=false",
            "      dreaming=false",
            "      systemIsReady=true",
            "      deviceHasKeyguard=true",
            "      enabled=true",
            "      bootCompleted=true",
            f"      screenState={'SCREEN_STATE_ON' if awake else 'SCREEN_STATE_OFF'}",
            f"      interactiveState={'INTERACTIVE_STATE_AWAKE' if awake else 'INTERACTIVE_STATE_SLEEP'}",
            "      KeyguardStateMonitor",
            "        mIsShowing=false",
            "        mSimSecure=false",
            "        mInputRestricted=false",
            "        mTrusted=false",
            "        mCurrentUserId=0",
        )
    )
