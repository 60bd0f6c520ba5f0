"""The packages that are installed: those that the phone ships with, and more."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict  # pydantic wants this one below Python 3.12

from simphone.system import app as apps
from simphone.system.app import App, AppUnusable
from simphone.system.component import Component
from simphone.system.intent import HOME, LAUNCHER, MAIN, Intent
from simphone.system.manifest import Manifest
from simphone.system.platform import HELPERS, LAUNCHER3, PLATFORM
from simphone.system.saved import Saved

FIRST_UID = 10000
SHIPPED_AT = datetime(2009, 1, 1).timestamp()  # what Android's build gives the files of the system image
SHIPPED_APPS = Path(__file__).resolve().parents[1] / "apps"


class _Installed(TypedDict, total=False):
    folder: str
    first_install: float
    last_update: float


class _Kept(TypedDict, total=False):
    uids: dict[str, int]
    removed: list[str]
    installed: dict[str, _Installed]


class InstallFailed(Exception):
    """`str(error)` is what stands in the brackets of "Failure […]"."""


@dataclass(frozen=True)
class Package:
    """An installed package. `system`: it lies on the system image, or updates one that does. Times in seconds since the
    epoch."""

    app: App
    system: bool
    on_image: bool
    uid: int
    first_install: float
    last_update: float

    @property
    def name(self) -> str:
        return self.app.manifest.package

    @property
    def manifest(self) -> Manifest:
        return self.app.manifest

    @property
    def launcher(self) -> Component | None:
        activity = self.manifest.launcher
        return Component(self.name, self.manifest.whole(activity)) if activity else None

    @property
    def folder(self) -> str:
        """Where its file lies on the phone."""
        if self.on_image:
            return f"/system/app/{self.manifest.label.replace(' ', '') or self.name}"
        return f"/data/app/~~{_mark(self.name)}==/{self.name}-{_mark(self.name + str(self.last_update))}=="

    @property
    def apk(self) -> str:
        return f"{self.folder}/{'base' if not self.on_image else self.folder.rpartition('/')[2]}.apk"

    @property
    def signature(self) -> str:
        """Eight hexadecimal digits, the same for the same key."""
        return hashlib.sha256(self.manifest.signature.encode()).hexdigest()[:8]


class Packages:
    """`folder` keeps what is installed; `sources` are apps besides the shipped ones (folders, package files, pages,
    addresses), `helpers` packages of `platform.HELPERS`. Raises AppUnusable for a source that is none."""

    def __init__(
        self, folder: Path, sources: Sequence[str] = (), helpers: Sequence[str] = (), shipped: Path = SHIPPED_APPS
    ) -> None:
        self._folder = folder
        self._saved = Saved(folder / "packages.json", _Kept)
        self._uids: dict[str, int] = {}
        self._image: dict[str, Package] = {}
        self._user: dict[str, Package] = {}
        stored = self._saved.read()
        self._uids.update(stored.get("uids", {}))
        self._removed: set[str] = set(stored.get("removed", ()))
        for manifest in PLATFORM:
            self._add_image(App(manifest, None))
        for each in sorted(shipped.glob(f"*/{apps.MANIFEST}")):
            found = App(apps.read(each.parent), each.parent)
            if found.manifest.package.startswith("com.android."):
                self._add_image(found)
            elif found.manifest.package not in self._removed:
                self._add_user(found, SHIPPED_AT, SHIPPED_AT)
        for helper in helpers:
            if helper not in self._removed:
                self._add_user(App(HELPERS[helper], None), SHIPPED_AT, SHIPPED_AT)
        for name, kept in stored.get("installed", {}).items():
            self._restore(name, kept)
        for source in sources:
            self.add(source)

    def __iter__(self) -> Iterator[Package]:
        return iter(sorted({**self._image, **self._user}.values(), key=lambda each: each.uid))

    def get(self, name: str) -> Package | None:
        return self._user.get(name) or self._image.get(name)

    def on_image(self, name: str) -> Package | None:
        """What the system image has of this name, even where an update hides it."""
        return self._image.get(name)

    def launchers(self) -> list[Package]:
        """Those with an icon on the home screen, by label."""
        shown = (each for each in self if each.launcher and each.name != LAUNCHER3)
        return sorted(shown, key=lambda each: each.manifest.label.casefold())

    def add(self, source: str) -> Package:
        """An app for as long as the phone runs: it stays where it is. Raises AppUnusable."""
        path = Path(source)
        if path.suffix.lower() in (".simapk", ".apk") and path.is_file():
            try:
                return self.install(path.read_bytes(), downgrade=True)
            except InstallFailed as error:
                raise AppUnusable(f"{source}: {error}") from None
        app = apps.app_from(source)
        now = time.time()
        return self._add_user(app, now, now)

    def install(self, data: bytes, *, replace: bool = True, downgrade: bool = False) -> Package:
        """From the contents of a package file. Raises InstallFailed."""
        temporary = f"/data/app/vmdl{int(hashlib.sha256(data).hexdigest()[:7], 16)}.tmp/base.apk"
        if not apps.is_package_file(data):
            raise InstallFailed(f"INSTALL_PARSE_FAILED_NOT_APK: Failed to parse {temporary}: it is no zip file")
        try:
            manifest = apps.peek(data)
        except AppUnusable as error:
            raise InstallFailed(f"INSTALL_FAILED_INVALID_APK: Failed to parse {temporary}: {error}") from None
        old = self.get(manifest.package)
        if old is not None:
            _check_update(old.manifest, manifest, replace=replace, downgrade=downgrade)
        place = self._folder / "packages" / f"{manifest.package}-{_mark(f'{time.time_ns()}')}"
        try:
            apps.unpack(data, place)
        except AppUnusable as error:
            raise InstallFailed(f"INSTALL_FAILED_INVALID_APK: {error}") from None
        except OSError as error:
            raise InstallFailed(f"INSTALL_FAILED_INSUFFICIENT_STORAGE: {error.strerror}") from None
        previous = self._user.get(manifest.package)
        now = time.time()
        self._removed.discard(manifest.package)
        added = self._add_user(App(manifest, place), old.first_install if old else now, now)
        self._write()
        self._discard(previous)
        return added

    def uninstall(self, name: str) -> None:
        """An updated one of the system image goes back to what the image has. Raises KeyError where there is none that
        can be uninstalled."""
        gone = self._user.pop(name)
        self._removed.add(name)
        self._write()
        self._discard(gone)

    def resolve(self, intent: Intent) -> Component | None:
        """The activity that an intent starts."""
        if intent.component is not None:
            return intent.component if self.declares(intent.component) else None
        asked = [self.get(intent.package)] if intent.package else list(self)
        if intent.action == MAIN and HOME in intent.categories and not intent.package:
            asked = [self.get(LAUNCHER3)]
        for package in asked:
            if package is None:
                continue
            manifest = package.manifest
            if intent.action == MAIN and {LAUNCHER, HOME} & set(intent.categories) and package.launcher:
                return package.launcher
            for action in (f"{intent.action} {intent.data.partition(':')[0]}", intent.action):
                if action in manifest.intents:
                    return Component(package.name, manifest.whole(manifest.intents[action]))
        return None

    def declares(self, component: Component) -> bool:
        package = self.get(component.package)
        return package is not None and package.manifest.activity(component.name) is not None

    def page(self, component: Component) -> str:
        """The page of an activity, in its package's folder, or an address. Raises KeyError."""
        package = self.get(component.package)
        activity = package.manifest.activity(component.name) if package else None
        if package is None or activity is None:
            raise KeyError(component.long)
        return package.manifest.activities[activity]

    def is_secure(self, component: Component) -> bool:
        """Whether the activity appears in no screenshot."""
        package = self.get(component.package)
        return package is not None and package.manifest.activity(component.name) in package.manifest.secure

    def _add_image(self, app: App) -> Package:
        package = Package(app, True, True, self._uid(app.manifest.package), SHIPPED_AT, SHIPPED_AT)
        self._image[package.name] = package
        return package

    def _add_user(self, app: App, first: float, last: float) -> Package:
        name = app.manifest.package
        package = Package(app, name in self._image, False, self._uid(name), first, last)
        self._user[name] = package
        return package

    def _uid(self, name: str) -> int:
        if name in ("android", "com.android.settings", "com.android.shell"):
            return 2000 if name == "com.android.shell" else 1000
        return self._uids.setdefault(name, FIRST_UID + 60 + len(self._uids))

    def _restore(self, name: str, kept: dict[str, Any]) -> None:
        place = self._folder / "packages" / str(kept.get("folder"))
        try:
            app = App(apps.read(place), place)
        except AppUnusable:
            return
        if app.manifest.package == name:
            self._add_user(app, float(kept.get("first_install", 0)), float(kept.get("last_update", 0)))

    def _kept(self, package: Package) -> bool:
        """Whether it was installed, not only added."""
        return package.app.pages is not None and package.app.pages.parent == self._folder / "packages"

    def _write(self) -> None:
        installed = {
            each.name: {
                "folder": each.app.pages.name,
                "first_install": each.first_install,
                "last_update": each.last_update,
            }
            for each in self._user.values()
            if each.app.pages is not None and self._kept(each)
        }
        self._saved.write({"uids": self._uids, "removed": sorted(self._removed), "installed": installed})

    def _discard(self, package: Package | None) -> None:
        if package is not None and package.app.pages is not None and self._kept(package):
            shutil.rmtree(package.app.pages, ignore_errors=True)


def _check_update(old: Manifest, new: Manifest, *, replace: bool, downgrade: bool) -> None:
    """Raises InstallFailed."""
    if not replace:
        raise InstallFailed(
            f"INSTALL_FAILED_ALREADY_EXISTS: Attempt to re-install {new.package} without first uninstalling."
        )
    if old.signature != new.signature:
        raise InstallFailed(
            f"INSTALL_FAILED_UPDATE_INCOMPATIBLE: Existing package {new.package} signatures do not match newer "
            "version; ignoring!"
        )
    if new.version_code < old.version_code and not downgrade:
        raise InstallFailed(
            "INSTALL_FAILED_VERSION_DOWNGRADE: Downgrade detected: Update version code "
            f"{new.version_code} is older than current {old.version_code}"
        )


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:22]
