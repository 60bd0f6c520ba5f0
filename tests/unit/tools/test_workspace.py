from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import OutsideWorkspace, ToolError
from gateway.tools.workspace import Workspace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "work" / "sub").mkdir(parents=True)
    (tmp_path / "work" / "sub" / "a.txt").write_text("inside")
    return tmp_path / "work"


@pytest.mark.parametrize(
    "path", ["../secret.txt", "sub/../../secret.txt", "/etc/passwd", "link", "folder/secret.txt", ".."]
)
def test_a_path_that_leaves_the_workspace_is_refused_for_reading_and_writing(root: Path, path: str) -> None:
    (root / "link").symlink_to(root.parent / "secret.txt")
    (root / "folder").symlink_to(root.parent)
    workspace = Workspace(root)
    for act in (workspace.read, lambda p: workspace.write(p, b"x"), workspace.remove):
        with pytest.raises(OutsideWorkspace):
            act(path)
    assert (root.parent / "secret.txt").read_text() == "secret"


def test_links_and_absolute_paths_that_stay_inside_are_followed(root: Path) -> None:
    (root / "link").symlink_to("sub/a.txt")
    workspace = Workspace(root)
    assert workspace.read("link") == workspace.read(str(root / "sub" / "a.txt")) == b"inside"
    workspace.write("link", b"new")
    assert (root / "link").is_symlink()
    assert (root / "sub" / "a.txt").read_bytes() == b"new"


def test_a_link_put_there_after_the_check_is_not_followed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace(root)
    checked = workspace.relative

    def swap(path: str) -> str:
        name = checked(path)
        if not (root / "sub").is_symlink():
            (root / "sub").rename(root / "old")
            (root / "sub").symlink_to(root.parent)
        return name

    monkeypatch.setattr(workspace, "relative", swap)
    with pytest.raises(OutsideWorkspace):
        workspace.read("sub/secret.txt")


def test_pipes_and_folders_are_no_files_and_do_not_block(root: Path) -> None:
    os.mkfifo(root / "pipe")
    for path in ("pipe", "sub"):
        with pytest.raises(ToolError, match="not a file"):
            Workspace(root).read(path)
    with pytest.raises(ToolError):
        Workspace(root).write("pipe", b"x")


def test_what_is_missing_or_too_large_is_said(root: Path) -> None:
    with pytest.raises(ToolError, match="there is no file nope"):
        Workspace(root).read("nope")
    with pytest.raises(ToolError, match="larger than 3 bytes"):
        Workspace(root).read("sub/a.txt", limit=3)
    with pytest.raises(ToolError):
        Workspace(root).read("a\0b")


def test_writing_makes_folders_keeps_the_mode_and_leaves_no_temporary_file(root: Path) -> None:
    workspace = Workspace(root)
    workspace.write("new/deep/run.sh", b"one")
    os.chmod(root / "new/deep/run.sh", 0o750)
    workspace.write("new/deep/run.sh", b"two")
    assert (root / "new/deep/run.sh").read_bytes() == b"two"
    assert stat.S_IMODE((root / "new/deep/run.sh").stat().st_mode) == 0o750
    assert os.listdir(root / "new/deep") == ["run.sh"]


def test_a_full_disk_leaves_the_old_file_and_says_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ToolError, match="disk is full"):
        Workspace(root).write("sub/a.txt", b"new")
    assert (root / "sub/a.txt").read_text() == "inside"
    assert os.listdir(root / "sub") == ["a.txt"]


def test_the_repository_itself_cannot_be_written(root: Path) -> None:
    for path in (".git/hooks/pre-commit", "sub/.git/config"):
        with pytest.raises(OutsideWorkspace):
            Workspace(root).write(path, b"x")


def test_files_lists_what_people_write(root: Path) -> None:
    for path in (
        ".git/config",
        ".venv/lib.py",
        "__pycache__/a.pyc",
        "node_modules/x.js",
        "logo.png",
        "b.py",
        "sub/c.py",
    ):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("")
    (root / "dangling").symlink_to("nowhere")
    workspace = Workspace(root)
    assert workspace.files() == ["b.py", "sub/a.txt", "sub/c.py"]
    assert workspace.files("*.py") == workspace.files("**/*.py") == ["b.py", "sub/c.py"]
    assert workspace.files("sub/*.txt") == ["sub/a.txt"]


@given(st.lists(st.sampled_from(["..", ".", "sub", "a.txt", "link", "", "~"]), min_size=1, max_size=8))
def test_no_path_resolves_to_outside(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    root = tmp_path_factory.getbasetemp() / "anywhere"
    (root / "sub").mkdir(parents=True, exist_ok=True)
    if not (root / "sub" / "link").is_symlink():
        (root / "sub" / "link").symlink_to("/")
    workspace = Workspace(root)
    try:
        name = workspace.relative("/".join(parts))
    except ToolError:
        return
    assert os.path.realpath(root / name).startswith(os.path.realpath(root))


@pytest.mark.parametrize(
    "path", ["echelon.yaml", "./Echelon.yaml", ".echelon/prompts/patterns/x.md", "sub/../.echelon/a"]
)
def test_what_says_how_the_workspace_is_worked_on_is_not_written(root: Path, path: str) -> None:
    with pytest.raises(OutsideWorkspace, match="how this workspace is worked on"):
        Workspace(root).write(path, b"tools: {}")
    Workspace(root).write("sub/echelon.yaml", b"a file like others")
