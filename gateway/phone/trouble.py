"""What adb and the device say when something is wrong, as errors that say what to do."""

from __future__ import annotations

import re

from gateway.errors import (
    ActionFailed,
    DeviceDenied,
    DeviceError,
    DeviceLost,
    DeviceOffline,
    DeviceTimeout,
    DeviceUnauthorized,
    NoDevice,
    SeveralDevices,
)
from gateway.phone.harmless import harmless
from gateway.phone.reading.injection import InputFailure, input_failure_of
from gateway.phone.reading.launching import StartFailure, start_failure_of

ALLOW = "unlock the phone and allow this computer in the dialog that it shows (tick “always”)"
PLUG = (
    "connect one by USB with USB debugging on, or over WiFi: adb pair HOST:PORT, then adb connect HOST:PORT; "
    "or try it on a simulated one: --simulated"
)
UDEV = "let your user use the device: apt-get install android-sdk-platform-tools-common, log in again, replug it"
REPLUG = "replug the cable, or switch USB (wireless) debugging off and on again"
INPUT = (
    "allow input in the developer options: “USB debugging (Security settings)” on Xiaomi, “Disable permission "
    "monitoring” on Oppo, Realme and OnePlus; then replug the phone"
)

_DENIED = re.compile(r"SecurityException|Security exception|Permission Denial")
_FAILED = re.compile(
    r"^(?:[\w.$]+\.\w*(?:Exception|Error)\b|Error\b|Exception occurred|Unknown command\b|Killed\s*$)", re.M
)
LENGTH = 200  # characters of what is quoted


def from_server(said: str, serial: str, *, performed: bool | None = False) -> DeviceError:
    """The error that the adb server's refusal stands for; `said` is its own text, without "error:"."""
    words = said.lower()
    line = harmless(said.strip().partition("\n")[0], LENGTH)
    if "unauthorized" in words or "authorizing" in words or "failed to authenticate" in words:
        return DeviceUnauthorized(f"{serial or 'the device'} has not allowed this computer", hint=ALLOW)
    if "more than one" in words:
        return SeveralDevices("more than one device is connected", hint="choose one: --device, or device.serial")
    if "permission" in words or "udev" in words:
        return DeviceDenied(f"adb may not use {serial or 'the device'}: {line}", hint=UDEV)
    if "offline" in words or "connecting" in words:
        return DeviceOffline(f"{serial or 'the device'} is offline: adb sees it, and it does not answer", hint=REPLUG)
    if re.search(r"device .*not found|no devices|unknown host service|unknown device", words):
        return NoDevice(f"no device {serial}" if serial else "no device is connected", hint=PLUG)
    return DeviceLost(f"the link to {serial or 'the device'} was cut: {line or 'closed'}", performed=performed)


def lost(serial: str, error: BaseException, *, performed: bool | None = False) -> DeviceError:
    """The error for a socket that broke, or that was silent until the deadline."""
    if isinstance(error, TimeoutError):
        return DeviceTimeout(f"{serial} did not answer in time: {error}", performed=performed, hint=REPLUG)
    said = str(error) or type(error).__name__
    return DeviceLost(f"the link to {serial} was cut: {said}", performed=performed, hint=REPLUG)


def from_output(command: str, out: bytes, err: bytes, code: int) -> DeviceError | None:
    """The error that a command's output tells of. Exit codes alone do not say it: `input` ends with 0 on some devices
    that throw, and `monkey` with 251 on some where it works. Of the command its first two words are told: what is typed
    may be a secret."""
    said = (out + b"\n" + err).decode(errors="replace").replace("\r", "")
    name = " ".join(command.split()[:2])
    if name.startswith("input "):
        failure: InputFailure | StartFailure | None = input_failure_of(said)
    elif name == "am start" or name.startswith("monkey "):
        failure = start_failure_of(said)
        if failure is None:
            return None
    else:
        failure = None
        if found := _DENIED.search(said) or _FAILED.search(said):
            failure = StartFailure("denied" if _DENIED.search(said) else "failed", _line(said, found))
    if failure is None and code:
        ended = ActionFailed(f"`{name}` ended with {code}: {harmless(said, LENGTH) or 'it said nothing'}")
        ended.performed = None
        return ended
    if failure is None:
        return None
    if failure.reason == "denied":
        hint = INPUT if name.startswith("input ") else ""
        return DeviceDenied(f"the phone does not allow `{name}`: {failure.said}", hint=hint)
    failed = ActionFailed(f"`{name}` failed: {failure.said}", unknown=failure.reason == "unknown")
    if failure.reason == "killed":
        failed.performed = None
    return failed


def _line(said: str, found: re.Match[str]) -> str:
    """The line that it stands in."""
    return harmless(said[said.rfind("\n", 0, found.start()) + 1 :].partition("\n")[0], LENGTH)
