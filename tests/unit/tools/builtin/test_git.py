from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.engine.ports import Reconciled
from gateway.errors import OutsideWorkspace, ToolError
from gateway.tools.code.git import Repository
from gateway.tools.registry import Registry, ToolContext, ToolResult
from gateway.tools.workspace import Workspace

Call = Callable[..., Awaitable[ToolResult]]


def git(root: Path, *args: str) -> str:
    return subprocess.run(["git", "-C", root, *args], capture_output=True, text=True, check=True).stdout


@pytest.fixture(autouse=True)
def no_identity_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in ("XDG_CONFIG_HOME", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def repository(ctx: ToolContext) -> Path:
    root = ctx.workspace
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "user.name", "Ann")
    git(root, "config", "user.email", "ann@example.com")
    (root / "a.py").write_text("one\n")
    (root / "b.py").write_text("two\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "First")
    return root


async def test_status_tells_what_has_changed(call: Call, repository: Path) -> None:
    assert (await call("git.status")).data["clean"]
    (repository / "a.py").write_text("ONE\n")
    (repository / "b.py").unlink()
    (repository / "with space é.py").write_text("new\n")
    (repository / "c.py").write_text("c\n")
    git(repository, "add", "c.py")
    status = await call("git.status")
    assert status.data["branch"] == "main"
    assert status.data["commit"] == git(repository, "rev-parse", "HEAD").strip()
    assert status.data["staged"] == [{"path": "c.py", "change": "added"}]
    assert status.data["changed"] == [{"path": "a.py", "change": "modified"}, {"path": "b.py", "change": "deleted"}]
    assert status.data["untracked"] == ["with space é.py"]
    assert "b.py (deleted)" in status.text


async def test_diff_shows_changes_since_the_last_commit(call: Call, repository: Path) -> None:
    (repository / "a.py").write_text("ONE\n")
    (repository / "b.py").write_text("TWO\n")
    git(repository, "add", "b.py")
    both = await call("git.diff")
    assert both.data["files"] == [
        {"path": "a.py", "added": 1, "removed": 1},
        {"path": "b.py", "added": 1, "removed": 1},
    ]
    assert "-one\n+ONE" in both.text
    assert [each["path"] for each in (await call("git.diff", staged=True)).data["files"]] == ["b.py"]
    assert "TWO" not in (await call("git.diff", path="./a.py")).text
    denied = {"tools": {"policy": {"file.read": {"deny": ["b.py"]}}}}
    kept = await call("git.diff", settings=denied)
    assert "TWO" not in kept.text and kept.data["withheld"] == 1


async def test_a_commit_takes_the_paths_it_names_and_leaves_the_rest_as_it_was(call: Call, repository: Path) -> None:
    (repository / "a.py").write_text("ONE\n")
    (repository / "b.py").unlink()
    (repository / "new").mkdir()
    (repository / "new" / "c.py").write_text("c\n")
    (repository / "d.py").write_text("d\n")
    git(repository, "add", "d.py")
    result = await call("git.commit", message="Change a\n\nAnd why.", paths=["./a.py", "new", "b.py"])
    assert result.data["files"] == [
        {"path": "a.py", "change": "modified"},
        {"path": "b.py", "change": "deleted"},
        {"path": "new/c.py", "change": "added"},
    ]
    assert git(repository, "log", "-1", "--format=%H %an <%ae>%n%B").strip() == (
        f"{result.data['commit']} Ann <ann@example.com>\nChange a\n\nAnd why."
    )
    assert git(repository, "status", "--porcelain") == "A  d.py\n"
    assert (await call("git.commit", message="The rest")).data["files"] == [{"path": "d.py", "change": "added"}]
    with pytest.raises(ToolError, match="nothing to commit"):
        await call("git.commit", message="Again")
    assert git(repository, "log", "--format=%s").split("\n")[:3] == ["The rest", "Change a", "First"]


async def test_the_first_commit_and_a_branch_of_its_own(ctx: ToolContext, call: Call) -> None:
    git(ctx.workspace, "init", "-q", "-b", "main")
    (ctx.workspace / "a.py").write_text("one\n")
    assert (await call("git.diff")).data["files"] == []
    with pytest.raises(ToolError, match="does not know who commits") as error:
        await call("git.commit", message="First")
    assert error.value.hint.count("git config --global") == 2
    (ctx.workspace.parent / ".gitconfig").write_text("[user]\nname = Ann\nemail = ann@example.com\n")
    result = await call("git.commit", message="First", paths=["a.py"])
    assert result.data["parent"] is None and result.data["branch"] == "main"
    assert git(ctx.workspace, "log", "--format=%an").strip() == "Ann"


async def test_a_commit_in_doubt_is_told_by_the_branch(ctx: ToolContext, registry: Registry, repository: Path) -> None:
    tool = registry.get("git.commit")
    assert tool.reconcile is not None
    (repository / "a.py").write_text("ONE\n")
    args = tool.args(message="Change", paths=["a.py"])
    first, second = replace(ctx, call="1"), replace(ctx, call="2")
    assert (await tool.reconcile(args, first)).verdict is Reconciled.NOT_DONE
    result = await tool.run(args, first)
    git(repository, "reset", "-q")  # as after a crash before the index was renewed
    done = await tool.reconcile(args, first)
    assert done.verdict is Reconciled.DONE
    assert ToolResult.model_validate(done.result) == result
    assert (await tool.reconcile(args, second)).verdict is Reconciled.NOT_DONE, "the same words, but another call"
    git(repository, "reset", "-q", "--hard", "HEAD~1")
    assert (await tool.reconcile(args, first)).verdict is Reconciled.NOT_DONE
    git(repository, "commit", "-q", "--allow-empty", "-m", "Elsewhere")
    assert (await tool.reconcile(args, first)).verdict is Reconciled.UNKNOWN


async def test_a_commit_cut_off_before_the_branch_is_moved_did_not_happen(
    ctx: ToolContext, registry: Registry, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = registry.get("git.commit")
    assert tool.reconcile is not None
    (repository / "a.py").write_text("ONE\n")
    args = tool.args(message="Change")
    run = Repository.run

    async def cut_off(self: Repository, *command: str, **options: object) -> object:
        if command[0] == "update-ref":
            raise asyncio.CancelledError
        return await run(self, *command, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Repository, "run", cut_off)
    with pytest.raises(asyncio.CancelledError):
        await tool.run(args, ctx)
    monkeypatch.undo()
    assert (await tool.reconcile(args, ctx)).verdict is Reconciled.NOT_DONE
    assert git(repository, "log", "--format=%s").strip() == "First"


HOSTILE = """\
[core]
    fsmonitor = {trap}
    hooksPath = traps
    sshCommand = {trap}
    pager = {trap}
    editor = {trap}
    askPass = {trap}
    worktree = {outside}
[commit]
    gpgSign = true
[gpg]
    program = {trap}
[diff]
    external = {trap}
[diff "evil"]
    command = {trap}
    textconv = {trap}
[filter "evil"]
    clean = {trap}
    smudge = {trap}
    process = {trap}
    required = true
[filter "ev=il"]
    clean = {trap}
[pager]
    status = {trap}
    diff = {trap}
[credential]
    helper = {trap}
[alias]
    status = !{trap}
    diff = !{trap}
[gc]
    auto = 1
[remote "origin"]
    url = ext::{trap}
    promisor = true
    vcs = {trap}
[extensions]
    partialClone = origin
[protocol]
    allow = always
[trace2]
    eventTarget = {outside}/trace
"""


async def test_a_hostile_repository_starts_no_program(
    ctx: ToolContext, call: Call, repository: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    trap = tmp_path / "trap.sh"
    trap.write_text(f'#!/bin/sh\necho "$0 $@" >> {outside}/sprung\ncat\n')
    trap.chmod(0o755)
    for folder in (repository / ".git" / "hooks", repository / "traps"):
        folder.mkdir(exist_ok=True)
        for hook in (
            "pre-commit",
            "post-commit",
            "commit-msg",
            "post-index-change",
            "reference-transaction",
            "pre-auto-gc",
        ):
            (folder / hook).symlink_to(trap) if folder.name == "traps" else (folder / hook).write_text(trap.read_text())
            (folder / hook).chmod(0o755)
    (repository / ".git" / "more").write_text(HOSTILE.format(trap=trap, outside=outside))
    git(repository, "config", "include.path", "more")
    (repository / ".gitattributes").write_text("a.py diff=evil filter=evil\nb.py filter=ev=il diff=evil\n")
    (repository / "a.py").write_text("ONE\n")
    (repository / "b.py").write_text("TWO\n")
    (repository / "c.py").write_text("new\n")
    assert {each["path"] for each in (await call("git.status")).data["changed"]} == {"a.py", "b.py"}
    assert "+ONE" in (await call("git.diff")).text
    with pytest.raises(ToolError, match=r"(a|b)\.py is kept through the filter ev=?il"):
        await call("git.commit", message="All")
    assert (await call("git.commit", message="New", paths=["c.py"])).data["total"] == 1
    missing = "1" * 40
    (repository / ".git" / "refs" / "heads" / "main").write_text(f"{missing}\n")
    with pytest.raises(ToolError):
        await call("git.diff")  # the commit would be fetched, with a program
    assert os.listdir(outside) == []


async def test_a_repository_that_lies_elsewhere_is_refused(ctx: ToolContext, call: Call, repository: Path) -> None:
    with pytest.raises(ToolError, match="not a git repository"):
        await Repository.of(Workspace(ctx.home))
    (repository / "sub").mkdir()
    with pytest.raises(ToolError, match="a folder inside the repository"):
        await Repository.of(Workspace(repository / "sub"))
    git(repository, "worktree", "add", "-q", str(ctx.home / "tree"))
    with pytest.raises(OutsideWorkspace, match="lies somewhere else"):
        await Repository.of(Workspace(ctx.home / "tree"))
    heads = repository / ".git" / "refs" / "heads"
    heads.rename(ctx.home / "heads")
    heads.symlink_to(ctx.home / "heads")
    with pytest.raises(OutsideWorkspace, match="refs/heads leads out"):
        await call("git.status")


async def test_paths_outside_and_the_repository_itself_are_refused(call: Call, repository: Path) -> None:
    for path in ("../home", "/etc/passwd", ".git/config", ".GIT"):
        with pytest.raises(OutsideWorkspace):
            await call("git.commit", message="x", paths=[path])
        with pytest.raises(OutsideWorkspace):
            await call("git.diff", path=path)


async def test_a_link_is_committed_as_a_link(call: Call, repository: Path) -> None:
    (repository / "link").symlink_to("/etc/passwd")
    result = await call("git.commit", message="A link", paths=["link"])
    assert result.data["files"] == [{"path": "link", "change": "added"}]
    assert git(repository, "show", "HEAD:link") == "/etc/passwd"


def test_subjects_are_canonical(ctx: ToolContext, registry: Registry, repository: Path) -> None:
    tool = registry.get("git.commit")
    assert tool.subject is not None
    assert tool.subject(tool.args(message="m", paths=["./a.py", "x/../with space"]), ctx) == "a.py 'with space'"
    assert tool.subject(tool.args(message="m"), ctx) == "."


async def test_a_merge_under_way_is_left_alone(call: Call, repository: Path) -> None:
    (repository / ".git" / "MERGE_HEAD").write_text(git(repository, "rev-parse", "HEAD"))
    with pytest.raises(ToolError, match="a merge is under way"):
        await call("git.commit", message="x")


async def test_a_repository_inside_starts_no_program_of_its_own(
    ctx: ToolContext, call: Call, repository: Path, tmp_path: Path
) -> None:
    """A chain of three: its innermost files are where the settings of the one in the middle say, not beside it."""
    sprung = tmp_path / "sprung"
    elsewhere = tmp_path / "elsewhere"
    middle, inner = repository / "sub", elsewhere / "deep"
    for root, modules in ((middle, repository), (inner, elsewhere)):
        root.mkdir(parents=True)
        git(root, "init", "-q", "-b", "main")
        for key, value in (("name", "Ann"), ("email", "ann@example.com")):
            git(root, "config", f"user.{key}", value)
        (root / "f").write_text("one\n")
        (root / ".gitattributes").write_text(f"f filter={root.name}\n")
        git(root, "add", ".")
        git(root, "commit", "-q", "-m", "First")
        git(root, "config", f"filter.{root.name}.clean", f"echo {root.name} >> {sprung}; cat")
        (modules / ".gitmodules").write_text(f'[submodule "x"]\npath = {root.name}\nurl = ./x\nignore = none\n')
    git(middle, "config", "core.worktree", str(elsewhere))
    (elsewhere / "f").write_text("one\n")
    (elsewhere / ".gitattributes").write_text("f filter=sub\n")
    git(middle, "--git-dir=.git", "add", "--all")
    git(middle, "--git-dir=.git", "commit", "-q", "-m", "Second")
    git(repository, "add", ".gitmodules", "sub")
    git(repository, "commit", "-q", "-m", "With a submodule")

    def touch() -> None:
        sprung.unlink(missing_ok=True)
        for root in (elsewhere, inner):  # as long as before, and newer: git has to look into it
            (root / "f").write_text("two\n")
            os.utime(root / "f", (1_000_000_000, 1_000_000_000))

    touch()
    git(repository, "status")
    assert set(sprung.read_text().split()) == {"sub", "deep"}, "git by itself starts both"
    touch()
    assert (await call("git.status")).data["clean"]
    assert (await call("git.diff")).data["files"] == []
    (repository / "a.py").write_text("ONE\n")
    assert (await call("git.commit", message="All")).data["files"] == [{"path": "a.py", "change": "modified"}]
    (repository / "a.py").write_text("TWO\n")
    assert (await call("git.commit", message="Some", paths=["a.py", "sub"])).data["total"] == 1
    assert not sprung.exists()
    git(middle, "--git-dir=.git", "-c", "core.worktree=", "commit", "-q", "--allow-empty", "-m", "Third")
    assert (await call("git.status")).data["changed"] == [{"path": "sub", "change": "modified"}]
    assert (await call("git.commit", message="Newer sub")).data["files"] == [{"path": "sub", "change": "modified"}]


@pytest.mark.parametrize(
    "settings",
    [
        b'[filter "\xff"]\nclean = false\n',
        b'[a "b"]\n' + b"key = value\n" * 400_000 + b'[filter "x"]\nclean = false\n' + b"[a]\n" + b"k = v\n" * 400_000,
    ],
    ids=["a name that is not UTF-8", "in the midst of 8 MB"],
)
async def test_a_filter_that_cannot_be_told_is_refused(call: Call, repository: Path, settings: bytes) -> None:
    with (repository / ".git" / "config").open("ab") as file:
        file.write(settings)
    for tool, args in (("git.status", {}), ("git.commit", {"message": "m"})):
        with pytest.raises(ToolError, match="too long, or names a filter"):
            await call(tool, **args)


async def test_commits_of_others_do_not_put_one_in_doubt(
    ctx: ToolContext, registry: Registry, repository: Path
) -> None:
    tool = registry.get("git.commit")
    assert tool.reconcile is not None
    mine, others = replace(ctx, call="1"), replace(ctx, session="other", call="1")
    args = tool.args(message="Mine")
    (repository / "a.py").write_text("ONE\n")
    result = await tool.run(args, mine)  # and then a crash, before this was written down
    (repository / "b.py").write_text("TWO\n")
    await tool.run(tool.args(message="Other"), others)
    (repository / "c.py").write_text("not finished\n")
    done = await tool.reconcile(args, mine)
    assert done.verdict is Reconciled.DONE
    assert ToolResult.model_validate(done.result).data["commit"] == result.data["commit"]


async def test_only_so_many_notes_are_kept(
    ctx: ToolContext, registry: Registry, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.tools.code.commit._NOTES", 3)
    tool = registry.get("git.commit")
    assert tool.reconcile is not None
    notes = ctx.home / "git"
    notes.mkdir()
    for number in range(5):
        (notes / f"{number}.json").write_text("{}")
        os.utime(notes / f"{number}.json", (number, number))
    (repository / "a.py").write_text("ONE\n")
    args = tool.args(message="m")
    await tool.run(args, ctx)
    assert len(os.listdir(notes)) == 3 and {"3.json", "4.json"} < set(os.listdir(notes))
    assert (await tool.reconcile(args, ctx)).verdict is Reconciled.DONE


async def test_an_index_that_is_locked_stops_a_commit_before_it_is_made(
    call: Call, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "a.py").write_text("ONE\n")
    lock = repository / ".git" / "index.lock"
    lock.touch()
    with pytest.raises(ToolError, match=r"index\.lock") as error:
        await call("git.commit", message="m")
    assert error.value.hint
    assert git(repository, "log", "--format=%s") == "First\n"
    lock.unlink()
    run = Repository.run

    async def locked_then(self: Repository, *command: str, **options: object) -> object:
        answer = await run(self, *command, **options)  # type: ignore[arg-type]
        if command[0] == "update-ref":
            lock.touch()
        return answer

    monkeypatch.setattr(Repository, "run", locked_then)
    result = await call("git.commit", message="m")
    assert result.ok and "its index is as it was before" in result.text and "git reset" in result.text
    assert git(repository, "log", "-1", "--format=%H").strip() == result.data["commit"]


async def test_the_question_names_what_would_be_committed(
    ctx: ToolContext, registry: Registry, repository: Path
) -> None:
    tool = registry.get("git.commit")
    assert tool.preview is not None
    with pytest.raises(ToolError, match="nothing to commit"):
        await tool.preview(tool.args(message="m"), ctx)
    (repository / "a.py").write_text("ONE\n")
    for number in range(30):
        (repository / f"new-{number:02}").write_text(f"{number}\n")
    before = sorted((repository / ".git").rglob("*"))
    said = (await tool.preview(tool.args(message="m"), ctx)).splitlines()
    assert said[:3] == ["31 files would be committed:", "  a.py (modified)", "  new-00 (added)"]
    assert said[-2:] == ["  new-18 (added)", "  … and 11 more"]
    assert (await tool.preview(tool.args(message="m", paths=["./a.py"]), ctx)).splitlines() == [
        "1 file would be committed:",
        "  a.py (modified)",
    ]
    assert sorted((repository / ".git").rglob("*")) == before, "nothing is written into the repository"
    assert git(repository, "diff", "--cached", "--name-only") == ""
