"""The task's own app from a file: installed where it is missing or older, and what is there checked."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.engine.ports import Json
from gateway.errors import InstallFailed, UsageError
from gateway.phone.apk import ApkFile, read_apk
from gateway.phone.apps import HINTS
from gateway.phone.reading.packages import Package

if TYPE_CHECKING:
    from gateway.phone.bridge import Bridge

NO_CERTIFICATES, INCOMPATIBLE, DOWNGRADE = (
    "INSTALL_PARSE_FAILED_NO_CERTIFICATES",
    "INSTALL_FAILED_UPDATE_INCOMPATIBLE",
    "INSTALL_FAILED_VERSION_DOWNGRADE",
)


def fingerprint(file: Path) -> str:
    """The file's sha256, in hex. Raises UsageError."""
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error


def provision(bridge: Bridge, apk: str, sha256: str, app: str) -> Json:
    """`{"package", "version", "installed"}`; `package` is empty where only `app`, which the user named, tells it.

    The same version of the same signature is left as it is. Raises InstallFailed where the installed one is newer or
    signed by another, where the phone refuses the file, and where what is there afterwards is not what the file says;
    UsageError where the file is another one than when the task began.
    """
    file = Path(apk)
    if fingerprint(file) != sha256:
        raise UsageError(f"{file} has changed since the task began", hint="put the old one back, or begin a new task")
    known = read_apk(file)
    if known is None:
        return _installed_blindly(bridge, file, app)
    if not known.signers:
        raise InstallFailed(f"{file.name} is not signed", reason=NO_CERTIFICATES, hint=HINTS[NO_CERTIFICATES])
    before = bridge.package(known.package)
    if before is not None and _is_there(known, before, file):
        return _told(before, False)
    after = bridge.install(file, known.package).after
    if after is None:
        raise InstallFailed(f"the phone says that {file.name} is installed, but there is no {known.package}")
    if after.version_code != known.version_code:
        raise InstallFailed(
            f"{file.name} is version {known.version_code} of {known.package}, and the phone has {after.version_code} "
            "after installing it",
            hint="install it by adb, and see what the phone says",
        )
    if after.signatures and not known.is_of(after.signatures):
        raise InstallFailed(f"{known.package} has another signature than {file.name}", hint="do not trust that file")
    return _told(after, True)


def _is_there(known: ApkFile, before: Package, file: Path) -> bool:
    """Whether nothing is to be done. What `dumpsys` does not tell is left to Android, which decides on installing."""
    if before.signatures and not known.is_of(before.signatures):
        raise InstallFailed(
            f"{known.package} is installed with another signature than {file.name} has",
            reason=INCOMPATIBLE,
            hint=HINTS[INCOMPATIBLE],
        )
    if before.version_code is None:
        return False
    if before.version_code > known.version_code:
        raise InstallFailed(
            f"{known.package} is installed in version {before.version_code}, which is newer than {file.name} "
            f"({known.version_code})",
            reason=DOWNGRADE,
            hint=f"to use the newer one: --app {known.package} without the file. Else {_uninstall(known.package)}",
        )
    return before.version_code == known.version_code and bool(before.signatures)


def _uninstall(package: str) -> str:
    return f"uninstall it first (its data goes): adb uninstall {package}"


def _installed_blindly(bridge: Bridge, file: Path, app: str) -> Json:
    """A file that does not say which app it is: what has changed on the phone tells, or the user did."""
    there = bridge.install(file).after
    if there is None and not app:
        raise InstallFailed(
            f"{file.name} does not say which app it is, and nothing on the phone has changed by installing it",
            hint="name the app: --app NAME",
        )
    return _told(there, True) if there else {"package": "", "version": "", "installed": True}


def _told(there: Package, installed: bool) -> Json:
    return {"package": there.name, "version": there.version_name, "installed": installed}
