from __future__ import annotations

import asyncio
import errno
import json
import os
import shutil
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import CheckpointDamaged, CheckpointFailed, ToolError, UsageError, WorkspaceGone
from gateway.loop.checkpoint_folder import CheckpointFolder
from gateway.loop.checkpoints import Checkpoints
from gateway.loop.state import CheckpointRecord, ConditionResult, Evaluation, Limits, LoopState
from gateway.loop.workspace import survey
from gateway.loop.workspace.durable import write
from gateway.loop.workspace.snapshot import Snapshots
from gateway.tools.code.git import Repository

FOLDER = "019a-session"


def git(root: Path, *args: str) -> str:
    command = ["git", "-C", str(root), "-c", "user.name=Ann", "-c", "user.email=a@b", *args]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def state(iteration: int) -> LoopState:
    results = (
        ConditionResult(name="all_tests_pass", met=False, summary="2 failed"),
        ConditionResult(name="linting_clean", met=True, summary="clean"),
    )
    return LoopState(
        exits=("all_tests_pass", "linting_clean", "build_succeeds"),
        limits=Limits(iterations=7),
        iteration=iteration,
        evaluation=Evaluation(iteration=iteration, at=1.5, results=results),
    )


async def save(checkpoints: Checkpoints, number: int) -> CheckpointRecord:
    return await checkpoints.save(
        number=number, why="interval", at=1000.25 + number, session="s1", agent="w", state=state(5 * number)
    )


def content(root: Path) -> dict[str, str]:
    return {
        str(each.relative_to(root)): os.readlink(each) if each.is_symlink() else each.read_text()
        for each in sorted(root.rglob("*"))
        if (each.is_symlink() or each.is_file()) and ".git" not in each.parts
    }


def files_of(folder: Path) -> list[Path]:
    return [each for each in folder.rglob("*") if each.is_file()]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "w"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("one")
    (root / "run.sh").write_text("#!/bin/sh")
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("src/a.py")
    return root


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "home" / "loops" / FOLDER


@pytest.fixture
def checkpoints(root: Path, folder: Path) -> Checkpoints:
    return Checkpoints(folder, root)


async def test_a_checkpoint_has_iteration_state_time_and_conditions(checkpoints: Checkpoints, folder: Path) -> None:
    record = await save(checkpoints, 1)
    assert (record.number, record.iteration, record.at, record.why) == (1, 5, 1001.25, "interval")
    assert record.notes == ("no commit: the workspace is not a git repository",)
    document = checkpoints.load(1)
    assert document.conditions == {"all_tests_pass": False, "linting_clean": True, "build_succeeds": None}
    assert LoopState.model_validate(document.state) == state(5)
    assert (document.session, document.agent, document.at) == ("s1", "w", 1001.25)
    listed = checkpoints.all()
    assert [(each.number, each.iteration, each.met, each.of, each.damaged) for each in listed] == [(1, 5, 1, 3, "")]
    assert not [each for each in files_of(folder) if each.stat().st_mode & 0o077], "only the owner can read them"


async def test_a_tar_has_only_what_is_new_and_can_be_unpacked_by_hand(
    checkpoints: Checkpoints, root: Path, folder: Path
) -> None:
    await save(checkpoints, 1)
    await save(checkpoints, 2)
    (root / "src" / "b.py").write_text("two")
    (root / "src" / "same.py").write_text("one")
    await save(checkpoints, 3)
    tars = sorted((folder / "workspace").glob("*.tar"))
    names = {}
    for each in tars:
        with tarfile.open(each) as tar:
            names[each.name[:4]] = sorted(tar.getnames())
    assert names == {"0001": ["link", "run.sh", "src/a.py"], "0003": ["src/b.py"]}


