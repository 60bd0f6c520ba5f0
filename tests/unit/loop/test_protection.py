from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.engine.artifacts import MemoryArtifacts
from gateway.loop.workspace.protection import kept, missing, put_back
from gateway.loop.workspace.survey import compared, survey

PROTECT = ("tests", "conf.ini")
PATHS = ("tests/test_a.py", "tests/deep/test_b.py", "conf.ini", "src/a.py", "tests", "tests/deep", "conf.ini/x")
WHAT = st.sampled_from([("file", "x", 0o644), ("file", "y", 0o644), ("file", "x", 0o755), ("link", "/etc", 0)])


def build(root: Path, files: dict[str, tuple[str, str, int]]) -> None:
    """Those that are in the way of others come first, and win."""
    root.mkdir()
    for path, (kind, content, mode) in sorted(files.items()):
        if any(f"{path}".startswith(f"{each}/") for each in files):
            continue
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            (root / path).symlink_to(content)
        else:
            (root / path).write_text(content)
            (root / path).chmod(mode)


TREES = st.dictionaries(st.sampled_from(PATHS), WHAT)


@given(first=TREES, second=TREES)
def test_protected_files_are_as_they_were_and_nothing_is_lost(
    tmp_path_factory: pytest.TempPathFactory, first: dict, second: dict
) -> None:
    root = tmp_path_factory.mktemp("p") / "w"
    build(root, first)
    artifacts = MemoryArtifacts()
    before = survey(root)
    known = kept(root, before, PROTECT, artifacts)
    shutil.rmtree(root)
    build(root, second)
    written = survey(root)
    changes = compared(before, written)
    restored = put_back(root, changes, known, PROTECT, artifacts)
    after = survey(root)

    def protected(path: str) -> bool:
        return path in PROTECT or path.startswith(tuple(f"{each}/" for each in PROTECT))

    wanted = {path: (each.mode, each.sha256) for path, each in before.files.items() if protected(path)}
    assert {path: (each.mode, each.sha256) for path, each in after.files.items() if protected(path)} == wanted
    assert set(restored) >= {path for path in changes.all if protected(path)}
    kept_contents = {artifacts.get(each).partition(b"\n")[2] for each in artifacts._kept}
    lost = [path for path in written.files if after.files.get(path) != written.files[path]]
    for path in lost:
        assert second[path][1].encode() in kept_contents
    again = compared(before, after)
    assert not [path for path in again.all if protected(path)]
    shutil.rmtree(root.parent)


def test_a_folder_that_became_a_link_out_is_a_folder_again(tmp_path: Path) -> None:
    root, out = tmp_path / "w", tmp_path / "out"
    build(root, {"tests/test_a.py": ("file", "x", 0o644)})
    out.mkdir()
    (out / "test_a.py").write_text("theirs")
    artifacts = MemoryArtifacts()
    before = survey(root)
    known = kept(root, before, ("tests/test_a.py",), artifacts)
    shutil.rmtree(root / "tests")
    (root / "tests").symlink_to(out)
    changes = compared(before, survey(root))
    assert put_back(root, changes, known, ("tests/test_a.py",), artifacts) == ("tests", "tests/test_a.py")
    assert not (root / "tests").is_symlink() and (root / "tests" / "test_a.py").read_text() == "x"
    assert (out / "test_a.py").read_text() == "theirs"


def test_a_protected_file_that_became_a_pipe_or_a_folder_of_noise_is_a_file_again(tmp_path: Path) -> None:
    root = tmp_path / "w"
    build(root, {"a.py": ("file", "x", 0o644), "b.py": ("file", "y", 0o755)})
    artifacts = MemoryArtifacts()
    before = survey(root)
    known = kept(root, before, ("./a.py", "b.py/"), artifacts)
    (root / "a.py").unlink()
    os.mkfifo(root / "a.py")
    (root / "b.py").unlink()
    (root / "b.py" / "__pycache__").mkdir(parents=True)
    (root / "b.py" / "__pycache__" / "b.pyc").write_text("")
    changes = compared(before, survey(root))
    assert put_back(root, changes, known, ("./a.py", "b.py/"), artifacts) == ("a.py", "b.py")
    assert (root / "a.py").read_text() == "x" and (root / "b.py").stat().st_mode & 0o777 == 0o755


def test_what_is_not_protected_stays_as_the_iteration_left_it(tmp_path: Path) -> None:
    root = tmp_path / "w"
    build(root, {"testsuite.py": ("file", "x", 0o644), "a.py": ("file", "x", 0o644)})
    artifacts = MemoryArtifacts()
    before = survey(root)
    known = kept(root, before, ("tests",), artifacts)
    (root / "testsuite.py").write_text("y")
    (root / "a.py").unlink()
    assert put_back(root, compared(before, survey(root)), known, ("tests",), artifacts) == ()
    assert (root / "testsuite.py").read_text() == "y" and not (root / "a.py").exists()


@pytest.mark.parametrize("name", ["tests", "tests/", "./tests/test_a.py", "tests/*.py", "*_a.py", "gone", "."])
def test_what_is_there_is_not_missing(tmp_path: Path, name: str) -> None:
    build(tmp_path / "w", {"tests/test_a.py": ("file", "x", 0o644), "gone": ("link", "nowhere", 0)})
    assert missing(tmp_path / "w", [name]) == []


@pytest.mark.parametrize("name", ["test", "tests/*.json", "tests/test_b.py", "?"])
def test_what_is_not_there_is(tmp_path: Path, name: str) -> None:
    build(tmp_path / "w", {"tests/test_a.py": ("file", "x", 0o644)})
    assert missing(tmp_path / "w", ["tests", name]) == [name]
