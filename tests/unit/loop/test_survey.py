from __future__ import annotations

import errno
import os
import shutil
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import OutsideWorkspace, WorkspaceGone
from gateway.loop.state import Changes
from gateway.loop.workspace import survey as surveys
from gateway.loop.workspace import tree
from gateway.loop.workspace.judges import judges
from gateway.loop.workspace.names import real, shown
from gateway.loop.workspace.restoring import restore
from gateway.loop.workspace.snapshot import Damage, Snapshots
from gateway.loop.workspace.survey import Entry, Survey, compared, survey
from gateway.loop.workspace.tree import Tree

OLD = 1_600_000_000

NAMES = st.one_of(
    st.sampled_from(["a", "b", "A", "a b", "é", "e\u0301", "日本", "\n", "-", "x\ty", "*", "\\", "\uef80", "tests"]),
    st.sampled_from([os.fsdecode(each) for each in (b"\x80", b"a\xff", b"\xee\xbe\x80", b"\xc3")]),
)
FILES = st.tuples(st.just("file"), st.binary(max_size=8), st.sampled_from([0o600, 0o644, 0o755]))
LINKS = st.tuples(st.just("link"), st.sampled_from([b"a", b"/etc", b"../..", b"\xff", b"nowhere"]), st.just(0))
TREES = st.recursive(
    st.dictionaries(NAMES, FILES | LINKS, max_size=4),
    lambda inner: st.dictionaries(NAMES, FILES | LINKS | inner, max_size=4),
    max_leaves=8,
)


def build(folder: Path, content: dict) -> None:
    folder.mkdir(exist_ok=True)
    for name, what in content.items():
        if isinstance(what, dict):
            build(folder / name, what)
        elif what[0] == "link":
            os.symlink(os.fsdecode(what[1]), folder / name)
        else:
            (folder / name).write_bytes(what[1])
            (folder / name).chmod(what[2])


def standing(root: Path) -> dict[str, tuple[int, bytes]]:
    """All files and links below a folder, by other means than those under test."""
    found = {}
    for folder, folders, names in os.walk(root):
        for name in (*folders, *names):
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            if stat.S_ISLNK(mode):
                found[os.path.relpath(path, root)] = (mode, os.fsencode(os.readlink(path)))
            elif not stat.S_ISDIR(mode):
                found[os.path.relpath(path, root)] = (mode, Path(path).read_bytes())
    return found


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield tmp_path_factory.mktemp("trees")


def fresh(place: Path) -> Path:
    shutil.rmtree(place)
    place.mkdir()
    return place


@given(st.binary(min_size=1, max_size=12).filter(lambda each: b"\0" not in each))
def test_any_name_becomes_text_and_comes_back(raw: bytes) -> None:
    name = os.fsdecode(raw)
    shown(name).encode("utf-8")
    assert real(shown(name)) == name


@given(st.lists(st.binary(max_size=6), unique=True, max_size=5))
def test_two_names_never_look_the_same(names: list[bytes]) -> None:
    assert len({shown(os.fsdecode(each)) for each in names}) == len(names)


@given(content=TREES)
def test_a_survey_knows_every_file_and_can_be_written_down(place: Path, content: dict) -> None:
    root = fresh(place) / "w"
    build(root, content)
    seen = survey(root)
    there = {path: (mode, data) for path, (mode, data) in standing(root).items()}
    assert {real(path): (each.mode, each.sha256) for path, each in seen.files.items()} == {
        path: (mode, surveys.sha256(data)) for path, (mode, data) in there.items()
    }
    read = Survey.load(seen.dump())
    assert read == seen and read.digest == seen.digest
    assert survey(root, read) == Survey(survey(root).at_ns, seen.files) or survey(root, read).files == seen.files


@given(first=TREES, second=TREES)
def test_what_has_changed_is_what_differs(place: Path, first: dict, second: dict) -> None:
    base = fresh(place)
    build(base / "1", first)
    build(base / "2", second)
    before, after = survey(base / "1"), survey(base / "2")
    changes = compared(before, after)
    old, new = standing(base / "1"), standing(base / "2")
    assert {real(each) for each in changes.added} == new.keys() - old.keys()
    assert {real(each) for each in changes.removed} == old.keys() - new.keys()
    assert {real(each) for each in changes.changed} == {
        each for each in old.keys() & new.keys() if old[each] != new[each]
    }
    assert (before.digest == after.digest) == (not changes.all)
    Changes.model_validate_json(changes.model_dump_json())


