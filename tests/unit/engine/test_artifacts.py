from __future__ import annotations

import errno
import hashlib
import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.engine.artifacts import ArtifactStore, MemoryArtifacts
from gateway.errors import StoreError


@given(data=st.binary(max_size=200))
def test_what_was_put_is_got_by_its_sha256(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    for store in (ArtifactStore(tmp_path_factory.mktemp("artifacts")), MemoryArtifacts()):
        name = store.put(data)
        assert name == hashlib.sha256(data).hexdigest()
        assert store.get(name) == data == store.get(store.put(data))


def test_content_that_is_there_is_not_written_again_but_an_empty_leftover_is(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path)
    path = store.path(store.put(b"data"))
    before = path.stat().st_ino
    store.put(b"data")
    assert path.stat().st_ino == before
    path.chmod(0o600)
    path.write_bytes(b"")
    store.put(b"data")
    assert path.read_bytes() == b"data"


def test_an_artifact_that_is_missing_or_damaged_is_an_error(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path)
    name = store.put(b"data")
    store.path(name).chmod(0o600)
    store.path(name).write_bytes(b"dato")
    with pytest.raises(StoreError, match="damaged") as caught:
        store.get(name)
    assert name in caught.value.hint
    store.path(name).unlink()
    with pytest.raises(StoreError, match="missing"):
        store.get(name)


def test_a_directory_that_cannot_be_made_is_an_error_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "artifacts").write_text("in the way")
    with pytest.raises(StoreError) as caught:
        ArtifactStore(tmp_path / "artifacts").put(b"data")
    assert "free some disk space" in caught.value.hint


class Full:
    """A file on a full disk: it takes a part of what is written."""

    def __init__(self, handle: int, mode: str) -> None:
        self.file = io.FileIO(handle, "w")

    def __enter__(self) -> Full:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def write(self, data: bytes) -> None:
        self.file.write(data[:2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_an_error_and_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fdopen", Full)
    with pytest.raises(StoreError, match="No space left"):
        ArtifactStore(tmp_path).put(b"data")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("links", [True, False], ids=["with links", "without links"])
def test_an_artifact_is_shown_under_another_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    if not links:
        monkeypatch.setattr(os, "link", refuse)
    store = ArtifactStore(tmp_path / "artifacts")
    sha256 = store.put(b"data")
    for name in ("packs/one.md", "packs/two.md", "packs/one.md"):
        store.show(sha256, str(tmp_path / name))
        assert (tmp_path / name).read_bytes() == b"data"
    with pytest.raises(StoreError, match="missing"):
        store.show("0" * 64, str(tmp_path / "packs" / "three.md"))
