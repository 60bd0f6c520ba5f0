"""What devices and adb print, read into values: every recording, and each form once more without them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from android_recordings import all_recorded, recorded_text
from hypothesis import given
from hypothesis import strategies as st

from gateway.phone.reading.adb_connect import answer_of
from gateway.phone.reading.adb_devices import Listed, devices_of
from gateway.phone.reading.display import Screen, density_of, panels_of, screen_of, size_of
from gateway.phone.reading.focus import Focus, focus_of
from gateway.phone.reading.injection import input_failure_of
from gateway.phone.reading.input_method import InputMethod, input_method_of, input_methods_of, was_chosen
from gateway.phone.reading.install import InstallResult, install_result
from gateway.phone.reading.launching import start_failure_of
from gateway.phone.reading.packages import Package, launcher_of, package_of, packages_of
from gateway.phone.reading.power import is_awake, is_locked, needs_secret
from gateway.phone.reading.properties import properties_of

LATIN = "com.android.inputmethod.latin/.LatinIME"
GOOGLE = "com.google.android.inputmethod.latin/com.android.inputmethod.latin.LatinIME"
CAMERA = Focus("com.mediatek.camera", "com.mediatek.camera.CameraLauncher", "NotificationShade")

FOCUS = {
    "dumpsys-activity-activities--android13-mtk.txt": CAMERA,
    "dumpsys-activity-activities--android9-car-5-displays.txt": Focus(
        "com.beantechs.vehiclecenter", "com.beantechs.vehiclecenter.activity.MainActivity"
    ),
    "dumpsys-activity-top--vivo-recent.txt": None,  # every activity in it is stopped
    "dumpsys-activity-unknown-package--pixel9a-emulator.txt": None,
    "dumpsys-window-displays--android13-mtk.txt": CAMERA,
    "dumpsys-window-policy--android13-mtk.txt": None,
    "dumpsys-window-windows--android13-mtk.txt": None,  # the screen is off: no app is shown
    "dumpsys-window-windows--vivo-recent.txt": Focus("com.kryptoloot.app", "com.example.MainActivity"),
    "quoted-dumpsys-activity-activities--samsung-android7.txt": None,  # its beginning only
    "quoted-dumpsys-activity-top--android11-lineageos.txt": Focus(
        "com.android.launcher3", "com.android.launcher3.lineage.LineageLauncher"
    ),
    "quoted-dumpsys-window-displays--420dpi-2016.txt": None,
    "quoted-dumpsys-window-ime-window--android10-pixel-keyboard-hidden.txt": None,
    "quoted-dumpsys-window-window-entry--android14-bilibili.txt": Focus(
        "tv.danmaku.bili", "tv.danmaku.bili.MainActivityV2"
    ),
    "quoted-mcurrentfocus--android4-lookout-sequence.txt": Focus(
        "com.lookout.enterprise", "com.lookout.enterprise.ui.android.activity.StartActivity"
    ),
    "quoted-mcurrentfocus--moto-razr-2022-three-displays.txt": Focus(
        "com.YostarJP.BlueArchive", "com.yostarjp.bluearchive.MxUnityPlayerActivity"
    ),
    "quoted-mcurrentfocus--statusbar-window-without-package.txt": None,
    "quoted-mcurrentfocus--xiaomi14.txt": Focus("com.miui.home", "com.miui.home.launcher.Launcher"),
    "quoted-mfocusedapp--appwindowtoken-2018.txt": Focus(
        "com.google.android.apps.photos", "com.google.android.apps.photos.home.HomeActivity"
    ),
    "quoted-mfocusedapp-mcurrentfocus--galaxy-flip4-android12.txt": Focus(
        "jp.naver.line.android", "jp.naver.line.android.activity.main.MainActivity"
    ),
}
SCREENS = {
    "dumpsys-display--android13-mtk-off.txt": Screen((480, 800), 0, on=False),
    "dumpsys-input--nvidia-shield-tv.txt": Screen((1920, 1080), 0),
    "dumpsys-input--vivo-recent.txt": Screen((720, 1612), 0),
    "dumpsys-window-displays--android13-mtk.txt": Screen((480, 800), 0, 240),
    "quoted-dumpsys-display--android12-1440x2960.txt": Screen((1440, 2960), 0, on=True),
    "quoted-dumpsys-window-displays--420dpi-2016.txt": Screen((1080, 1920), density=420),
}
SIZES = {
    "quoted-wm-size--override-480x1024.txt": (480, 1024),
    "quoted-wm-size--override.txt": (540, 1170),
    "quoted-wm-size--plain-1220x2712.txt": (1220, 2712),
}
PANELS = {
    "quoted-surfaceflinger-display-id--pixel9-pro-fold.txt": ("4619827677550801152",),
    "quoted-surfaceflinger-display-id--xiaomi-mix-flip2.txt": ("4630946219955703955", "4630946219955703956"),
    "surfaceflinger-display-id--android13-mtk.txt": ("0",),
}
PACKAGES = {
    "dumpsys-package-com.android.settings--android13-mtk.txt": Package(
        "com.android.settings", 33, "13", ("3cda6734",), "/system/system_ext/priv-app/MtkSettings"
    ),
    "dumpsys-package-gms--two-versionnames.txt": Package(
        "com.google.android.gms",
        11062448,
        "11.0.62 (448-160311229)",
        ("b83faad",),
        "/data/app/com.google.android.gms-1",
    ),
    "dumpsys-package-lufthansa--android4.txt": Package(
        "com.lufthansa.android.lufthansa",
        10210,
        "4.7.1",
        ("52a8dcac",),
        "/data/app/com.lufthansa.android.lufthansa-1.apk",
    ),
    "dumpsys-package-samsung--excerpt-by-mvt.txt": Package(
        "com.sec.android.app.DataCreate", 1, "1.0", ("b378e95c",), "/system/app/AutomationTest_FB"
    ),
    "dumpsys-package-unknown-package--pixel9a-emulator.txt": None,
    "quoted-dumpsys-package-gnirehtet--codepath-with-equals.txt": Package(
        "com.genymobile.gnirehtet",
        6,
        "2.3",
        ("34346c2c",),
        "/data/app/com.genymobile.gnirehtet-eXRMpOp2Z3lxMs_FH81Z_A==",
    ),
}
INPUT = {
    "quoted-input-keyevent-inject-events--xiaomi-android10.txt": "denied",
    "quoted-input-swipe-inject-events--android14.txt": "denied",
    "quoted-input-tap-inject-events--old-framework-no-line-numbers.txt": "denied",
    "quoted-input-tap-inject-events--termux-app-uid.txt": "denied",
    "quoted-input-tap-unknown-command--android2.txt": "unknown",
    "quoted-input-text-hebrew-npe--android14.txt": "characters",
    "quoted-input-text-non-ascii-killed.txt": "killed",
    "quoted-input-text-non-ascii-npe--app_process-era.txt": "characters",
    "quoted-input-text-npe--android13.txt": "characters",
    "quoted-input-usage--android6.txt": "unknown",
    "quoted-input-usage--android9-vendor-ext-display.txt": "unknown",
}
STARTS = {
    "quoted-am-start-error-type-3--short-cmp.txt": "missing",
    "quoted-am-start-error-type-3.txt": "missing",
    "quoted-am-start-permission-denial--android4.txt": "denied",
    "quoted-am-start-permission-denial--huawei.txt": "denied",
    "quoted-am-start-warning-brought-to-front.txt": None,
    "quoted-monkey-no-activities.txt": "missing",
    "quoted-monkey-success.txt": None,
    "quoted-monkey-sys-keys-error--exit251-stderr.txt": "keys",
    "quoted-monkey-sys-keys-error--exit251-stdout.txt": "failed",
    "quoted-monkey-sys-keys-error--settings-emulator.txt": "keys",
}
INSTALLS = {
    "quoted-adb-install-already-exists--old.txt": "INSTALL_FAILED_ALREADY_EXISTS",
    "quoted-adb-install-multiple-invalid-apk.txt": "INSTALL_FAILED_INVALID_APK",
    "quoted-adb-install-multiple-no-matching-abis.txt": "INSTALL_FAILED_NO_MATCHING_ABIS",
    "quoted-adb-install-no-certificates--v3-digest.txt": "INSTALL_PARSE_FAILED_NO_CERTIFICATES",
    "quoted-adb-install-no-certificates.txt": "INSTALL_PARSE_FAILED_NO_CERTIFICATES",
    "quoted-adb-install-older-sdk--android9.txt": "INSTALL_FAILED_OLDER_SDK",
    "quoted-adb-install-success--old-adb-push.txt": None,
    "quoted-adb-install-success--older-adb.txt": None,
    "quoted-adb-install-success.txt": None,
    "quoted-adb-install-unauthorized.txt": "",
    "quoted-adb-install-update-incompatible--newer-wording.txt": "INSTALL_FAILED_UPDATE_INCOMPATIBLE",
    "quoted-adb-install-update-incompatible--the-wording.txt": "INSTALL_FAILED_UPDATE_INCOMPATIBLE",
    "quoted-adb-install-user-restricted--miui.txt": "INSTALL_FAILED_USER_RESTRICTED",
    "quoted-adb-install-version-downgrade.txt": "INSTALL_FAILED_VERSION_DOWNGRADE",
    "quoted-adb-uninstall-internal-error.txt": "DELETE_FAILED_INTERNAL_ERROR",
    "quoted-adb-uninstall-unknown-package--android9.txt": "",
    "quoted-pm-install-conflicting-provider.txt": "INSTALL_FAILED_CONFLICTING_PROVIDER",
    "quoted-pm-install-no-matching-abis--old.txt": "INSTALL_FAILED_NO_MATCHING_ABIS",
    "quoted-pm-install-update-incompatible--existing-wording.txt": "INSTALL_FAILED_UPDATE_INCOMPATIBLE",
}
DEVICES = {
    "quoted-adb-devices--connected-tcp-windows.txt": ["192.168.1.120:5555 device"],
    "quoted-adb-devices--mixed-unauthorized.txt": [
        "emulator-5558 device",
        "SERIAL device",
        "emulator-5556 unauthorized",
        "emulator-5554 device",
    ],
    "quoted-adb-devices--no-permissions-bare.txt": ["???????????? no permissions"],
    "quoted-adb-devices--no-permissions-old-wording.txt": ["SERIAL no permissions"],
    "quoted-adb-devices--no-permissions-udev-missing.txt": ["SERIAL no permissions"],
    "quoted-adb-devices--offline.txt": ["SERIAL offline"],
    "quoted-adb-devices--protocol-fault.txt": [],
    "quoted-adb-devices--server-version-mismatch-mixed-in.txt": ["SERIAL device"],
    "quoted-adb-devices--tcp-and-emulator.txt": ["SERIAL device", "emulator-5554 device", "10.129.164.6:5555 device"],
    "quoted-adb-devices-l--mdns-tls.txt": ["adb-SERIAL-qSVOhb._adb-tls-connect._tcp device"],
    "quoted-adb-devices-l--two-devices-usb.txt": ["emulator-5556 device", "SERIAL device"],
    "quoted-adb-devices-l--unauthorized-and-emulator.txt": ["SERIAL unauthorized", "emulator-5554 device"],
}
ANSWERS = {
    "quoted-adb-connect--connected.txt": "connected",
    "quoted-adb-connect--failed-to-authenticate.txt": "unauthorized",
    "quoted-adb-connect--failed-to-resolve-host.txt": "unknown",
    "quoted-adb-connect--no-host-in.txt": "unknown",
    "quoted-adb-connect--no-route-to-host.txt": "unreachable",
    "quoted-adb-connect--refused-linux.txt": "refused",
    "quoted-adb-connect--refused-macos.txt": "refused",
    "quoted-adb-connect--timed-out.txt": "silent",
    "quoted-adb-connect--windows-10060.txt": "silent",
    "quoted-adb-disconnect.txt": "disconnected",
    "quoted-adb-pair-unknown-command--old-adb.txt": "too_old",
    "quoted-adb-pair-usage.txt": "unknown",
}
PROPERTIES = {
    "getprop--android13-motorola-edge20.txt": (863, "13"),
    "getprop--android13-mtk.txt": (1186, "13"),
    "getprop--android4.4-huawei-g700-miui8.txt": (429, "4.4.2"),
    "getprop--android9-car-gwm.txt": (989, "9"),
}
LISTS = {
    "pm-list-packages--android9-car-gwm.txt": (137, "com.beantechs.launcher", ""),
    "quoted-pm-list-packages-f--genymotion-android6.txt": (
        16,
        "com.phonegap.camerasample",
        "/data/app/com.phonegap.camerasample-2/base.apk",
    ),
    "quoted-pm-list-packages-second-user-error.txt": (1, "com.qualcomm.qti.telephonyservice", ""),
}


@pytest.mark.parametrize(("name", "expected"), FOCUS.items())
def test_the_app_in_front_of_each_recording(name: str, expected: Focus | None) -> None:
    assert focus_of(recorded_text(name)) == expected


@pytest.mark.parametrize(("name", "expected"), SCREENS.items())
def test_the_screen_of_each_recording(name: str, expected: Screen) -> None:
    assert screen_of(recorded_text(name)) == expected


@pytest.mark.parametrize(("name", "expected"), SIZES.items())
def test_the_size_of_each_recording(name: str, expected: tuple[int, int]) -> None:
    assert size_of(recorded_text(name)) == expected


@pytest.mark.parametrize(("name", "expected"), PANELS.items())
def test_the_panels_of_each_recording(name: str, expected: tuple[str, ...]) -> None:
    assert panels_of(recorded_text(name)) == expected


@pytest.mark.parametrize(("name", "expected"), PACKAGES.items())
def test_the_package_of_each_recording(name: str, expected: Package | None) -> None:
    assert package_of(recorded_text(name), expected.name if expected else "com.funnyenglish.app") == expected


@pytest.mark.parametrize(("name", "expected"), LISTS.items())
def test_the_packages_of_each_recording(name: str, expected: tuple[int, str, str]) -> None:
    number, package, path = expected
    found = packages_of(recorded_text(name))
    assert len(found) == number
    assert found[package] == path


@pytest.mark.parametrize(("name", "expected"), PROPERTIES.items())
def test_the_properties_of_each_recording(name: str, expected: tuple[int, str]) -> None:
    found = properties_of(recorded_text(name))
    assert (len(found), found["ro.build.version.release"]) == expected


def test_a_recorded_property_of_several_lines_is_whole() -> None:
    found = properties_of(recorded_text("getprop--android13-motorola-edge20.txt"))
    assert found["persist.sys.boot.reason.history"].split("\n")[-1] == "reboot,1724940786"
    car = properties_of(recorded_text("getprop--android9-car-gwm.txt"))
    assert car["persist.vendor.gwm.cfg.bean_file_version"] == "cfgVersion:E0480037"


@pytest.mark.parametrize(("name", "reason"), INPUT.items())
def test_why_input_failed_in_each_recording(name: str, reason: str) -> None:
    failure = input_failure_of(recorded_text(name))
    assert failure is not None
    assert failure.reason == reason
    assert failure.said.isprintable()


@pytest.mark.parametrize(("name", "reason"), STARTS.items())
def test_whether_the_app_was_started_in_each_recording(name: str, reason: str | None) -> None:
    failure = start_failure_of(recorded_text(name))
    assert (failure and failure.reason) == reason


@pytest.mark.parametrize(("name", "reason"), INSTALLS.items())
def test_whether_the_app_was_installed_in_each_recording(name: str, reason: str | None) -> None:
    result = install_result(recorded_text(name))
    assert result.success == (reason is None)
    assert result.reason == (reason or "")
    assert bool(result.message) != result.success


@pytest.mark.parametrize(("name", "expected"), DEVICES.items())
def test_the_devices_of_each_recording(name: str, expected: list[str]) -> None:
    assert [f"{each.serial} {each.state}" for each in devices_of(recorded_text(name))] == expected


@pytest.mark.parametrize(("name", "outcome"), ANSWERS.items())
def test_what_adb_answered_in_each_recording(name: str, outcome: str) -> None:
    answer = answer_of(recorded_text(name))
    assert answer.outcome == outcome
    assert answer.ok == (outcome in ("connected", "disconnected"))
    assert answer.ok or answer.hint


def test_the_other_recordings() -> None:
    assert density_of(recorded_text("quoted-wm-density--override.txt")) == 160
    keyboard = input_method_of(recorded_text("dumpsys-input_method--android13-mtk.txt"))
    assert keyboard == InputMethod(LATIN, shown=False)
    assert input_methods_of(recorded_text("quoted-ime-list-s--aosp-latin.txt"))[0] == LATIN
    assert input_methods_of(recorded_text("quoted-ime-list-s--gboard.txt"))[0] == GOOGLE
    assert was_chosen(recorded_text("quoted-ime-set-success.txt"))
    assert not was_chosen(recorded_text("quoted-ime-set-unknown.txt"))
    assert is_awake(recorded_text("dumpsys-power--android13-mtk-asleep.txt")) is False
    assert is_awake(recorded_text("dumpsys-power--vivo-recent-awake.txt")) is True
    policy = recorded_text("dumpsys-window-policy--android13-mtk.txt")
    assert (is_locked(policy), needs_secret(policy)) == (True, False)
    assert is_locked(recorded_text("dumpsys-window-displays--android13-mtk.txt")) is True
    assert is_locked(recorded_text("dumpsys-activity-activities--android13-mtk.txt")) is True
    assert is_locked(recorded_text("dumpsys-activity-activities--android9-car-5-displays.txt")) is False
    details = devices_of(recorded_text("quoted-adb-devices-l--two-devices-usb.txt"))[1].details
    assert details == {"usb": "1-1", "product": "razor", "model": "Nexus_7", "device": "flo"}


@pytest.mark.parametrize(
    ("pattern", "table"),
    [
        ("*dumpsys-window*", FOCUS),
        ("*dumpsys-activity*", FOCUS),
        ("quoted-mcurrentfocus*", FOCUS),
        ("quoted-mfocusedapp*", FOCUS),
        ("*dumpsys-display*", SCREENS),
        ("*dumpsys-input--*", SCREENS),
        ("quoted-wm-size*", SIZES),
        ("*surfaceflinger*", PANELS),
        ("*dumpsys-package*", PACKAGES),
        ("*pm-list-packages*", LISTS),
        ("getprop*", PROPERTIES),
        ("quoted-input-*", INPUT),
        ("quoted-am-start*", STARTS),
        ("quoted-monkey*", STARTS),
        ("quoted-*install*", INSTALLS),
        ("quoted-adb-devices*", DEVICES),
        ("quoted-adb-connect*", ANSWERS),
        ("quoted-adb-pair*", ANSWERS),
    ],
)
def test_no_recording_is_forgotten(pattern: str, table: dict[str, object]) -> None:
    assert set(all_recorded(pattern)) <= table.keys()


WINDOW = "Window{1a2b3c u0 org.example/org.example.Main}"


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (f"  mCurrentFocus={WINDOW}", Focus("org.example", "org.example.Main")),
        (f"mCurrentFocus=null\nmCurrentFocus=null\nmCurrentFocus={WINDOW}", Focus("org.example", "org.example.Main")),
        ("mCurrentFocus=null\nmFocusedApp=null", None),
        (
            "mFocusedApp=ActivityRecord{1 u0 com.android.systemui/.subscreen.SubHomeActivity t7}\n"
            "mFocusedApp=ActivityRecord{2 u0 org.example/.Main t8}",
            Focus("org.example", "org.example.Main"),
        ),
        (
            "mCurrentFocus=Window{1 u0 NotificationShade}\nmFocusedApp=ActivityRecord{2 u0 org.example/.Main} t8}",
            Focus("org.example", "org.example.Main", "NotificationShade"),
        ),
        ("mCurrentFocus=Window{1 u0 org.example}", Focus("org.example")),
        (
            "mCurrentFocus=Window{1 u0 org.example}\nmFocusedApp=AppWindowToken{2 token=Token{3 ActivityRecord{4 u0 "
            "org.example/.Main t1}}}",
            Focus("org.example", "org.example.Main"),
        ),
        (
            "mCurrentFocus=Window{com.android.systemui:b3ce339 u0 StatusBar type=2000 }",
            Focus("com.android.systemui", window="StatusBar"),
        ),
        ("mCurrentFocus=Window{9 u0 org.example/org.example.Main type=1 }", Focus("org.example", "org.example.Main")),
        (
            "mCurrentFocus=Window{9 u0 Application Not Responding: org.example}",
            Focus("android", window="Application Not Responding: org.example"),
        ),
        (
            "mCurrentFocus=Window{9 u0 Application Error: org.example}",
            Focus("android", window="Application Error: org.example"),
        ),
        ("  ResumedActivity: ActivityRecord{1 u0 org.example/.Main} t12}", Focus("org.example", "org.example.Main")),
        ("    mResumedActivity: ActivityRecord{1 u0 org.example/.Main t5}", Focus("org.example", "org.example.Main")),
        (
            "mResumedActivity: ActivityRecord{1 u0 com.other/.Split t5}\n"
            "topResumedActivity=ActivityRecord{2 u10 org.example/.Main t6}",
            Focus("org.example", "org.example.Main"),
        ),
        (
            "Display: mDisplayId=2\n  mCurrentFocus=Window{1 u0 com.cover/com.cover.A}\n"
            f"Display: mDisplayId=0\n  mCurrentFocus={WINDOW}",
            Focus("org.example", "org.example.Main"),
        ),
        (
            f"mTopFocusedDisplayId=2\nDisplay: mDisplayId=0\n mCurrentFocus=Window{{1 u0 com.other/com.other.A}}\n"
            f"Display: mDisplayId=2\n  mCurrentFocus={WINDOW}",
            Focus("org.example", "org.example.Main"),
        ),
        (
            "TASK null id=2\n  ACTIVITY com.other/.A 1 pid=2\n   mResumed=false mStopped=true\n"
            "  ACTIVITY org.example/.Main$Inner 3 pid=4\n   mResumed=true mStopped=false",
            Focus("org.example", "org.example.Main$Inner"),
        ),
        (
            "  Window #1 Window{1 u0 com.other/com.other.A}:\n  ty=BASE_APPLICATION\n  isVisible=false\n"
            f"  Window #2 {WINDOW}:\n  mAttrs={{ty=BASE_APPLICATION}}\n  isVisible=true\n",
            Focus("org.example", "org.example.Main"),
        ),
        ("", None),
    ],
)
def test_the_app_in_front(printed: str, expected: Focus | None) -> None:
    assert focus_of(printed) == expected


VIEWPORT = (
    "DisplayViewport{{type=INTERNAL, valid=true, isActive={active}, displayId=0, uniqueId='local:{n}', physicalPort=0, "
    "orientation={turned}, logicalFrame=Rect(0, 0 - {w}, {h}), physicalFrame=Rect(0, 0 - {h}, {w}), deviceWidth=1}}"
)


def test_of_a_foldables_panels_the_active_one_counts() -> None:
    outer = VIEWPORT.format(active="false", n=1, turned=0, w=1080, h=2400)
    inner = VIEWPORT.format(active="true", n=2, turned=1, w=2208, h=1840)
    assert screen_of(f"  mViewports=[{outer}, {inner}]") == Screen((2208, 1840), 1)
    assert screen_of(f"  mViewports=[{inner}, {outer}]") == Screen((2208, 1840), 1)


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (
            "Viewport INTERNAL: displayId=0, uniqueId=local:4, port=0, orientation=3, logicalFrame=[0, 0, 1612, 720], "
            "physicalFrame=[0, 0, 720, 1612], deviceSize=[720, 1612], isActive=[1]",
            Screen((1612, 720), 3),
        ),
        ("init=1080x2340 480dpi base=540x1170 240dpi cur=1170x540 app=1x1", Screen((1170, 540), None, 240)),
        ("  mCurrentRotation=ROTATION_90\n init=1080x2400 480dpi cur=2400x1080", Screen((2400, 1080), 1, 480)),
        ("  mRotation=3 mAltOrientation=false", Screen(rotation=3)),
        ("      SurfaceOrientation: 2", Screen(rotation=2)),
        ('mOverrideDisplayInfo=DisplayInfo{"x", real 1920 x 1080, rotation 1, state ON}', Screen((1920, 1080), 1)),
        ("Display State=DOZE", Screen(on=False)),
        ("nothing", Screen()),
    ],
)
def test_the_screen(printed: str, expected: Screen) -> None:
    assert screen_of(printed) == expected


def test_an_override_of_size_and_density_wins() -> None:
    assert size_of("Physical size: 1080x2400\nOverride size: 720x1600\n") == (720, 1600)
    assert size_of("Physical size: 1080x2400\r\n") == (1080, 2400)
    assert size_of("/system/bin/sh: wm: not found") is None
    assert density_of("Physical density: 480\nOverride density: 320") == 320
    assert density_of("Physical density: 480") == 480
    assert density_of("") is None
    assert panels_of('Display 46 (HWC display 0): port=0\nDisplay 47 (HWC display 1): x="Display 9 ("') == ("46", "47")


INSTALLED = """Packages:
  Package [org.example] (1a2b3c):
    codePath=/data/app/~~x==/org.example-y==
    versionCode=42 minSdk=26 targetSdk=34
    versionName=4.2 beta
    signatures=PackageSignatures{1 version:3, signatures:[abcd1234, ef], past signatures:[0]}
    User 0: ceDataInode=1 installed=%s hidden=false