@given(first=TREES, second=TREES)
def test_a_snapshot_brings_back_exactly_what_there_was(place: Path, first: dict, second: dict) -> None:
    base = fresh(place)
    build(base / "w", first)
    wanted = standing(base / "w")
    snapshots = Snapshots(base / "s", base / "w")
    saved = snapshots.save(1, None)
    shutil.rmtree(base / "w")
    build(base / "w", second)
    instead = standing(base / "w")
    manifest = snapshots.manifest(saved.file.name, saved.file.sha256)
    done = restore(1, base / "w", snapshots, manifest, base / "aside")
    assert standing(base / "w") == wanted
    moved = standing(base / "aside") if done.moved else {}
    assert {path for path in instead if instead[path] != wanted.get(path)} == moved.keys(), "nothing is lost"
    assert all(moved[path] == instead[path] for path in moved)
    assert restore(1, base / "w", snapshots, manifest, base / "again").written == ()


def test_what_tools_make_repositories_and_the_folder_apart_are_left_out(tmp_path: Path) -> None:
    root = tmp_path / "w"
    for each in ("node_modules/x.js", ".git/config", "a/__pycache__/a.pyc", "home/runs.db", "sub/.git/HEAD", "a/a.py"):
        (root / each).parent.mkdir(parents=True, exist_ok=True)
        (root / each).write_text("x")
    (root / "sub" / "deep").mkdir()
    (root / "sub" / "deep" / ".git").write_text("gitdir: elsewhere")
    (root / "build").write_text("a file of that name is not what tools make")
    assert list(survey(root, apart=root / "home").files) == ["a/a.py", "build"]


def test_an_unchanged_file_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("x")
    (tmp_path / "b").write_text("x")
    seen = survey(tmp_path)
    later = Survey(seen.at_ns + 10_000_000_000, seen.files)  # as if the look were ten seconds after the change
    read: list[str] = []
    (tmp_path / "b").write_text("y")
    os.utime(tmp_path / "b", ns=(0, seen.files["b"].mtime_ns))  # its time is put back: the ctime tells
    again = survey(tmp_path, later, taken=lambda path, entry, data: read.append(path))
    assert read == ["b"] and compared(seen, again).changed == ("b",)


def test_a_file_changed_just_before_the_last_look_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    entry = survey(tmp_path).files["a"]
    before = Survey(entry.ctime_ns, {"a": Entry(*entry[:4], "0" * 64)})  # changed again within the clock's tick
    assert survey(tmp_path, before).files["a"] == entry


def test_pipes_and_sockets_do_not_block_and_are_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.open(tmp_path, os.O_RDONLY)
        try:
            listening.bind(f"/proc/self/fd/{here}/socket")
        finally:
            os.close(here)
        seen = survey(tmp_path)
    assert seen.files == {} and seen.left_out.keys() == {"pipe", "socket"}
    assert "neither a file nor a link" in seen.left_out["pipe"]


def test_what_can_be_read_no_more_has_changed(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("x")
    before = survey(tmp_path)
    (tmp_path / "test_a.py").unlink()
    os.mkfifo(tmp_path / "test_a.py")
    changes = compared(before, survey(tmp_path))
    assert changes.changed == ("test_a.py",) == changes.tests and not changes.removed


def test_a_file_that_vanishes_or_changes_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").write_text("x")
    (tmp_path / "growing").write_text("x")
    opened = os.open

    def meddling(path: str, *rest: object, **more: object) -> int:
        if path == "gone":
            raise FileNotFoundError(errno.ENOENT, "gone")
        handle = opened(path, *rest, **more)  # type: ignore[arg-type]
        if path == "growing" and (tmp_path / "growing").stat().st_size < 3:
            with (tmp_path / "growing").open("a") as file:
                file.write("y")
        return handle

    taken: dict[str, bytes] = {}
    monkeypatch.setattr(tree.os, "open", meddling)
    seen = survey(tmp_path, taken=lambda path, entry, data: taken.update({path: data}))
    assert taken.keys() == seen.files.keys() == {"growing"}
    assert seen.files["growing"].sha256 == surveys.sha256(taken["growing"]), "what is known is what was taken"


def test_a_large_file_is_known_by_its_size_and_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surveys, "LARGE_BYTES", 10)
    (tmp_path / "large").write_text("x" * 11)
    before = survey(tmp_path, taken=lambda *_: pytest.fail("it was read"))
    os.utime(tmp_path / "large", (OLD, OLD))
    assert compared(before, survey(tmp_path)).changed == ("large",)


