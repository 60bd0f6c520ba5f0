"""Apps on the phone: listed, started, stopped, installed."""

from __future__ import annotations

import hashlib
import re
import shlex
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import AppNotFound, DeviceError, InstallFailed
from gateway.phone import app_names
from gateway.phone.calls import Calls
from gateway.phone.deadline import Deadline
from gateway.phone.reading.install import install_result
from gateway.phone.reading.packages import Package, package_of, packages_of

TEMPORARY = "/data/local/tmp"
MAIN, LAUNCHER = "android.intent.action.MAIN", "android.intent.category.LAUNCHER"
AS_LAUNCHER = "0x10200000"  # a new task, or the one there is: as the launcher starts an app
CLEANING_S = 5.0
_COMPONENT = re.compile(r"^\s*([\w.]+)/([\w.$]+)\s*$", re.M)
HINTS = {
    "INSTALL_FAILED_USER_RESTRICTED": "allow “Install via USB” in the developer options, and confirm on the phone",
    "INSTALL_FAILED_INSUFFICIENT_STORAGE": "free some storage on the phone",
    "INSTALL_FAILED_UPDATE_INCOMPATIBLE": "another key signed the installed one: uninstall it first (its data goes)",
    "INSTALL_FAILED_VERSION_DOWNGRADE": "a newer version is installed: uninstall it first (its data goes)",
    "INSTALL_FAILED_NO_MATCHING_ABIS": "the app was built for other processors",
    "INSTALL_FAILED_OLDER_SDK": "the app needs a newer Android",
    "INSTALL_PARSE_FAILED_NO_CERTIFICATES": "the app is not signed, or the file is damaged",
    "INSTALL_PARSE_FAILED_NOT_APK": "the file is no app, or is damaged",
}


@dataclass(frozen=True)
class App:
    """One that can be started. `label` is what it is probably called: see `app_names`."""

    package: str
    label: str
    component: str = ""


@dataclass(frozen=True)
class Installed:
    """`before` is None where it was not installed; `after` None where the file's package could not be told: the same
    version was there already."""

    before: Package | None
    after: Package | None


class Apps:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def startable(self, deadline: Deadline) -> list[App]:
        """Those with an icon, by label."""
        said = self._calls.query(f"cmd package query-activities --brief -a {MAIN} -c {LAUNCHER}", deadline)
        found = {package: f"{package}/{activity}" for package, activity in _COMPONENT.findall(said)}
        if not found:  # Android 6 and earlier
            found = dict.fromkeys(self._packages(deadline), "")
        apps = [App(package, app_names.label(package), component) for package, component in found.items()]
        return sorted(apps, key=lambda app: (app.label.casefold(), app.package))

    def find(self, name: str, deadline: Deadline) -> App:
        """The app that a label or a package means. AppNotFound says what there is."""
        apps = {app.package: app for app in self.startable(deadline)}
        best = app_names.best(name, apps)
        if len(best) == 1:
            return apps[best[0]]
        if best:
            names = ", ".join(best)
            raise AppNotFound(f"{name!r} may be any of {names}", hint="name one of these packages")
        there = ", ".join(f"{app.label} ({app.package})" for app in list(apps.values())[:40])
        raise AppNotFound(
            f"no app {name!r}: neither its package, nor the name of a common app, nor a part of a package or anything "
            f"like it",
            hint=f"there is: {there}",
        )

    def start(self, name: str, deadline: Deadline) -> tuple[App, str]:
        """Bring it to the front, as its icon does; what the device said to it."""
        app = self.find(name, deadline)
        if app.component:
            line = f"am start -a {MAIN} -c {LAUNCHER} -f {AS_LAUNCHER} -n {shlex.quote(app.component)}"
            return app, self._calls.act(line, deadline).text.strip()
        line = f"monkey -p {shlex.quote(app.package)} -c {LAUNCHER} --pct-syskeys 0 1"
        said = self._calls.act(line, deadline).text
        if "No activities found" in said:
            raise AppNotFound(f"{app.package} has nothing that can be started")
        return app, said.strip()

    def stop(self, package: str, deadline: Deadline) -> None:
        """End all of it at once. `am` says nothing where there is no such package, so that is asked first."""
        if package not in self._packages(deadline):
            raise AppNotFound(f"no package {package!r} is installed", hint="name it as `pm list packages` does")
        self._calls.act(f"am force-stop {shlex.quote(package)}", deadline)

    def details(self, package: str, deadline: Deadline) -> Package | None:
        """Version and signature; None where it is not installed."""
        return package_of(self._calls.query(f"dumpsys package {shlex.quote(package)}", deadline), package)

    def install(self, file: Path, deadline: Deadline, package: str = "") -> Installed:
        """Install or update it. `package` is its name; without one it is found by what has changed. InstallFailed with
        the device's reason, also where the installed one is not what it was updated to."""
        data = file.read_bytes()
        there = f"{TEMPORARY}/echelon-{hashlib.sha256(data).hexdigest()[:16]}{file.suffix}"
        versions = self._versions(deadline)
        before = self.details(package, deadline) if package else None
        self._calls.once(lambda until: self._calls.link.push(data, there, until), deadline)
        try:
            line = f"pm install -r -t {shlex.quote(there)}"
            done = self._calls.once(lambda until: self._calls.link.shell(line, until), deadline)
        finally:
            with suppress(DeviceError):
                self._calls.link.shell(f"rm -f {shlex.quote(there)}", Deadline(CLEANING_S, "cleaning up"))
        said = (done.out + b"\n" + done.err).decode(errors="replace")
        result = install_result(said)
        if not result.success:
            hint = HINTS.get(result.reason, "")
            why = f"{result.reason}: {result.message}" if result.reason else result.message
            raise InstallFailed(f"{file.name} was not installed: {why}", reason=result.reason, hint=hint)
        now = self._versions(deadline)
        changed = [each for each in now if now[each] != versions.get(each)]
        name = package or (changed[0] if len(changed) == 1 else "")
        after = self.details(name, deadline) if name else None
        if package and after is None:
            raise InstallFailed(f"the phone says that {file.name} is installed, but there is no {package}")
        if before and after and before.signatures != after.signatures:
            raise InstallFailed(f"{name} has another signature than before", hint="do not trust that file")
        return Installed(before, after)

    def _packages(self, deadline: Deadline) -> list[str]:
        return list(packages_of(self._calls.query("pm list packages", deadline)))

    def _versions(self, deadline: Deadline) -> dict[str, str]:
        """The lines of `pm list packages` by package: they have versions from Android 8 on."""
        said = self._calls.query("pm list packages --show-versioncode", deadline)
        if not said.strip() or "Unknown option" in said:
            said = self._calls.query("pm list packages", deadline)
        return {line.split()[0].removeprefix("package:"): line for line in said.splitlines() if line.strip()}
