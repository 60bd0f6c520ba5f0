"""`dumpsys input_method`."""

from __future__ import annotations

from collections.abc import Sequence

from simphone.commands.dumps.snapshot import Snapshot


def dump(seen: Snapshot, words: Sequence[str]) -> str:
    methods = seen.system.input_methods
    shown = str(seen.keyboard).lower()
    lines = ["Current Input Method Manager state:", f"  Input Methods: mMethodMapUpdateCount={len(methods.installed)}"]
    for number, each in enumerate(methods.installed):
        package, _, name = each.partition("/")
        lines += [
            f"  InputMethod #{number}:",
            f"    mId={each} mSettingsActivityName=null mIsVrOnly=false mSupportsSwitchingToNextInputMethod=true",
            "    Service:",
            "      ServiceInfo:",
            f"        name={package + name if name.startswith('.') else name}",
            f"        packageName={package}",
        ]
    focused = "true" if seen.state.get("focused") else "false"
    lines += [
        f"  mCurMethodId={methods.chosen}",
        "  mCurClient=ClientState{8e1d503 uid=10090 pid=4000 displayId=0} mCurSeq=41",
        f"  mCurId={methods.chosen} mHaveConnection=true mBoundToMethod=true mVisibleBound={shown}",
        "  mCurTokenDisplayId=0",
        f"  mShowRequested={shown} mShowExplicitlyRequested={shown} mShowForced=false mInputShown={shown}",
        "  mInFullscreenMode=false",
        f"  mSystemReady=true mInteractive={str(seen.system.display.on).lower()}",
        "",
        "Input method client state for ClientState:",
        f"  mActive={focused} mRestartOnNextWindowFocus=true mBindSequence=41 mCurId={methods.chosen}",
        "",
        "Input method service state:",
        f"  mCreated=true mDecorViewVisible={shown} mDecorViewWasVisible={shown} mWindowVisible={shown}",
        f"  mIsInputViewShown={shown} mStatusIcon=0",
    ]
    return "\n".join(lines)
