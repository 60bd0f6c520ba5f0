"""Package files are read: which app, which version, whose."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from apk_files import apk, certificate, certificate_with_hash
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import InstallFailed, UsageError
from gateway.phone.apk import read_apk, short_hash
from gateway.phone.task.provision import fingerprint

ONE, TWO = certificate("one"), certificate("two")


def written(folder: Path, data: bytes) -> Path:
    file = folder / "app.apk"
    file.write_bytes(data)
    return file


def test_package_and_version_are_read(tmp_path: Path) -> None:
    read = read_apk(written(tmp_path, apk("org.example.small", 42, v2=[ONE])))
    assert read is not None
    assert (read.package, read.version_code) == ("org.example.small", 42)


@pytest.mark.parametrize(("code", "major", "version"), [(300, 0, 300), (1, 2, (2 << 32) + 1)])
def test_a_version_may_be_hexadecimal_or_have_a_major_part(tmp_path: Path, code: int, major: int, version: int) -> None:
    read = read_apk(written(tmp_path, apk(code=code, major=major, hexadecimal=True)))
    assert read is not None and read.version_code == version


@pytest.mark.parametrize(
    ("signed", "hands"),
    [
        ({"v1": ["one"]}, [[ONE]]),
        ({"v2": [ONE]}, [[ONE]]),
        ({"v3": [ONE]}, [[ONE]]),
        ({"v1": ["one"], "v2": [ONE], "v3": [ONE]}, [[ONE]]),
        ({"v2": [ONE, TWO]}, [[ONE, TWO]]),
        ({"v2": [ONE], "v3": [TWO]}, [[ONE], [TWO]]),
        ({}, []),
    ],
    ids=["v1", "v2", "v3", "all", "two signers", "a newer key", "nobody"],
)
def test_who_signed_it_is_read_from_each_scheme(
    tmp_path: Path, signed: dict[str, list[bytes]], hands: list[list[bytes]]
) -> None:
    read = read_apk(written(tmp_path, apk(**signed)))  # type: ignore[arg-type]
    assert read is not None
    assert read.signers == {frozenset(map(short_hash, each)) for each in hands}
    for each in hands:
        assert read.is_of([short_hash(one) for one in reversed(each)])
        assert not read.is_of([short_hash(certificate("a stranger"))])
        assert not read.is_of([*(short_hash(one) for one in each), "1"])


def test_the_short_hash_is_javas_of_signed_bytes() -> None:
    assert short_hash(b"") == "1"
    assert short_hash(b"\x01\xff\x7f") == f"{((31 + 1) * 31 - 1) * 31 + 127:x}"
    assert short_hash(b"\xff") == "1e"
    assert short_hash(b"\x80" * 4) == f"{31**4 - 128 * (31**3 + 31**2 + 31 + 1) & 0xFFFFFFFF:x}"


@given(st.integers(1, 2**32 - 1))
def test_the_test_certificates_have_the_hash_that_is_wanted(number: int) -> None:
    assert short_hash(certificate_with_hash("one", f"{number:08x}")) == f"{number:x}"


def test_what_is_no_apk_is_none(tmp_path: Path) -> None:
    assert read_apk(written(tmp_path, b"Dear phone")) is None
    file = tmp_path / "pages.apk"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("manifest.json", "{}")
    assert read_apk(file) is None


@pytest.mark.parametrize("manifest", [b"", b"<manifest/>", b"\x03\x00\x08\x00\xff\xff\xff\xff", b"\0" * 200])
def test_an_apk_that_cannot_be_read_is_refused(tmp_path: Path, manifest: bytes) -> None:
    file = tmp_path / "broken.apk"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("AndroidManifest.xml", manifest)
    with pytest.raises(InstallFailed, match=r"broken\.apk") as caught:
        read_apk(file)
    assert "--app" in caught.value.hint


@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=8))
def test_damaged_files_are_read_refused_or_none(tmp_path_factory: pytest.TempPathFactory, at: int, new: bytes) -> None:
    data = bytearray(apk(v1=["one"], v2=[ONE], v3=[TWO]))
    at %= len(data)
    data[at : at + len(new)] = new
    file = tmp_path_factory.getbasetemp() / "damaged.apk"
    file.write_bytes(data)
    try:
        read = read_apk(file)
    except InstallFailed as error:
        assert error.hint
    else:
        assert read is None or read.package


def test_a_fingerprint_is_the_files_hash(tmp_path: Path) -> None:
    file = written(tmp_path, b"x")
    assert fingerprint(file) == "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    with pytest.raises(UsageError):
        fingerprint(tmp_path / "nothing")
