from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simphone.faults import Fault, Faults
from simphone.files import DeviceFiles


@pytest.fixture
def files(tmp_path: Path) -> DeviceFiles:
    (tmp_path / "outside").write_text("of the host")
    return DeviceFiles(tmp_path / "phone", Faults())


def write(files: DeviceFiles, path: str, data: bytes) -> None:
    with files.open(path, "wb") as file:
        file.write(data)


def read(files: DeviceFiles, path: str) -> bytes:
    with files.open(path) as file:
        return file.read()


def test_shared_storage_has_several_names(files: DeviceFiles) -> None:
    write(files, "/sdcard/a.txt", b"one")
    for name in ("/storage/emulated/0", "/mnt/sdcard", "/storage/self/primary", "sdcard", "//sdcard/./Music/.."):
        assert read(files, f"{name}/a.txt") == b"one"
    assert files.host("/sdcard/a.txt") == files.root / "storage/emulated/0/a.txt"
    assert files.host("/data/local/tmp") == files.root / "data/local/tmp"


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/etc/passwd",
        "/data",
        "/data/data/com.android.settings",
        "/data/local",
        "/data/local/tmpfoo",
        "/sdcard/../../../outside",
        "/sdcard/../../../../../../../etc/passwd",
        "../outside",
        "",
    ],
)
def test_nothing_else_can_be_read_or_written(files: DeviceFiles, path: str) -> None:
    for attempt in (files.host, files.open, files.names, files.make_folders, files.remove):
        with pytest.raises(PermissionError):
            attempt(path)
    with pytest.raises(PermissionError):
        files.open(path, "wb")


def test_links_are_followed_as_the_phone_sees_them(files: DeviceFiles) -> None:
    write(files, "/sdcard/a.txt", b"one")
    for name, target in (("absolute", "/sdcard/a.txt"), ("relative", "../../../sdcard/a.txt"), ("folder", "/sdcard")):
        files.link(f"/data/local/tmp/{name}", target)
    assert read(files, "/data/local/tmp/absolute") == read(files, "/data/local/tmp/relative") == b"one"
    assert read(files, "/data/local/tmp/folder/a.txt") == b"one"


def test_no_link_leads_out_of_the_phone(files: DeviceFiles, tmp_path: Path) -> None:
    outside = str(tmp_path / "outside")
    files.link("/data/local/tmp/link", outside)
    files.link("/data/local/tmp/up", "../" * 40 + outside)
    files.link("/data/local/tmp/root", "/")
    for path in ("link", "up", f"root{outside}", "root/etc/passwd"):
        with pytest.raises(PermissionError):
            files.open(f"/data/local/tmp/{path}")
        with pytest.raises(OSError):
            files.open(f"/data/local/tmp/{path}", "wb")
    assert (tmp_path / "outside").read_text() == "of the host"


def test_a_folder_that_is_exchanged_for_a_link_meanwhile_is_not_followed(
    files: DeviceFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a command of the shell could do between the look and the opening."""
    os.symlink(tmp_path, files.root / "data/local/tmp/folder")
    monkeypatch.setattr(files, "_link", lambda path: None)
    for mode in ("rb", "wb"):
        with pytest.raises(OSError) as caught:
            files.open("/data/local/tmp/folder/outside", mode)
        assert caught.value.errno in (errno.ELOOP, errno.ENOTDIR)
    with pytest.raises(OSError):
        files.names("/data/local/tmp/folder")
    with pytest.raises(OSError):
        files.remove("/data/local/tmp/folder/outside")


def test_links_in_a_circle_end(files: DeviceFiles) -> None:
    files.link("/data/local/tmp/a", "b")
    files.link("/data/local/tmp/b", "a")
    with pytest.raises(OSError) as caught:
        files.host("/data/local/tmp/a/x")
    assert caught.value.errno == errno.ELOOP


def test_shared_storage_has_no_links(files: DeviceFiles) -> None:
    with pytest.raises(PermissionError):
        files.link("/sdcard/a", "b")


parts = st.sampled_from(["..", ".", "sdcard", "data", "local", "tmp", "storage", "emulated", "0", "a", "link", "up"])


@given(st.lists(parts, max_size=12))
def test_every_path_is_in_the_phone_or_refused(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    files = DeviceFiles(tmp_path_factory.getbasetemp() / "any-path", Faults())
    files.link("/data/local/tmp/link", "/")
    files.link("/data/local/tmp/up", "../../..")
    try:
        host = files.host("/" + "/".join(names))
    except OSError:
        return
    assert host.resolve().is_relative_to(files.root)
    assert str(host.relative_to(files.root)).startswith(("storage/emulated/0", "data/local/tmp"))


def test_folders_are_made_and_listed(files: DeviceFiles) -> None:
    files.make_folders("/sdcard/a/b/c")
    write(files, "/sdcard/a/b/d.txt", b"")
    assert files.names("/sdcard/a/b") == ["c", "d.txt"]
    files.remove("/sdcard/a/b/d.txt")
    assert files.names("/sdcard/a/b/") == ["c"]


def test_the_way_to_shared_storage_can_be_looked_at_and_not_listed(files: DeviceFiles) -> None:
    for path in ("/", "/storage", "/storage/emulated", "/data", "/data/local"):
        files.stat(path)
        with pytest.raises(PermissionError):
            files.names(path)
    with pytest.raises(PermissionError):
        files.stat("/etc")


@pytest.mark.parametrize("path", ["/sdcard/a\0b", "/sdcard/" + "x" * 300])
def test_a_name_that_cannot_be_is_an_error_of_the_file_system(files: DeviceFiles, path: str) -> None:
    with pytest.raises(OSError):
        files.open(path, "wb")


def test_a_pipe_does_not_hold_the_phone_up(files: DeviceFiles) -> None:
    os.mkfifo(files.host("/data/local/tmp/pipe"))
    files.open("/data/local/tmp/pipe").close()
    with pytest.raises(OSError):
        files.open("/data/local/tmp/pipe", "wb")


def test_storage_is_full_for_what_is_written_only(tmp_path: Path) -> None:
    faults = Faults()
    files = DeviceFiles(tmp_path, faults)
    write(files, "/sdcard/a.txt", b"one")
    faults.add(Fault("storage_full", at="write /sdcard/*"))
    assert files.free() > 0
    assert read(files, "/sdcard/a.txt") == b"one"
    write(files, "/data/local/tmp/a.txt", b"one")
    with pytest.raises(OSError) as caught:
        files.open("/sdcard/a.txt", "wb")
    assert caught.value.errno == errno.ENOSPC
    assert read(files, "/sdcard/a.txt") == b"one"
    write(files, "/sdcard/a.txt", b"two")


def test_nothing_is_free_while_storage_is_full(tmp_path: Path) -> None:
    faults = Faults()
    faults.add(Fault("storage_full"))
    assert DeviceFiles(tmp_path, faults).free() == 0