async def test_every_checkpoint_brings_its_own_workspace_back(checkpoints: Checkpoints, root: Path) -> None:
    contents = {}
    for number in (1, 2, 3):
        contents[number] = content(root)
        await save(checkpoints, number)
        (root / "src" / "a.py").write_text(f"changed {number}")
        (root / f"new{number}").write_text("x")
        (root / "run.sh").chmod(0o600)
    for number in (3, 1, 2, 1):
        done = await checkpoints.restore_workspace(number)
        assert content(root) == contents[number]
        assert all((Path(done.aside) / each).exists() for each in done.moved)
    assert (root / "run.sh").stat().st_mode & 0o777 == 0o755


async def test_a_workspace_deleted_with_its_repository_comes_back(checkpoints: Checkpoints, root: Path) -> None:
    git(root, "init", "-q")
    (root / ".env").write_text("TOKEN")
    (root / ".gitignore").write_text(".env")
    before = content(root)
    record = await save(checkpoints, 1)
    assert record.commit and record.ref == "refs/echelon/s1/1" and not record.notes
    assert ".env" not in git(root, "ls-tree", "-r", "--name-only", record.ref).split()
    shutil.rmtree(root)
    with pytest.raises(WorkspaceGone) as error:
        await save(checkpoints, 2)
    assert error.value.hint.endswith(f"echelon loop resume {FOLDER} --from 1 --restore-workspace")
    done = await checkpoints.restore_workspace(1)
    assert content(root) == before and "without a repository" in done.notes[0]
    assert (await save(checkpoints, 2)).notes == ("no commit: the workspace is not a git repository",)


