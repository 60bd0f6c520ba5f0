"""Model files on disk: what counts as installed and sound."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from gateway.errors import ModelUnavailable
from gateway.llm.local import files
from gateway.llm.local.catalog import CATALOG, LocalModel, Packages

CONTENT = b"weights" * 100


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> LocalModel:
    tiny = LocalModel(
        name="tiny-1.5b",
        description="",
        licence="MIT",
        size=len(CONTENT),
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        hub_repo="some/tiny",
        hub_file="tiny.gguf",
        packages=Packages(names=(), version="1"),
        n_ctx=512,
        n_slots=1,
    )
    monkeypatch.setitem(CATALOG, tiny.name, tiny)
    return tiny


def put(model: LocalModel, home: Path, content: bytes = CONTENT) -> Path:
    file = files.path(model, home)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


def test_a_missing_model_says_how_to_get_it(model: LocalModel, tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="not installed") as caught:
        files.verify(model, tmp_path)
    assert caught.value.hint == "echelon models pull tiny-1.5b"
    assert files.installed(tmp_path) == []


def test_a_file_that_was_copied_in_is_hashed_once(
    model: LocalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = put(model, tmp_path)
    hashed = []
    real = files.sha256_of
    monkeypatch.setattr(files, "sha256_of", lambda file: hashed.append(file) or real(file))
    assert files.verify(model, tmp_path) == files.verify(model, tmp_path) == file
    assert hashed == [file]
    assert files.installed(tmp_path) == [model]


@pytest.mark.parametrize("content", [CONTENT[:-1], b"X" + CONTENT[1:]], ids=["shorter", "other bytes"])
def test_a_file_changed_after_it_was_verified_is_damaged(model: LocalModel, tmp_path: Path, content: bytes) -> None:
    file = put(model, tmp_path)
    files.verify(model, tmp_path)
    file.write_bytes(content)
    os.utime(file, ns=(1, 1))
    with pytest.raises(ModelUnavailable, match="damaged"):
        files.verify(model, tmp_path)


def test_a_broken_stamp_is_written_anew(model: LocalModel, tmp_path: Path) -> None:
    put(model, tmp_path)
    files.stamp_path(model, tmp_path).write_text("{")
    files.verify(model, tmp_path)
    assert files.Stamp.model_validate_json(files.stamp_path(model, tmp_path).read_bytes()).sha256 == model.sha256


def test_remove_takes_everything_and_says_how_much(model: LocalModel, tmp_path: Path) -> None:
    put(model, tmp_path)
    partial = files.partial_folder(model, tmp_path)
    partial.mkdir(parents=True)
    (partial / "hub.gguf").write_bytes(b"12345")
    assert files.remove(model, tmp_path) == len(CONTENT) + 5
    assert not files.path(model, tmp_path).exists() and not partial.exists()
    assert files.remove(model, tmp_path) == 0
