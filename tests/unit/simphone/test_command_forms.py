"""The forms of answers are those of real devices: the same expression fits the recording and what is simulated."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from phone_bench import Bench

RECORDINGS = Path(__file__).resolve().parents[3] / "../shared/samples/android"
COMPONENT = r"[\w.]+/[\w.$]+"
RECORD = rf"ActivityRecord\{{[0-9a-f]+ u0 {COMPONENT}\}} t\d+\}}"
TASK = r"Task\{[0-9a-f]+ #\d+ type=(home|standard) \S+( U=0)? (U=0 )?visible=(true|false) .*sz=\d+\}"
SETUP = ("am start -n org.example.small/.MainActivity",)

FORMS: list[tuple[str, str, str, tuple[str, ...]]] = [
    # recording, command, lines that both have, what comes before
    ("quoted-wm-size--plain-1220x2712.txt", "wm size", r"Physical size: \d+x\d+", ()),
    ("quoted-wm-density--override.txt", "wm density", r"Physical density: \d+", ()),
    ("quoted-am-start-error-type-3--short-cmp.txt", "am start -n org.x/.Y", r"Error type 3", ()),
    (
        "quoted-am-start-error-type-3--short-cmp.txt",
        "am start -n org.x/.Y",
        r"Error: Activity class \{[\w.]+/[\w.]+\} does not exist\.",
        (),
    ),
    (
        "quoted-am-start-error-type-3--short-cmp.txt",
        "am start -n org.x/.Y",
        r"Starting: Intent \{ cmp=[\w.]+/\.\w+ \}",
        (),
    ),
    (
        "quoted-am-start-warning-brought-to-front.txt",
        SETUP[0],
        r"Warning: Activity not started, its current task has been brought to the front",
        (*SETUP, "input keyevent HOME"),
    ),
    ("quoted-monkey-success.txt", "monkey -p org.example.small 1", r"Events injected: 1", ()),
    ("quoted-monkey-sys-keys-error--exit251-stderr.txt", "monkey -p org.example.small 1", r'data="[\w.]+"', ()),
    ("quoted-monkey-sys-keys-error--exit251-stdout.txt", "monkey -p org.example.small 1", r"  bash arg: -p", ()),
    ("quoted-ime-set-success.txt", "ime set {latin}", r"Input method \S+ selected for user #0", ()),
    ("quoted-ime-set-unknown.txt", "ime set a/.B", r"Unknown input method \S+ cannot be selected for user #0", ()),
    ("quoted-ime-list-s--aosp-latin.txt", "ime list -s", r"com\.android\.inputmethod\.latin/\.LatinIME", ()),
    ("quoted-uiautomator-dump-success.txt", "uiautomator dump", r"UI hierchary dumped to: /sdcard/\S+\.xml", ()),
    ("quoted-uiautomator-dump-idle-error.txt", "fault dump_fails", r"ERROR: could not get idle state\.", ()),
    ("quoted-uiautomator-dump-null-root.txt", "fault dump_null_root", r"ERROR: null root node returned by \w+\.", ()),
    (
        "quoted-input-text-hebrew-npe--android14.txt",
        "input text ש",
        r"java\.lang\.NullPointerException: Attempt to get length of null array",
        (),
    ),
    ("quoted-input-text-hebrew-npe--android14.txt", "input text ש", r"Exception occurred while executing 'text':", ()),
    ("quoted-input-text-hebrew-npe--android14.txt", "input text ש", r"\tat com\.android\S+\.sendText\(\S+:\d+\)", ()),
    ("quoted-input-swipe-inject-events--android14.txt", "fault input_denied", r"java\.lang\.SecurityException: .*", ()),
    ("quoted-input-usage--android9-vendor-ext-display.txt", "input", r"      tap <x> <y> \(Default: touchscreen\)", ()),
    ("pm-list-packages--android9-car-gwm.txt", "pm list packages", r"package:[\w.]+", ()),
    ("quoted-pm-list-packages-f--genymotion-android6.txt", "pm list packages -f", r"package:/\S+\.apk=[\w.]+", ()),
    ("getprop--android13-motorola-edge20.txt", "getprop", r"\[ro\.build\.version\.sdk\]: \[\d+\]", ()),
    ("getprop--android13-motorola-edge20.txt", "getprop", r"\[ro\.product\.model\]: \[.+\]", ()),
    ("dumpsys-battery--pixel9a-emulator.txt", "dumpsys battery", r"  level: \d+", ()),
    ("dumpsys-battery--pixel9a-emulator.txt", "dumpsys battery", r"Current Battery Service state:", ()),
    (
        "dumpsys-display--android13-mtk-off.txt",
        "dumpsys display",
        r"  mViewports=\[DisplayViewport\{type=INTERNAL, valid=true, isActive=\w+, displayId=0, uniqueId='local:\d+', "
        r"physicalPort=0, orientation=\d, logicalFrame=Rect\(0, 0 - \d+, \d+\), physicalFrame=Rect\(0, 0 - \d+, \d+\), "
        r"deviceWidth=\d+, deviceHeight=\d+\}\]",
        (),
    ),
    ("dumpsys-display--android13-mtk-off.txt", "dumpsys display", r"  Display State=OFF", ("input keyevent SLEEP",)),
    (
        "dumpsys-input--vivo-recent.txt",
        "dumpsys input",
        r"      Viewport INTERNAL: displayId=0, .*orientation=\d, .*",
        (),
    ),
    (
        "dumpsys-window-displays--android13-mtk.txt",
        "dumpsys window displays",
        r"  mCurrentFocus=Window\{\w+ u0 .+\}",
        (),
    ),
    ("dumpsys-window-displays--android13-mtk.txt", "dumpsys window displays", rf"  mFocusedApp={RECORD}", SETUP),
    (
        "dumpsys-window-displays--android13-mtk.txt",
        "dumpsys window displays",
        r"    init=\d+x\d+ \d+dpi mMinSizeOfResizeableTaskDp=220 cur=\d+x\d+ app=\d+x\d+ rng=\d+x\d+-\d+x\d+",
        (),
    ),
    ("quoted-mcurrentfocus--xiaomi14.txt", "dumpsys window", rf"  mCurrentFocus=Window\{{\w+ u0 {COMPONENT}\}}", SETUP),
    ("dumpsys-window-windows--android13-mtk.txt", "dumpsys window windows", r"  Window #\d+ Window\{\w+ u0 \S+\}:", ()),
    (
        "quoted-dumpsys-window-ime-window--android10-pixel-keyboard-hidden.txt",
        "dumpsys window windows",
        r" *Window #\d Window\{1ab3aa4 u0 InputMethod\}:",
        (),
    ),
    (
        "dumpsys-window-policy--android13-mtk.txt",
        "dumpsys window policy",
        r"      screenState=SCREEN_STATE_OFF",
        ("input keyevent SLEEP",),
    ),
    ("dumpsys-activity-activities--android13-mtk.txt", "dumpsys activity activities", rf"  \* {TASK}", SETUP),
    (
        "dumpsys-activity-activities--android13-mtk.txt",
        "dumpsys activity activities",
        rf"    \* Hist  #0: {RECORD}",
        SETUP,
    ),
    (
        "dumpsys-activity-activities--android13-mtk.txt",
        "dumpsys activity activities",
        rf"  ResumedActivity: {RECORD}",
        ("input keyevent SLEEP",),
    ),
    (
        "dumpsys-activity-top--vivo-recent.txt",
        "dumpsys activity top",
        rf"  ACTIVITY {COMPONENT} [0-9a-f]+ pid=\d+ userId=\d+ uid=\d+ displayId=0\(type=INTERNAL\)",
        SETUP,
    ),
    (
        "dumpsys-activity-unknown-package--pixel9a-emulator.txt",
        "dumpsys activity org.nobody",
        r"Bad activity command, or no activities match: [\w.]+",
        (),
    ),
    (
        "dumpsys-package-unknown-package--pixel9a-emulator.txt",
        "dumpsys package a.b",
        r"Unable to find package: \S+",
        (),
    ),
    (
        "dumpsys-package-com.android.settings--android13-mtk.txt",
        "dumpsys package org.example.small",
        r"    versionCode=\d+ minSdk=\d+ targetSdk=\d+",
        (),
    ),
    (
        "dumpsys-package-com.android.settings--android13-mtk.txt",
        "dumpsys package org.example.small",
        r"    versionName=\S+",
        (),
    ),
    (
        "dumpsys-package-com.android.settings--android13-mtk.txt",
        "dumpsys package org.example.small",
        r"    signatures=PackageSignatures\{[0-9a-f]+ version:3, signatures:\[[0-9a-f]{8}\], past signatures:\[\]\}",
        (),
    ),
    ("dumpsys-input_method--android13-mtk.txt", "dumpsys input_method", r"  mCurMethodId=[\w.]+/\.\w+", ()),
    (
        "dumpsys-input_method--android13-mtk.txt",
        "dumpsys input_method",
        r"  mShowRequested=false mShowExplicitlyRequested=false mShowForced=false mInputShown=false",
        (),
    ),
    ("dumpsys-power--vivo-recent-awake.txt", "dumpsys power", r"  mWakefulness=Awake", ()),
    ("dumpsys-power--vivo-recent-awake.txt", "dumpsys power", r"  mHoldingDisplaySuspendBlocker=true", ()),
    (
        "quoted-surfaceflinger-display-id--pixel9-pro-fold.txt",
        "dumpsys SurfaceFlinger --display-id",
        r'Display \d+ \(HWC display 0\): port=0 pnpId=\w+ displayName="Common Panel"',
        (),
    ),
    (
        "quoted-screencap-usage--pixel-fold.txt",
        "screencap -h",
        r"usage: screencap \[-ahp\] \[-d display-id\] \[FILENAME\]",
        (),
    ),
]


async def answer(bench: Bench, command: str) -> list[str]:
    if command.startswith("fault "):
        bench.fault(command.removeprefix("fault "))
        command = "input swipe 1 2 3 4" if "input" in command else "uiautomator dump"
    ran = await bench.line(command.format(latin="com.android.inputmethod.latin/.LatinIME"))
    return [*ran.out.splitlines(), *ran.err.splitlines()]


@pytest.mark.parametrize(("recording", "command", "form", "before"), FORMS, ids=[f"{f[1]} {f[2]}" for f in FORMS])
async def test_an_answer_has_the_form_of_a_real_device(
    tmp_path: Path, recording: str, command: str, form: str, before: tuple[str, ...]
) -> None:
    bench = Bench(tmp_path / "phone")
    for each in before:
        await bench.line(each)
    lines = await answer(bench, command)
    assert any(re.fullmatch(form, each) for each in lines), "\n".join(lines)
    if RECORDINGS.is_dir():
        recorded = (RECORDINGS / recording).read_text(encoding="utf-8").splitlines()
        assert any(re.fullmatch(form, each) for each in recorded), "the form is not that of the recording"


async def test_the_focus_is_not_told_among_the_windows(tmp_path: Path) -> None:
    """As on Android 13 and later: programs that look for it there find nothing."""
    bench = Bench(tmp_path / "phone")
    assert "mCurrentFocus" not in (await bench.line("dumpsys window windows")).out
    assert "mCurrentFocus" in (await bench.line("dumpsys window")).out


async def test_the_keyboard_shows_in_its_dump(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "phone")
    bench.display.keyboard = True
    assert "mInputShown=true" in (await bench.line("dumpsys input_method")).out


WORDS = st.one_of(
    st.sampled_from(
        "-p -n -a -d -S -W -r -f -3 -s -e --es --ei --brief --user -c start broadcast force-stop stack list packages "
        "install uninstall path clear tap swipe text keyevent size density reset get put delete system secure global "
        "night yes set enable window activity package display dump policy top help -h -1 0 3 4 99999999999 motionevent "
        "org.example.small org.example.small/.MainActivity /sdcard/a /dev/tty ADB_INPUT_B64 DOWN UP keycombination "
        "1080x2400".split()
    ),
    st.text(max_size=12),
)


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> tuple[Bench, asyncio.Runner]:
    runner = asyncio.Runner()
    return Bench(tmp_path_factory.mktemp("lasting") / "phone"), runner


@given(data=st.data(), words=st.lists(WORDS, max_size=7))
@settings(max_examples=300)
def test_whatever_is_asked_there_is_an_exit_code(
    lasting: tuple[Bench, asyncio.Runner], data: st.DataObject, words: list[str]
) -> None:
    bench, runner = lasting
    name = data.draw(st.sampled_from(sorted(bench.table.names)))
    ran = runner.run(bench.run(name, *words, given=b"PK\x03\x04 no package"))
    assert 0 <= ran.code <= 255
    assert "the simulation failed" not in ran.err


async def test_an_unknown_command_is_not_found(tmp_path: Path) -> None:
    ran = await Bench(tmp_path / "phone").line("fridge open")
    assert (ran.code, ran.err) == (127, "/system/bin/sh: fridge: inaccessible or not found\n")