def test_folders_in_folders_without_end_are_left_out(tmp_path: Path) -> None:
    here = tmp_path
    for _ in range(tree.MAX_DEPTH + 5):
        here = here / "d"
    here.mkdir(parents=True)
    (here / "a").write_text("x")
    seen = survey(tmp_path)
    assert not seen.files and "deeper" in next(iter(seen.left_out.values()))


def test_without_a_workspace_there_is_nothing_to_look_at(tmp_path: Path) -> None:
    for each in ("missing", "file", "link"):
        (tmp_path / "file").write_text("")
        if each == "link":
            (tmp_path / "link").symlink_to(tmp_path)
        with pytest.raises(WorkspaceGone) as error:
            survey(tmp_path / each)
        assert "--restore-workspace" in error.value.hint


@pytest.mark.parametrize("path", ["../x", "/x", "a/../../x", "", "a//b", ".git/config", "a/.GIT/hooks/x", "a\0b", "."])
def test_no_path_leads_out_or_into_the_repository(tmp_path: Path, path: str) -> None:
    with pytest.raises(OutsideWorkspace):
        Tree(tmp_path).put(path, 0o644, b"x")


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "w" / "d").symlink_to(tmp_path / "out")
    with pytest.raises(OSError):
        Tree(tmp_path / "w").put("d/x", 0o644, b"x")
    assert not list((tmp_path / "out").iterdir())


def test_what_is_moved_to_another_file_system_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(tmp_path / "w", {"d": {"a": ("file", b"x", 0o755), "l": ("link", b"/etc", 0), "e": {}}})
    before = standing(tmp_path / "w" / "d")
    renamed = os.rename

    def across(source: object, target: object, **more: object) -> None:
        if isinstance(target, Path):
            raise OSError(errno.EXDEV, "another file system")
        renamed(source, target, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(tree.os, "rename", across)
    Tree(tmp_path / "w").move("d", tmp_path / "aside" / "d")
    assert standing(tmp_path / "aside" / "d") == before and not list((tmp_path / "w").iterdir())


def test_a_damaged_tar_is_found_before_anything_is_changed(tmp_path: Path) -> None:
    build(tmp_path / "w", {"a": ("file", b"one", 0o644), "b": ("file", b"two", 0o644)})
    snapshots = Snapshots(tmp_path / "s", tmp_path / "w")
    saved = snapshots.save(1, None)
    assert saved.tar
    tar = tmp_path / "s" / saved.tar.name
    tar.write_bytes(tar.read_bytes().replace(b"two", b"TWO"))
    (tmp_path / "w" / "a").write_text("since")
    (tmp_path / "w" / "b").write_text("since")
    with pytest.raises(Damage, match=r"has no whole copy of b"):
        restore(1, tmp_path / "w", snapshots, saved.manifest, tmp_path / "aside")
    assert (tmp_path / "w" / "a").read_text() == "since" and not (tmp_path / "aside").exists()


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        ("tests/data/x.json", True),
        ("src/a_test.go", True),
        ("web/a.spec.ts", True),
        ("conftest.py", True),
        ("pyproject.toml", True),
        ("sub/Makefile", True),
        ("src/contest.py", False),
        ("docs/testing.md", False),
    ],
)
def test_files_that_judge_are_known_by_name(path: str, is_one: bool) -> None:
    assert judges(path) is is_one
