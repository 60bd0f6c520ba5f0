"""Apps are listed, started, stopped and installed, and what an installation brought is looked at."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from phone_lab import LAB, LAB_APP

from gateway.errors import AppNotFound, InstallFailed
from gateway.phone.bridge import Bridge
from simphone.background import PhoneThread
from simphone.faults import Fault

OTHER = "org.example.other"


def packed(folder: Path, version: int = 3, signature: str = "lab", package: str = OTHER) -> Path:
    """The laboratory as a package file, of another version or from another hand."""
    manifest = json.loads((LAB_APP / "manifest.json").read_text())
    manifest |= {"package": package, "version_code": version, "signature": signature, "version_name": f"1.{version}"}
    file = folder / f"{package}-{version}-{signature}.simapk"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for each in LAB_APP.glob("*.html"):
            archive.write(each, each.name)
    return file


@pytest.fixture
def clean(bridge: Bridge) -> Bridge:
    from gateway.phone.deadline import Deadline

    if OTHER in {app.package for app in bridge.apps()}:
        bridge._calls.act(f"pm uninstall {OTHER}", Deadline(20))
    return bridge


def test_apps_are_listed_with_labels(bridge: Bridge) -> None:
    labels = {app.package: app.label for app in bridge.apps()}
    assert labels["com.android.settings"] == "Settings"
    assert labels["com.android.deskclock"] == "Clock"
    assert labels["org.simphone.notes"] == "Notes"
    assert labels[LAB] == "Lab"


@pytest.mark.parametrize(
    ("name", "package"),
    [("Settings", "com.android.settings"), ("Messages", "com.android.messaging"), ("notse", "org.simphone.notes")],
)
def test_an_app_is_started_by_its_name(bridge: Bridge, name: str, package: str) -> None:
    assert bridge.start_app(name).package == package
    bridge.settle()
    assert bridge.foreground().package == package


def test_an_app_that_there_is_not_is_said_with_those_that_there_are(bridge: Bridge) -> None:
    with pytest.raises(AppNotFound, match="Telegram") as caught:
        bridge.start_app("Telegram")
    assert "Settings (com.android.settings)" in caught.value.hint


def test_an_app_is_stopped(bridge: Bridge) -> None:
    bridge.start_app(LAB)
    bridge.settle()
    bridge.stop_app(LAB)
    bridge.settle()
    assert bridge.foreground().package != LAB
    with pytest.raises(AppNotFound):
        bridge.stop_app("org.example.nothing")


def test_an_app_is_installed_and_updated(clean: Bridge, tmp_path: Path) -> None:
    first = clean.install(packed(tmp_path))
    assert first.before is None and first.after is not None
    assert (first.after.name, first.after.version_code, first.after.version_name) == (OTHER, 3, "1.3")
    assert first.after.signatures
    update = clean.install(packed(tmp_path, version=4), OTHER)
    assert update.before == first.after
    assert update.after is not None and update.after.version_code == 4
    assert update.after.signatures == first.after.signatures
    clean.start_app(OTHER)
    clean.settle()
    assert clean.foreground().package == OTHER


@pytest.mark.parametrize(
    ("version", "signature", "reason"),
    [
        (2, "lab", "INSTALL_FAILED_VERSION_DOWNGRADE"),
        (4, "somebody else", "INSTALL_FAILED_UPDATE_INCOMPATIBLE"),
    ],
)
def test_an_update_that_is_refused_says_why(
    clean: Bridge, tmp_path: Path, version: int, signature: str, reason: str
) -> None:
    clean.install(packed(tmp_path))
    with pytest.raises(InstallFailed, match=reason) as caught:
        clean.install(packed(tmp_path, version, signature), OTHER)
    assert caught.value.reason == reason
    assert "uninstall it first" in caught.value.hint


def test_what_is_no_app_is_refused(clean: Bridge, tmp_path: Path) -> None:
    file = tmp_path / "letter.apk"
    file.write_bytes(b"Dear phone")
    with pytest.raises(InstallFailed) as caught:
        clean.install(file)
    assert caught.value.reason


def test_a_full_phone_says_so(clean: Bridge, phone: PhoneThread, tmp_path: Path) -> None:
    from gateway.errors import DeviceError

    phone.faults.add(Fault("storage_full", times=0))
    with pytest.raises(DeviceError) as caught:
        clean.install(packed(tmp_path))
    assert "storage" in caught.value.hint
    phone.faults.clear()
    phone.faults.add(Fault("storage_full", at="pm install*"))
    with pytest.raises(InstallFailed) as refused:
        clean.install(packed(tmp_path))
    assert refused.value.reason == "INSTALL_FAILED_INSUFFICIENT_STORAGE"


def test_no_file_is_left_on_the_phone(clean: Bridge, phone: PhoneThread, tmp_path: Path) -> None:
    async def names(it: object) -> list[str]:
        return sorted(each.name for each in it.files.host("/data/local/tmp").iterdir())  # type: ignore[attr-defined]

    before = phone.call(names)
    clean.install(packed(tmp_path))
    assert phone.call(names) == before
