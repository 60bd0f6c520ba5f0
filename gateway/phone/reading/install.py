"""Whether an app was installed or removed: what `pm` and `adb` answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gateway.phone.harmless import harmless

LENGTH = 300  # characters of what is quoted

SUCCESS = re.compile(r"^Success\b", re.MULTILINE)
FAILURE = re.compile(r"Failure \[([A-Z][A-Z0-9_]*)(?:: ?(.*?))?\]\s*$", re.MULTILINE | re.DOTALL)
WORDS = re.compile(
    r"Failure \[(.*?)\]\s*$|^(?:adb: |Error: )([^\n]+)|^([\w.]+(?:Exception|Error): [^\n]+)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class InstallResult:
    """`reason` is Android's own code, such as INSTALL_FAILED_VERSION_DOWNGRADE, empty where there is none; `message`
    are its words."""

    success: bool
    reason: str = ""
    message: str = ""


def install_result(said: str) -> InstallResult:
    """Of all that installing or removing printed, on both streams."""
    if found := FAILURE.search(said):
        return InstallResult(False, found[1], harmless(found[2] or found[1], LENGTH))
    if SUCCESS.search(said):
        return InstallResult(True)
    if found := WORDS.search(said):
        return InstallResult(False, "", harmless(next(filter(None, found.groups()), ""), LENGTH))
    return InstallResult(False, "", harmless(said, LENGTH) or "the device said nothing")
