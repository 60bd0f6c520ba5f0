"""Packages: listed, installed, updated, removed, kept."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import pytest
from phone_bench import Bench, Ran, small_app

from simphone.system import app as apps
from simphone.system.app import AppUnusable, app_from


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "phone")


def package(folder: Path, **changed: object) -> bytes:
    """The package file of an app like org.example.small."""
    file = folder.parent / f"{folder.name}.simapk"
    apps.pack(small_app(folder, **changed), file)
    return file.read_bytes()


async def install(bench: Bench, data: bytes, *options: str) -> Ran:
    return await bench.run("cmd", "package", "install", *options, "-S", str(len(data)), given=data)


async def test_packages_are_listed_by_kind(bench: Bench) -> None:
    every = set((await bench.line("pm list packages")).out.split())
    others = set((await bench.line("pm list packages -3")).out.split())
    system = set((await bench.line("pm list packages -s")).out.split())
    assert others | system == every and not others & system
    assert {"package:org.simphone.notes", "package:org.simphone.shop", "package:org.example.small"} <= others
    assert {"package:android", "package:com.android.settings", "package:com.android.launcher3"} <= system
    path = (await bench.line("pm path org.example.small")).out.strip()
    listed = (await bench.line("pm list packages -f org.example")).out.strip()
    assert listed == f"{path}=org.example.small"
    assert re.fullmatch(r"package:/data/app/~~\w+==/org\.example\.small-\w+==/base\.apk", path)
    assert "feature:android.hardware.touchscreen" in (await bench.line("pm list features")).out.split()


async def test_a_package_is_installed_from_a_stream_and_from_a_file(bench: Bench, tmp_path: Path) -> None:
    data = package(tmp_path / "new", package="org.example.new", label="New")
    assert (await install(bench, data)).out == "Success\n"
    assert "org.example.new" in (await bench.line("pm list packages -3")).out
    name, entries = bench.display.asked[-1]
    assert name == "launcher" and "org.example.new" in [each.package for each in entries]
    bench.files.host("/data/local/tmp/b.apk").write_bytes(package(tmp_path / "b", package="org.example.b"))
    assert (await bench.line("pm install -r -t /data/local/tmp/b.apk")).out == "Success\n"
    assert (await bench.line("am start -n org.example.b/.MainActivity")).code == 0


async def test_what_is_installed_survives_a_restart_and_what_is_removed_stays_away(
    bench: Bench, tmp_path: Path
) -> None:
    await install(bench, package(tmp_path / "new", package="org.example.new"))
    assert (await bench.line("pm uninstall org.simphone.notes")).out == "Success\n"
    before = (await bench.line("dumpsys package org.example.new")).out
    again = Bench(bench.folder)
    assert (await again.line("dumpsys package org.example.new")).out == before
    assert (await again.line("pm path org.simphone.notes")).code == 1


@pytest.mark.parametrize(
    ("changed", "options", "failure"),
    [
        ({"version_code": 3}, ("-R",), "INSTALL_FAILED_ALREADY_EXISTS"),
        ({"version_code": 2}, (), "INSTALL_FAILED_VERSION_DOWNGRADE"),
        ({"signature": "another"}, (), "INSTALL_FAILED_UPDATE_INCOMPATIBLE: Existing package org.example.small signa"),
    ],
)
async def test_an_update_may_be_refused(
    bench: Bench, tmp_path: Path, changed: dict[str, object], options: tuple[str, ...], failure: str
) -> None:
    ran = await install(bench, package(tmp_path / "update", **changed), *options)
    assert ran.code == 1 and ran.out.startswith(f"Failure [{failure}")
    assert "versionCode=3 " in (await bench.line("dumpsys package org.example.small")).out


async def test_a_downgrade_may_be_asked_for_and_an_update_ends_the_app(bench: Bench, tmp_path: Path) -> None:
    await bench.line("monkey -p org.example.small 1")
    assert (await install(bench, package(tmp_path / "old", version_code=2), "-d")).out == "Success\n"
    assert "versionCode=2 " in (await bench.line("dumpsys package org.example.small")).out
    assert (await bench.line("pidof org.example.small")).code == 1


def other_zip() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("a.txt", "a")
    return held.getvalue()


def leading_out() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("manifest.json", '{"package": "org.example.out", "label": "Out"}')
        archive.writestr("../../outside.html", "a")
    return held.getvalue()


@pytest.mark.parametrize(
    ("data", "failure"),
    [
        (b"no zip", "INSTALL_PARSE_FAILED_NOT_APK"),
        (other_zip(), "INSTALL_FAILED_INVALID_APK"),
        (leading_out(), "INSTALL_FAILED_INVALID_APK"),
    ],
)
async def test_what_is_no_package_is_refused(bench: Bench, data: bytes, failure: str) -> None:
    ran = await install(bench, data)
    assert ran.code == 1 and ran.out.startswith(f"Failure [{failure}")
    assert not list(bench.folder.rglob("outside.html"))


async def test_a_stream_that_ends_early_is_no_package(bench: Bench, tmp_path: Path) -> None:
    data = package(tmp_path / "new", package="org.example.new")
    ran = await bench.run("pm", "install", "-S", str(len(data) + 1), given=data)
    assert ran.code == 1 and "Failure [INSTALL_PARSE_FAILED_NOT_APK" in ran.out


async def test_a_file_that_is_not_there_throws(bench: Bench) -> None:
    ran = await bench.line("pm install -r /data/local/tmp/nothing.apk")
    assert ran.code == 255 and ran.err.startswith("Error: Unable to open file: /data/local/tmp/nothing.apk\n")


async def test_without_room_nothing_is_installed(bench: Bench, tmp_path: Path) -> None:
    bench.fault("storage_full:at=*install*")
    data = package(tmp_path / "new", package="org.example.new")
    assert (await install(bench, data)).out.startswith("Failure [INSTALL_FAILED_INSUFFICIENT_STORAGE")
    assert (await install(bench, data)).out == "Success\n"


async def test_what_the_image_has_cannot_be_removed_but_its_update_can(bench: Bench, tmp_path: Path) -> None:
    assert (await bench.line("pm uninstall com.android.launcher3")).out == "Failure [DELETE_FAILED_INTERNAL_ERROR]\n"
    update = package(tmp_path / "contacts", package="com.android.contacts", signature="platform", version_code=99999)
    assert (await install(bench, update)).out == "Success\n"
    dump = (await bench.line("dumpsys package com.android.contacts")).out
    assert "Hidden system packages:" in dump and dump.count("versionCode=") == 2
    assert "package:com.android.contacts\n" in (await bench.line("pm list packages -s")).out
    assert (await bench.line("pm uninstall com.android.contacts")).out == "Success\n"
    assert "versionCode=99999" not in (await bench.line("dumpsys package com.android.contacts")).out


async def test_clear_forgets_what_an_app_keeps(bench: Bench) -> None:
    bench.store.save("org.example.small", {"count": 9})
    assert (await bench.line("pm clear org.example.small")).out == "Success\n"
    assert bench.store.load("org.example.small") == {"count": 0}
    assert (await bench.line("pm clear org.nobody")).err == "Failed\n"


async def test_activities_are_resolved_and_queried(bench: Bench) -> None:
    main = "-a android.intent.action.MAIN -c android.intent.category.LAUNCHER"
    ran = await bench.line(f"cmd package resolve-activity --brief {main} org.example.small")
    assert ran.out.splitlines()[-1] == "org.example.small/.MainActivity"
    found = (await bench.line(f"cmd package query-activities --components {main}")).out.split()
    assert {"org.example.small/.MainActivity", "com.android.launcher3/.uioverrides.QuickstepLauncher"} <= set(found)
    assert (await bench.line("cmd package resolve-activity --brief org.nobody")).out == "No activity found\n"


# what becomes an app


def test_a_folder_of_pages_becomes_an_app_with_an_activity_for_each(tmp_path: Path) -> None:
    folder = tmp_path / "My tasks"
    (folder / "more").mkdir(parents=True)
    for name in ("click-test.html", "index.html", "more/use-slider.html"):
        (folder / name).write_text("<p>")
    app = app_from(str(folder))
    assert (app.manifest.package, app.manifest.label) == ("org.simphone.app.my_tasks", "My tasks")
    assert app.manifest.activities == {
        ".MainActivity": "index.html",
        ".ClickTestActivity": "click-test.html",
        ".MoreUseSliderActivity": "more/use-slider.html",
    }


def test_an_address_and_a_page_become_apps(tmp_path: Path) -> None:
    page = tmp_path / "enter-text.html"
    page.write_text("<p>")
    assert app_from(str(page)).manifest.package == "org.simphone.app.enter_text"
    web = app_from("http://127.0.0.1:8000/tasks/count-shape.html?seed=1")
    assert web.manifest.package == "org.simphone.app.count_shape"
    assert web.manifest.activities == {".MainActivity": "http://127.0.0.1:8000/tasks/count-shape.html?seed=1"}
    assert app_from("https://example.org/").manifest.package == "org.simphone.app.example_org"
    assert app_from("http://127.0.0.1:8000").manifest.package == "org.simphone.app.a127_0_0_1"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"package": "small"}, "package"),
        ({"launcher": ".Nope"}, ".Nope is no activity"),
        ({"color": "red"}, "color"),
        ({"version_code": "three"}, "version_code"),
    ],
)
def test_a_manifest_that_is_wrong_says_where(tmp_path: Path, changed: dict[str, object], said: str) -> None:
    with pytest.raises(AppUnusable, match=re.escape(said)):
        app_from(str(small_app(tmp_path / "wrong", **changed)))


def test_what_is_no_app_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for source in (str(tmp_path / "empty"), str(tmp_path / "nowhere"), "http://"):
        with pytest.raises(AppUnusable, match=r"neither|no folder|no host"):
            app_from(source)


@pytest.mark.parametrize(
    "kept", ['{"uids": 5}', '{"removed": [["x"]]}', '{"installed": [1]}', '{"installed": {"a.b": 5}}', "{"]
)
async def test_a_phone_whose_list_of_packages_is_damaged_is_as_new(tmp_path: Path, kept: str) -> None:
    for name, rest in (("packages.json", kept), ("settings.json", '{"system": 5}')):
        (tmp_path / name).write_text(rest)
    bench = Bench(tmp_path)
    assert "package:org.simphone.notes" in (await bench.line("pm list packages")).out
    assert (await bench.line("settings get global wifi_on")).out == "1\n"


def _damaged(data: bytes, entry: bytes, at: int, value: int) -> bytes:
    """One byte of the first entry of this kind is another."""
    place = data.index(entry) + at
    return data[:place] + bytes([value]) + data[place + 1 :]


async def test_a_damaged_package_file_is_refused_and_leaves_nothing(bench: Bench, tmp_path: Path) -> None:
    good = package(tmp_path / "new", package="org.example.new")
    central = b"PK\1\2"
    deep = io.BytesIO()
    with zipfile.ZipFile(deep, "w") as archive:
        archive.writestr("manifest.json", "[" * 100_000)
    blocked = io.BytesIO(good)
    with zipfile.ZipFile(blocked, "a") as archive:
        archive.writestr("index.html/x", "a file is where a folder should be")
        archive.writestr("a" * 300, "longer than a name can be")
    wrong = {
        "encrypted": _damaged(good, central, 8, 1),
        "compression": _damaged(good, central, 10, 99),
        "contents": _damaged(good, central, 16, good[good.index(central) + 16] ^ 255),
        "nested": deep.getvalue(),
        "names": blocked.getvalue(),
    }
    for name, data in wrong.items():
        ran = await install(bench, data)
        assert (ran.code, ran.out.startswith("Failure [INSTALL_FAILED_")) == (1, True), (name, ran)
        with pytest.raises(AppUnusable):
            (tmp_path / "wrong.simapk").write_bytes(data)
            bench.system.packages.add(str(tmp_path / "wrong.simapk"))
    assert list((bench.folder / "packages").glob("*")) == []
