from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gateway.errors import ToolError
from gateway.loop.workspace.git_ref import commit

REF = "refs/echelon/s1/1"
AT = 1_700_000_000.0


def git(root: Path, *args: str) -> str:
    run = subprocess.run(
        ["git", "-C", str(root), "-c", "user.name=Ann", "-c", "user.email=a@b", *args], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture(autouse=True)
def no_settings_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "w"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "a.py").write_text("one\n")
    (root / "b.py").write_text("two\n")
    (root / ".gitignore").write_text(".env\nlogs/\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "First")
    return root


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "session" / "git-index"


def of_the_user(root: Path) -> dict[str, bytes]:
    """Everything in the repository but its objects and the refs of sessions."""
    return {
        path: (root / ".git" / path).read_bytes()
        for folder, _, names in os.walk(root / ".git")
        for name in names
        if not (path := os.path.relpath(os.path.join(folder, name), root / ".git")).startswith(
            ("objects/", "refs/echelon/")
        )
    }


def working_tree(root: Path) -> dict[str, bytes]:
    return {str(each.relative_to(root)): each.read_bytes() for each in root.iterdir() if each.is_file()}


def files(root: Path, what: str) -> list[str]:
    return git(root, "ls-tree", "-r", "--name-only", "-z", what).split("\0")[:-1]


async def test_all_files_are_in_it_and_nothing_of_the_user_is_touched(root: Path, index: Path) -> None:
    (root / "a.py").write_text("stashed\n")
    git(root, "stash")
    (root / "a.py").write_text("staged\n")
    git(root, "add", "a.py")
    (root / "a.py").write_text("and changed again\n")
    (root / "b.py").unlink()
    (root / "new\né.py").write_text("untracked\n")
    (root / ".env").write_text("TOKEN=secret\n")
    git(root, "config", "core.logAllRefUpdates", "always")
    git(root, "config", "core.splitIndex", "true")
    before, tree = of_the_user(root), working_tree(root)
    made = await commit(root, REF, "What", index, at=AT)
    assert of_the_user(root) == before and working_tree(root) == tree
    assert git(root, "rev-parse", REF).strip() == made
    assert files(root, REF) == [".gitignore", "a.py", "new\né.py"]
    assert git(root, "show", f"{REF}:a.py") == "and changed again\n"
    assert git(root, "log", "-1", "--format=%an %cn %s %at %P", REF).split() == [
        "Echelon", "Echelon", "What", str(int(AT)), git(root, "rev-parse", "main").strip(),
    ]  # fmt: skip
    assert git(root, "stash", "list") and not git(root, "diff", "--cached", "--name-only", "--", "b.py")


async def test_the_same_again_is_the_same_commit(root: Path, index: Path) -> None:
    first = await commit(root, REF, "What", index, at=AT)
    assert await commit(root, REF, "What", index, at=AT) == first
    index.write_bytes(b"damaged")  # noqa: ASYNC240
    assert await commit(root, REF, "What", index, at=AT) == first
    (index.parent / "git-index.lock").write_text("of a git that was killed")
    (root / "a.py").write_text("since\n")
    assert await commit(root, REF, "What", index, at=AT) != first


async def test_no_program_of_the_repository_is_started(root: Path, index: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    program.chmod(0o755)
    for hook in ("pre-commit", "post-commit", "reference-transaction", "post-index-change", "commit-msg"):
        (root / ".git" / "hooks" / hook).write_bytes(program.read_bytes())
        (root / ".git" / "hooks" / hook).chmod(0o755)
    for key in ("filter.x.clean", "filter.x.smudge", "filter.x.process", "core.fsmonitor", "gpg.program"):
        git(root, "config", key, str(program))
    git(root, "config", "commit.gpgSign", "true")
    git(root, "config", "filter.x.required", "true")
    (root / ".gitattributes").write_text("*.py filter=x\n")
    (root / "a.py").write_text("changed\n")
    await commit(root, REF, "What", index, at=AT)
    assert not ran.exists()
    assert "a.py" in files(root, REF)
    subprocess.run(["git", "-C", str(root), "status"], capture_output=True)  # noqa: ASYNC221
    assert ran.exists(), "what would have been started is started by git itself"


async def test_before_the_first_commit(tmp_path: Path, index: Path) -> None:
    root = tmp_path / "w"
    root.mkdir()
    git(root, "init", "-q")
    (root / "a.py").write_text("one\n")
    await commit(root, REF, "What", index, at=AT)
    assert files(root, REF) == ["a.py"]
    assert git(root, "log", "--format=%P", REF).strip() == ""
    assert not (root / ".git" / "index").exists()


async def test_on_no_branch_and_during_a_merge(root: Path, index: Path) -> None:
    git(root, "checkout", "-q", "-b", "other")
    (root / "a.py").write_text("other\n")
    git(root, "commit", "-qam", "Other")
    git(root, "checkout", "-q", "main")
    git(root, "checkout", "-q", "--detach")
    (root / "a.py").write_text("main\n")
    git(root, "commit", "-qam", "Main")
    with pytest.raises(AssertionError):
        git(root, "merge", "other")
    before = of_the_user(root)
    assert "MERGE_HEAD" in before
    await commit(root, REF, "What", index, at=AT)
    assert of_the_user(root) == before
    assert "<<<<<<<" in git(root, "show", f"{REF}:a.py")
    assert git(root, "rev-parse", f"{REF}^").strip() == git(root, "rev-parse", "HEAD").strip()


async def test_what_comes_to_be_ignored_leaves_but_what_the_user_tracks_stays(root: Path, index: Path) -> None:
    (root / "secret.txt").write_text("TOKEN\n")
    await commit(root, REF, "What", index, at=AT)
    assert "secret.txt" in files(root, REF)
    (root / ".gitignore").write_text("secret.txt\nb.py\n")
    await commit(root, REF, "What", index, at=AT)
    assert files(root, REF) == [".gitignore", "a.py", "b.py"]


async def test_files_that_are_to_be_left_out_are(root: Path, index: Path, tmp_path: Path) -> None:
    (tmp_path / "ignore").write_text("*.log")
    (tmp_path / ".gitconfig").write_text(f"[core]\nexcludesfile = {tmp_path / 'ignore'}\n")
    odd = "big [1]*\n?.bin "
    for name in (odd, "x.log", "home/runs.db", "big 1.bin", "#x", "other.bin"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("x")
    await commit(root, REF, "What", index, at=AT, leave_out=[odd, "home", "#x"])
    assert files(root, REF) == [".gitignore", "a.py", "b.py", "big 1.bin", "other.bin"]


async def test_a_ref_that_leads_to_the_users_branch_is_not_followed(root: Path, index: Path) -> None:
    head = git(root, "rev-parse", "main")
    git(root, "symbolic-ref", REF, "refs/heads/main")
    (root / "a.py").write_text("since\n")
    made = await commit(root, REF, "What", index, at=AT)
    assert git(root, "rev-parse", "main") == head != made
    assert git(root, "rev-parse", REF).strip() == made


async def test_a_submodule_stays_a_link_to_its_commit(root: Path, index: Path, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    (inner / "x").write_text("x")
    git(inner, "add", ".")
    git(inner, "commit", "-qm", "Inner")
    git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    (root / "sub" / "x").write_text("changed")
    await commit(root, REF, "What", index, at=AT)
    assert git(root, "ls-tree", REF, "sub").startswith("160000 commit ")


async def test_where_git_may_not_be_run_it_is_said_why(root: Path, index: Path, tmp_path: Path) -> None:
    (root / "sub").mkdir()
    git(root, "worktree", "add", "-q", str(tmp_path / "worktree"))
    (tmp_path / "plain").mkdir()
    for place, why in (("w/sub", "inside the repository"), ("worktree", "somewhere else"), ("plain", "not a git")):
        with pytest.raises(ToolError, match=why):
            await commit(tmp_path / place, REF, "What", index, at=AT)
    assert not os.path.exists(index)  # noqa: ASYNC240


async def test_a_repository_that_was_made_anew_gets_its_commit(root: Path, index: Path) -> None:
    await commit(root, REF, "What", index, at=AT)
    shutil.rmtree(root / ".git")
    git(root, "init", "-q")
    await commit(root, REF, "What", index, at=AT)
    assert files(root, REF) == [".gitignore", "a.py", "b.py"]
    git(root, "fsck", "--strict")