Hidden system packages:
  Package [org.example] (9f):
    versionCode=1
    versionName=1.0
"""


def test_the_installed_package_counts_and_not_the_hidden_one() -> None:
    found = package_of(INSTALLED % "true", "org.example")
    assert found == Package("org.example", 42, "4.2 beta", ("abcd1234", "ef"), "/data/app/~~x==/org.example-y==")
    assert package_of(INSTALLED % "false", "org.example") is None
    assert package_of(INSTALLED % "true", "org.exampl") is None
    assert package_of("Unable to find package: org.example\n", "org.example") is None
    assert package_of(INSTALLED[INSTALLED.index("Hidden") :], "org.example") is None


def test_packages_are_listed_without_what_else_is_printed() -> None:
    printed = (
        "WARNING: linker\npackage:/data/app/~~a=/org.example-b==/base.apk=org.example\npackage:android  uid:1000\n"
        "package:com.a versionCode:3\r\nError: java.lang.SecurityException: Shell does not have permission\n"
    )
    assert packages_of(printed) == {
        "org.example": "/data/app/~~a=/org.example-b==/base.apk",
        "android": "",
        "com.a": "",
    }


def test_the_activity_that_a_launcher_starts() -> None:
    line = "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true\n"
    assert launcher_of(line + "org.example/.Main\n") == ("org.example", "org.example.Main")
    assert launcher_of("org.example/org.other.Main\n") == ("org.example", "org.other.Main")
    assert launcher_of("No activity found\n") is None
    assert launcher_of(line + "android/com.android.internal.app.ResolverActivity\n") is None


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (f"  mCurMethodId={LATIN}\n  mInputShown=true", InputMethod(LATIN, True)),
        (f"  mCurId={LATIN} mHaveConnection=true\n  mIsInputViewShown=true", InputMethod(LATIN, True)),
        (f"  mCurMethodId={LATIN}\n  mImeWindowVis=3", InputMethod(LATIN, True)),
        ("  mCurMethodId=null mImeWindowVis=0x1", InputMethod("", False)),
        ("", InputMethod()),
    ],
)
def test_the_keyboard(printed: str, expected: InputMethod) -> None:
    assert input_method_of(printed) == expected


@pytest.mark.parametrize(
    ("printed", "awake"),
    [
        ("  mWakefulness=Awake", True),
        ("  mWakefulness=Dozing", False),
        ("Display Power: state=OFF", False),
        ("Display Power: state=ON\n", True),
        ("  mScreenOn=true", True),
        ("", None),
    ],
)
def test_whether_the_device_is_awake(printed: str, awake: bool | None) -> None:
    assert is_awake(printed) is awake


@pytest.mark.parametrize(
    ("printed", "locked"),
    [
        ("    showing=true\n    showingAndNotOccluded=false", False),
        ("    isKeyguardShowing=true", True),
        ("   KeyguardShowing=true AodShowing=false Occluded=true\n  mKeyguardShowing=true", False),
        ("    mShowingLockscreen=true mShowingDream=false", True),
        ("      KeyguardStateMonitor\n        mIsShowing=false", False),
        ("", None),
    ],
)
def test_whether_the_device_is_locked(printed: str, locked: bool | None) -> None:
    assert is_locked(printed) is locked


def test_properties_may_have_several_lines_and_brackets() -> None:
    printed = "[a.b]: [1]\r\n[c]: [x\r\n[y] z]\r\n[d]: []\r\n[e]: [[1], [2]]\r\n]f]: [torn\r\n[g]: [last]\r\n"
    assert properties_of(printed) == {"a.b": "1", "c": "x\n[y] z", "d": "", "e": "[1], [2]", "f": "torn", "g": "last"}


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        ("", None),
        ("java.lang.SecurityException: Injecting to another application requires INJECT_EVENTS permission", "denied"),
        ("Exception occurred while executing 'tap':\njava.lang.SecurityException: … INJECT_EVENTS …", "denied"),
        ("java.lang.NullPointerException: Attempt to get length of null array", "characters"),
        ("Killed \n", "killed"),
        ("Error: Unknown command: tap\nusage: input [text|keyevent]", "unknown"),
        ("Error: Invalid arguments for command: tap\nUsage: input", "unknown"),
        ("Exception occurred while executing 'text':\njava.lang.IllegalStateException: no", "failed"),
    ],
)
def test_why_input_failed(printed: str, reason: str | None) -> None:
    failure = input_failure_of(printed)
    assert (failure and failure.reason) == reason


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        ("Starting: Intent { cmp=org.example/.Main }", None),
        ("Starting: Intent { … }\nWarning: Activity not started, its current task has been brought to the front", None),
        (
            "Starting: Intent { … }\nWarning: Activity not started, intent has been delivered to currently running "
            "top-most instance.",
            None,
        ),
        ("Starting: Intent { … }\nStatus: ok\nActivity: org.example/.Main\nComplete", None),
        ("Starting: Intent { … }\nError type 3\nError: Activity class {a/a.B} does not exist.", "missing"),
        ("Error: Activity not started, unable to resolve Intent { act=x flg=0x10000000 }", "missing"),
        ("Error: Activity not started, unknown error code 102", "failed"),
        ("java.lang.SecurityException: Permission Denial: starting Intent { … } not exported from uid 1", "denied"),
        ("  bash arg: -p\n  bash arg: a\nEvents injected: 1\n## Network stats", None),
        ("** No activities found to run, monkey aborted.", "missing"),
        ("** SYS_KEYS has no physical keys but with factor 2.0%.", "keys"),
        ("  bash arg: -p\n", "failed"),
    ],
)
def test_whether_the_app_was_started(printed: str, reason: str | None) -> None:
    failure = start_failure_of(printed)
    assert (failure and failure.reason) == reason


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("Performing Streamed Install\nSuccess\n", InstallResult(True)),
        ("\tpkg: /data/local/tmp/1.apk\r\nSuccess\r\n", InstallResult(True)),
        (
            "adb: failed to install a.apk: Failure [INSTALL_FAILED_OLDER_SDK: Requires #29 [x] (is #28)]\n",
            InstallResult(False, "INSTALL_FAILED_OLDER_SDK", "Requires #29 [x] (is #28)"),
        ),
        (
            "Failure [INSTALL_FAILED_INSUFFICIENT_STORAGE]",
            InstallResult(False, "INSTALL_FAILED_INSUFFICIENT_STORAGE", "INSTALL_FAILED_INSUFFICIENT_STORAGE"),
        ),
        ("Error: Unable to open file: /x.apk", InstallResult(False, "", "Unable to open file: /x.apk")),
        ("Failure [not installed for 0]", InstallResult(False, "", "not installed for 0")),
        ("", InstallResult(False, "", "the device said nothing")),
    ],
)
def test_whether_the_app_was_installed(printed: str, expected: InstallResult) -> None:
    assert install_result(printed) == expected


def test_messages_of_the_server_are_no_devices() -> None:
    printed = (
        "* daemon not running; starting now at tcp:5037\n* daemon started successfully\nList of devices attached\r\n"
        "adb server version (32) doesn't match this client (36); killing...\nerror: device offline\nadb: no device\n"
        "R58\tdevice\r\nemulator-5554\toffline\nx\tno permissions (user in plugdev group; are your udev rules wrong?); "
        "see [http://developer.android.com/tools/device.html]\n1.2.3.4:5555\tdevice product:a model:b transport_id:7\n"
        "y  no permissions; see [http://developer.android.com/tools/device.html] usb:1-2 transport_id:3\n"
        "adb-R5-x (2)._adb-tls-connect._tcp device transport_id:9\nz\trecovery\n\n"
    )
    assert devices_of(printed) == (
        Listed("R58", "device"),
        Listed("emulator-5554", "offline"),
        Listed("x", "no permissions"),
        Listed("1.2.3.4:5555", "device", {"product": "a", "model": "b", "transport_id": "7"}),
        Listed("y", "no permissions", {"usb": "1-2", "transport_id": "3"}),
        Listed("adb-R5-x (2)._adb-tls-connect._tcp", "device", {"transport_id": "9"}),
        Listed("z", "recovery"),
    )


def test_what_a_terminal_would_obey_is_no_part_of_a_serial_or_model() -> None:
    assert devices_of("a\x1b]0;x\x07b device\n") == ()
    assert devices_of("ab device model:X\x1b[31mY") == (Listed("ab", "device", {"model": "X"}),)


@pytest.mark.parametrize(
    ("printed", "outcome", "ok"),
    [
        ("* daemon started successfully\nconnected to 1.2.3.4:5555", "connected", True),
        ("already connected to 1.2.3.4:5555", "already", True),
        ("failed to authenticate to 1.2.3.4:5555", "unauthorized", False),
        ("failed to connect to '1.2.3.4:5555': Connection refused", "refused", False),
        ("unable to connect to 1.2.3.4:5555: No route to host", "unreachable", False),
        ("failed to connect to '1.2.3.4:1': Connection timed out", "silent", False),
        ("Successfully paired to 1.2.3.4:37099 [guid=adb-R5-x]", "paired", True),
        ("Failed: Wrong password or connection was dropped.", "code", False),
        ("adb: unknown command pair", "too_old", False),
        ("failed to connect to 1.2.3.4:5555", "failed", False),
        ("", "failed", False),
    ],
)
def test_what_adb_answers(printed: str, outcome: str, ok: bool) -> None:
    answer = answer_of(printed)
    assert (answer.outcome, answer.ok) == (outcome, ok)


PARSERS: tuple[Callable[[str], object], ...] = (
    answer_of,
    density_of,
    devices_of,
    focus_of,
    input_failure_of,
    input_method_of,
    input_methods_of,
    install_result,
    is_awake,
    is_locked,
    launcher_of,
    needs_secret,
    packages_of,
    panels_of,
    properties_of,
    screen_of,
    size_of,
    start_failure_of,
    was_chosen,
    lambda printed: package_of(printed, "org.example"),
)


@given(st.text(alphabet="mCurrentFocus=Window{} u0 a/.b:[]()\n\r0123456789xdpi-", max_size=300) | st.text())
def test_no_parser_raises_for_what_a_device_may_print(printed: str) -> None:
    for parser in PARSERS:
        parser(printed)
