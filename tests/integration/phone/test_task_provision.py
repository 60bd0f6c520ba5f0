"""A task's app comes from a file: installed where it is missing or older, and never over another one."""

from __future__ import annotations

import asyncio
import hashlib
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from apk_files import apk, certificate, certificate_with_hash, simulated_apk
from phone_lab import LAB_APP, OwnAdb
from task_lab import Follower, gateway_in, quick

from gateway.engine.state import Status
from gateway.errors import InstallFailed, UsageError
from gateway.phone.bridge import Bridge
from gateway.phone.deadline import Deadline
from gateway.phone.task.provision import fingerprint, provision
from gateway.phones import PhoneTask
from simphone.background import PhoneThread
from simphone.faults import Fault

APP = "org.example.provisioned"
DONE = {"action": "FINISH", "reason": "done"}


def signer(signature: str) -> bytes:
    """A certificate that has the short hash which the simulated phone tells for that signature."""
    return certificate_with_hash(signature, hashlib.sha256(signature.encode()).hexdigest()[:8])


def package(folder: Path, version: int = 3, signature: str = "lab", **more: Any) -> Path:
    """An APK that the simulated phone can install."""
    told = {"package": APP, "version_code": version, "version_name": f"1.{version}", "signature": signature, **more}
    return simulated_apk(folder / f"app-{version}-{signature}.apk", LAB_APP, signer(signature), **told)


def bare(folder: Path, name: str = "bare.simapk", version: int = 3) -> Path:
    """A package of the simulated phone's that tells no other program what it is."""
    manifest = json.loads((LAB_APP / "manifest.json").read_text())
    file = folder / name
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("manifest.json", json.dumps({**manifest, "package": APP, "version_code": version}))
        for each in LAB_APP.glob("*.html"):
            archive.write(each, each.name)
    return file


def provided(bridge: Bridge, file: Path, app: str = "") -> dict[str, Any]:
    done: dict[str, Any] = provision(bridge, str(file), fingerprint(file), app)
    return done


@pytest.fixture
def clean(bridge: Bridge) -> Iterator[Bridge]:
    gone(bridge)
    yield bridge
    gone(bridge)


def gone(bridge: Bridge) -> None:
    if bridge.package(APP) is not None:
        bridge._calls.act(f"pm uninstall {APP}", Deadline(20))


def test_an_app_is_installed_where_it_is_missing(clean: Bridge, tmp_path: Path) -> None:
    done = provided(clean, package(tmp_path))
    assert done == {"package": APP, "version": "1.3", "installed": True}
    there = clean.package(APP)
    assert there is not None and there.version_code == 3


def test_the_same_version_is_left_as_it_is(clean: Bridge, phone: PhoneThread, tmp_path: Path) -> None:
    file = package(tmp_path)
    provided(clean, file)
    phone.faults.add(Fault("storage_full", times=0))  # nothing can be installed now
    assert provided(clean, file) == {"package": APP, "version": "1.3", "installed": False}


def test_an_older_one_is_updated(clean: Bridge, tmp_path: Path) -> None:
    provided(clean, package(tmp_path))
    assert provided(clean, package(tmp_path, 4)) == {"package": APP, "version": "1.4", "installed": True}


@pytest.mark.parametrize(
    ("version", "signature", "reason", "hint"),
    [
        (2, "lab", "INSTALL_FAILED_VERSION_DOWNGRADE", f"--app {APP}"),
        (4, "somebody else", "INSTALL_FAILED_UPDATE_INCOMPATIBLE", "uninstall it first"),
        (3, "somebody else", "INSTALL_FAILED_UPDATE_INCOMPATIBLE", "uninstall it first"),
    ],
)
def test_a_newer_app_or_a_strangers_is_not_replaced(
    clean: Bridge, phone: PhoneThread, tmp_path: Path, version: int, signature: str, reason: str, hint: str
) -> None:
    provided(clean, package(tmp_path))
    before = clean.package(APP)
    phone.faults.add(Fault("storage_full", times=0))  # it is not even tried
    with pytest.raises(InstallFailed) as caught:
        provided(clean, package(tmp_path, version, signature))
    assert caught.value.reason == reason and hint in caught.value.hint
    phone.faults.clear()
    assert clean.package(APP) == before