async def test_restoring_writes_nothing_outside_and_loses_nothing(
    checkpoints: Checkpoints, root: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (root / "lib").mkdir()
    (root / "lib" / "b.py").write_text("two")
    await save(checkpoints, 1)
    before = content(root)
    shutil.rmtree(root / "src")
    (root / "src").symlink_to(out)
    shutil.rmtree(root / "lib")
    os.mkfifo(root / "lib")
    (root / "run.sh").unlink()
    (root / "run.sh").symlink_to(out / "victim")
    (root / "link").unlink()
    (root / "link" / "__pycache__").mkdir(parents=True)
    os.mkfifo(root / "link" / "__pycache__" / "pipe")
    done = await checkpoints.restore_workspace(1)
    assert content(root) == before and not list(out.iterdir())
    assert set(done.moved) == {"src", "lib", "run.sh", "link"}
    assert os.readlink(Path(done.aside) / "src") == str(out)


async def test_what_could_not_be_taken_is_named_and_stays(
    checkpoints: Checkpoints, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(root, "init", "-q")
    monkeypatch.setattr(survey, "LARGE_BYTES", 100)
    (root / "large.bin").write_text("x" * 101)
    os.mkfifo(root / "pipe")
    record = await save(checkpoints, 1)
    assert [each.split(" is left out")[0] for each in record.notes] == ["large.bin", "pipe"]
    assert record.notes == checkpoints.load(1).notes
    assert "large.bin" not in git(root, "ls-tree", "-r", "--name-only", record.ref)
    (root / "pipe").unlink()
    (root / "pipe").write_text("a file now")
    (root / "large.bin").write_text("y" * 101)
    done = await checkpoints.restore_workspace(1)
    assert (root / "pipe").exists() and (root / "large.bin").read_text()[0] == "y"
    assert done.notes == ("large.bin is not as it was: it was too large to be kept",)


async def test_a_home_inside_the_workspace_is_neither_taken_nor_restored(root: Path) -> None:
    git(root, "init", "-q")
    home = root / "home"
    checkpoints = Checkpoints(home / "loops" / FOLDER, root, apart=home)
    home.mkdir()
    (home / "runs.db").write_text("before")
    record = await save(checkpoints, 1)
    assert git(root, "ls-tree", "-r", "--name-only", record.ref).split() == ["link", "run.sh", "src/a.py"]
    (home / "runs.db").write_text("since")
    assert not (await checkpoints.restore_workspace(1)).moved
    assert (home / "runs.db").read_text() == "since"


def spoil(folder: Path, what: str) -> Path:
    document = folder / "checkpoints" / "0002.json"
    if what == "document":
        document.write_text(document.read_text().replace('"iteration": 10', '"iteration": 11'))
    elif what == "no JSON":
        document.write_bytes(b"\x80[" * 100_000)
    elif what == "no document":
        document.unlink()
    else:
        document = next((folder / "workspace").glob(f"0002-*.{what.split()[-1]}"))
        if what.startswith("no"):
            document.unlink()
        else:
            data = bytearray(document.read_bytes())
            data[len(data) // 2] ^= 1
            document.write_bytes(data)
    return document


@pytest.mark.parametrize("what", ["document", "no JSON", "no document", "a json", "no json", "a tar", "no tar"])
async def test_what_is_damaged_is_named_and_the_one_before_it_is_offered(
    root: Path, folder: Path, checkpoints: Checkpoints, what: str
) -> None:
    await save(checkpoints, 1)
    (root / "src" / "b.py").write_text("two")
    await save(checkpoints, 2)
    (root / "src" / "a.py").write_text("three")
    await save(checkpoints, 3)
    spoiled = spoil(folder, what)
    for those in (checkpoints, Checkpoints(folder, root)):
        with pytest.raises(CheckpointDamaged, match=str(spoiled)) as error:
            those.load(2)
        assert error.value.before == 1 and error.value.hint.endswith(f"echelon loop resume {FOLDER} --from 1")
        with pytest.raises(CheckpointDamaged):
            await those.restore_workspace(2)
        listed = {each.number: str(spoiled) in each.damaged for each in those.all()}
        assert listed == {1: False, 2: True, 3: what.endswith(" tar")}
    assert those.load(1)
    await save(those, 4)  # builds on nothing that is damaged
    expected = content(root)
    shutil.rmtree(root)
    await those.restore_workspace(4)
    assert content(root) == expected


async def test_without_a_whole_one_before_it_that_is_said(checkpoints: Checkpoints, folder: Path) -> None:
    await save(checkpoints, 1)
    (folder / "checkpoints" / "0001.json").write_text("{}")
    with pytest.raises(CheckpointDamaged) as error:
        checkpoints.load(1)
    assert error.value.before is None and f"echelon loop resume {FOLDER}" in error.value.hint
    with pytest.raises(UsageError, match="no checkpoint 9"):
        checkpoints.load(9)


async def test_a_manifest_that_somebody_forged_with_its_checksums_leads_nowhere(
    checkpoints: Checkpoints, root: Path, folder: Path, tmp_path: Path
) -> None:
    await save(checkpoints, 1)
    document = checkpoints.load(1)
    snapshots = Snapshots(folder / "workspace", root)
    forged = (folder / "workspace" / document.manifest).read_bytes().replace(b'"run.sh"', b'"../run.sh"')
    written = write(folder / "workspace", "0001", ".json", forged)
    parts = {name: each for name, each in document.parts.items() if name.endswith(".tar")}
    CheckpointFolder(folder, snapshots).write(
        document.with_(manifest=written.name, parts={**parts, written.name: written.sha256})
    )
    with pytest.raises(CheckpointDamaged, match="no path of a file in the workspace"):
        await checkpoints.restore_workspace(1)
    assert not (tmp_path / "run.sh").exists() and (root / "run.sh").exists()


async def test_saved_again_it_takes_the_place_of_the_one_before(
    checkpoints: Checkpoints, root: Path, folder: Path
) -> None:
    await save(checkpoints, 1)
    (root / "new").write_text("first")
    (root / "kept").write_text("since the second")
    await save(checkpoints, 2)
    (root / "new").write_text("second")
    await save(checkpoints, 2)
    assert len(list((folder / "workspace").glob("0002-*"))) == 2, "nothing of the former stays"
    (root / "new").write_text("third")
    await save(checkpoints, 3)
    (root / "new").write_text("gone back")
    await save(checkpoints, 2)  # while a later one builds on the former
    assert [each.damaged for each in checkpoints.all()] == ["", "", ""]
    for number, expected in ((3, "third"), (2, "gone back")):
        await checkpoints.restore_workspace(number)
        assert (root / "new").read_text() == expected


class Refusing:
    """Functions of `os` that write; from the `at`th call on, they do what is asked for instead."""

    NAMES = ("write", "fsync", "replace", "mkdir")

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.calls = 0
        self.at = 0
        for name in self.NAMES:
            monkeypatch.setattr(os, name, self._wrapped(getattr(os, name)))

    def _wrapped(self, function: Any) -> Any:
        def called(*args: Any, **more: Any) -> Any:
            self.calls += 1
            if self.at and self.calls >= self.at:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return function(*args, **more)

        return called


@contextmanager
def full_from(refusing: Refusing, call: int) -> Iterator[None]:
    refusing.calls, refusing.at = 0, call
    try:
        yield
    finally:
        refusing.at = 0


async def test_a_disk_that_is_full_at_any_write_leaves_the_others_whole(
    root: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints = Checkpoints(folder, root)
    await save(checkpoints, 1)
    refusing = Refusing(monkeypatch, folder)
    (root / "new").write_text("x")
    await save(Checkpoints(folder, root), 2)
    steps = refusing.calls
    assert steps >= 9, "tar, manifest and document are each written, synced and renamed"
    for step in range(1, steps + 1):
        (root / "new").write_text(f"at step {step}")
        with full_from(refusing, step), pytest.raises(CheckpointFailed, match="No space left") as error:
            await save(Checkpoints(folder, root), 3)
        assert error.value.retryable and f"echelon loop resume {FOLDER}" in error.value.hint
        assert all(not each.damaged for each in Checkpoints(folder, root).all() if each.number < 3)
    await save(Checkpoints(folder, root), 3)
    assert [(each.number, each.damaged) for each in Checkpoints(folder, root).all()] == [(1, ""), (2, ""), (3, "")]
    assert not [each for each in files_of(folder) if each.name.startswith(".")]
    (root / "new").unlink()
    await checkpoints.restore_workspace(3)
    assert (root / "new").read_text() == f"at step {steps}"


async def test_a_disk_that_is_full_for_git_is_told_from_a_repository_that_git_cannot_use(
    checkpoints: Checkpoints, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(root, "init", "-q")
    run = Repository.run

    async def full(self: Repository, *args: str, **more: Any) -> Any:
        if args[0] == "write-tree":
            raise ToolError("git write-tree failed: error: unable to write file: No space left on device")
        return await run(self, *args, **more)

    monkeypatch.setattr(Repository, "run", full)
    with pytest.raises(CheckpointFailed, match="No space left"):
        await save(checkpoints, 1)
    assert not checkpoints.all()
    monkeypatch.undo()
    (root / ".git" / "config").write_text("[damaged")
    record = await save(checkpoints, 1)
    assert not record.commit and record.notes[0].startswith("no commit: git")
    assert checkpoints.load(1).notes == record.notes


async def test_a_folder_inside_a_repository_has_its_files_taken_and_no_commit(root: Path, folder: Path) -> None:
    git(root, "init", "-q")
    record = await save(Checkpoints(folder, root / "src"), 1)
    assert not record.commit and "a folder inside the repository" in record.notes[0]
    assert not git(root, "for-each-ref")


KILLED = """
import asyncio, json, os, resource, signal, sys
from pathlib import Path
from gateway.loop.checkpoints import Checkpoints
from gateway.loop.state import Limits, LoopState
from gateway.loop.workspace import git_ref

root, folder, mode = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]

def save(number):
    state = LoopState(exits=(), limits=Limits(), iteration=number)
    return asyncio.run(Checkpoints(folder, root).save(
        number=number, why="interval", at=1000.0, session="s1", agent="w", state=state))

def child(function):
    pid = os.fork()
    if not pid:
        code = 1
        try:
            code = function() or 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def dying(step):
    left = [step]
    def wrapped(function):
        def called(*args, **more):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args, **more)
        return called
    if mode == "killed":
        for name in ("write", "fsync", "replace"):
            setattr(os, name, wrapped(getattr(os, name)))
    else:
        git_ref.Repository.run = wrapped(git_ref.Repository.run)
    save(2)
    return 0

def limited(size):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    try:
        save(2)
    except Exception as error:
        return 7 if getattr(error, "kind", "") == "checkpoint" else 8
    return 0

save(1)
(root / "new").write_text("x" * 5000)
codes = []
for step in range(1, 60):
    codes.append(child(lambda: limited(step * 1000) if mode == "full" else dying(step)))
    whole = [(each.number, each.damaged) for each in Checkpoints(folder, root).all()]
    assert whole in ([(1, "")], [(1, ""), (2, "")]), whole
    if codes[-1] == 0:
        break
    if mode != "full":
        (root / "new").write_text("x" * 5000 + str(step))
record = save(2)
print(json.dumps({"codes": codes, "commit": record.commit, "ref": record.ref}))
"""


@pytest.mark.parametrize(("mode", "code"), [("killed", -9), ("killed in git", -9), ("full", 7)])
def test_cut_off_at_any_step_the_checkpoint_is_made_whole_by_making_it_again(
    root: Path, folder: Path, mode: str, code: int
) -> None:
    index = b""
    if mode == "killed in git":
        git(root, "init", "-q")
        git(root, "add", "run.sh")
        index = (root / ".git" / "index").read_bytes()
    run = subprocess.run([sys.executable, "-c", KILLED, str(root), str(folder), mode], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    said = json.loads(run.stdout)
    assert len(said["codes"]) > 5 and said["codes"][-1] == 0
    assert {*said["codes"][:-1]} == {code}
    if index:
        assert git(root, "rev-parse", said["ref"]).strip() == said["commit"]
        assert git(root, "for-each-ref", "--format=%(refname)").split() == ["refs/echelon/s1/1", "refs/echelon/s1/2"]
        assert (root / ".git" / "index").read_bytes() == index
    checkpoints = Checkpoints(folder, root)
    assert [(each.number, each.iteration, each.damaged) for each in checkpoints.all()] == [(1, 1, ""), (2, 2, "")]
    assert not [each for each in files_of(folder) if each.name.startswith(".")]
    expected = content(root)
    shutil.rmtree(root)
    asyncio.run(checkpoints.restore_workspace(2))
    assert content(root) == expected


async def test_restoring_cut_off_is_completed_by_restoring_again(
    checkpoints: Checkpoints, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await save(checkpoints, 1)
    before = content(root)
    for path in ("src/a.py", "run.sh"):
        (root / path).write_text("since")
    renamed = os.rename
    left = 1

    def failing(*args: Any, **more: Any) -> None:
        nonlocal left
        left += 1
        if left % 3 == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        renamed(*args, **more)

    monkeypatch.setattr(os, "rename", failing)
    with pytest.raises(CheckpointFailed, match="No space left"):
        await checkpoints.restore_workspace(1)
    monkeypatch.undo()
    await checkpoints.restore_workspace(1)
    assert content(root) == before


async def test_sessions_in_one_process_do_not_stall_each_other(
    checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that reads or writes files is called in the event loop's own thread."""
    loops = threading.current_thread()
    for name in ("scandir", "fsync", "replace", "listdir"):
        function = getattr(os, name)

        def called(*args: Any, function: Any = function, **more: Any) -> Any:
            assert threading.current_thread() is not loops
            return function(*args, **more)

        monkeypatch.setattr(os, name, called)
    await save(checkpoints, 1)
    await checkpoints.restore_workspace(1)