def test_what_the_phone_has_afterwards_must_be_what_the_file_says(clean: Bridge, tmp_path: Path) -> None:
    file = package(tmp_path)
    data = apk(APP, 9, v2=[signer("lab")], files={"manifest.json": zipfile.ZipFile(file).read("manifest.json")})
    file.write_bytes(data)  # installed as version 3
    with pytest.raises(InstallFailed, match="version 9"):
        provided(clean, file)
    gone(clean)
    held = zipfile.ZipFile(package(tmp_path)).read("manifest.json")
    file.write_bytes(apk(APP, 3, v2=[certificate("a stranger")], files={"manifest.json": held}))
    with pytest.raises(InstallFailed, match="another signature"):
        provided(clean, file)


def test_a_file_that_is_not_signed_is_not_sent(clean: Bridge, tmp_path: Path) -> None:
    file = tmp_path / "unsigned.apk"
    file.write_bytes(apk(APP))
    with pytest.raises(InstallFailed, match="not signed"):
        provided(clean, file)


def test_a_full_phone_says_so(clean: Bridge, phone: PhoneThread, tmp_path: Path) -> None:
    phone.faults.add(Fault("storage_full", at="pm install*"))
    with pytest.raises(InstallFailed) as caught:
        provided(clean, package(tmp_path))
    assert caught.value.reason == "INSTALL_FAILED_INSUFFICIENT_STORAGE" and "storage" in caught.value.hint


def test_a_file_that_has_changed_since_is_noticed(clean: Bridge, tmp_path: Path) -> None:
    file = package(tmp_path)
    was = fingerprint(file)
    file.write_bytes(package(tmp_path, 4).read_bytes())
    with pytest.raises(UsageError, match="has changed"):
        provision(clean, str(file), was, "")
    assert clean.package(APP) is None


def test_what_tells_nothing_of_itself_is_known_by_what_has_changed(clean: Bridge, tmp_path: Path) -> None:
    assert provided(clean, bare(tmp_path))["package"] == APP
    with pytest.raises(InstallFailed, match="does not say which app") as caught:
        provided(clean, bare(tmp_path))
    assert "--app" in caught.value.hint
    assert provided(clean, bare(tmp_path), "Provisioned")["package"] == ""


def carried_out(home: Path, phone: PhoneThread, adb: OwnAdb, **options: Any) -> PhoneTask:
    async def one() -> PhoneTask:
        async with gateway_in(home) as there:
            chosen = quick(phone.serial, adb.server.address, **options)
            task = await there.phones.run("Look at the app", chosen, agent=Follower([DONE]))
            assert not (await there.replay(task.run_id)).differing
            return task

    return asyncio.run(one())


def test_a_task_begins_with_the_app_of_its_file(
    clean: Bridge, phone: PhoneThread, adb: OwnAdb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = package(tmp_path, label="Provided")
    monkeypatch.chdir(tmp_path)
    assert carried_out(tmp_path / "home", phone, adb, apk=file.name).status is Status.COMPLETE
    assert clean.foreground().package == APP


def test_a_task_whose_app_cannot_be_provided_fails_and_says_what_to_do(
    clean: Bridge, phone: PhoneThread, adb: OwnAdb, tmp_path: Path
) -> None:
    provided(clean, package(tmp_path, 4))
    task = carried_out(tmp_path / "home", phone, adb, apk=str(package(tmp_path)))
    assert task.status is Status.FAILED
    assert "newer" in str(task.error) and f"--app {APP}" in task.hint
