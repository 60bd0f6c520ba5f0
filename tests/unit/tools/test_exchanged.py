"""Files that change under the tools: links put in place of folders, and two who change one file."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.errors import ToolError
from gateway.tools.builtin.edit import EditArgs, file_edit
from gateway.tools.builtin.file import UndoArgs, file_undo
from gateway.tools.code.search import Search
from gateway.tools.registry import ToolContext, ToolResult
from gateway.tools.workspace import Workspace

Call = Callable[..., Awaitable[ToolResult]]
ROUNDS = 300


@contextmanager
def swapping(root: Path, outside: Path) -> Iterator[None]:
    """`root/sub` is a folder and a link to `outside` in turn, as fast as can be."""
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            try:
                os.rename(root / "sub", root / "kept")
                os.symlink(outside, root / "sub")
                os.unlink(root / "sub")
                os.rename(root / "kept", root / "sub")
            except OSError:  # the writer has made the folder anew
                with suppress(OSError):
                    (root / "sub").unlink() if (root / "sub").is_symlink() else shutil.rmtree(root / "sub")
                    os.rename(root / "kept", root / "sub")

    (root / "sub").mkdir()
    (root / "sub" / "a.txt").write_text("inside")
    thread = threading.Thread(target=swap)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        sys.setswitchinterval(interval)


def test_a_link_that_comes_and_goes_leads_nobody_out(tmp_path: Path) -> None:
    root, outside = tmp_path / "work", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "a.txt").write_text("secret")
    (outside / "only-outside.txt").write_text("secret")
    workspace = Workspace(root)
    seen: set[bytes] = set()
    listed: set[str] = set()
    done = {"read": 0, "write": 0}

    def write() -> None:
        workspace.write("sub/a.txt", b"inside")
        done["write"] += 1
        workspace.write("sub/new/b.txt", b"inside")
        workspace.remove("sub/new/b.txt")

    def read() -> None:
        seen.add(workspace.read("sub/a.txt"))
        done["read"] += 1

    def search() -> None:
        listed.update(workspace.files())
        assert not list(Search(workspace, "secret", hidden=True).run())

    with swapping(root, outside):
        for number in range(20 * ROUNDS):
            if number >= ROUNDS and min(done.values()) > 0:
                break
            for act in (read, write, search):
                try:
                    act()
                except ToolError:
                    continue
    assert seen == {b"inside"}
    assert not any(each.endswith("only-outside.txt") for each in listed)
    assert sorted(os.listdir(outside)) == ["a.txt", "only-outside.txt"]
    assert (outside / "a.txt").read_text() == "secret"
    assert min(done.values()) > 0


async def test_edits_of_one_file_at_once_are_all_made(ctx: ToolContext, call: Call) -> None:
    (ctx.workspace / "a.txt").write_text("".join(f"line {n:02}\n" for n in range(24)))
    edits = [
        file_edit.run(EditArgs(path="a.txt", old=f"line {n:02}", new=f"LINE {n:02}"), replace(ctx, turn=n))
        for n in range(24)
    ]
    assert all(each.ok for each in await asyncio.gather(*edits))
    assert (ctx.workspace / "a.txt").read_text() == "".join(f"LINE {n:02}\n" for n in range(24))


EDITOR = """
import asyncio, sys
from pathlib import Path
from gateway.engine.artifacts import ArtifactStore
from gateway.tools.builtin.edit import EditArgs, file_edit
from gateway.tools.registry import ToolContext

work, home, who = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
ctx = ToolContext(work, home, ArtifactStore(home / "artifacts"), session=who)
print("ready", flush=True)
sys.stdin.readline()
for number in range(20):
    args = EditArgs(path="count.txt", old=f"{who}: {number}.", new=f"{who}: {number + 1}.")
    assert asyncio.run(file_edit.run(args, ctx)).ok
"""


def test_two_processes_that_edit_one_file_lose_no_update(tmp_path: Path) -> None:
    for name in ("work", "home"):
        (tmp_path / name).mkdir()
    file = tmp_path / "work" / "count.txt"
    file.write_text("a: 0.\nb: 0.\n")
    command = [sys.executable, "-c", EDITOR, tmp_path / "work", tmp_path / "home"]
    editors = [
        subprocess.Popen([*command, who], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for who in "ab"
    ]
    for each in editors:
        assert each.stdout is not None and each.stdout.readline() == "ready\n"
    for each in editors:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()
    for each in editors:
        each.communicate()
        assert each.returncode == 0
    assert file.read_text() == "a: 20.\nb: 20.\n"


async def test_a_change_by_somebody_else_in_the_middle_of_an_edit_is_kept(
    ctx: ToolContext, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = ctx.workspace / "a.txt"
    file.write_text("old\n")
    read = Workspace.read

    def meanwhile(self: Workspace, path: str, limit: int = 2_000_000) -> bytes:
        data = read(self, path, limit)
        file.write_text("by hand\n")  # after the tool has read it
        return data

    monkeypatch.setattr(Workspace, "read", meanwhile)
    with pytest.raises(ToolError, match="changed by something else in this moment") as error:
        await call("file.edit", path="a.txt", old="old", new="new")
    assert "read it again" in error.value.hint
    assert file.read_text() == "by hand\n"


async def test_several_undos_go_further_back(ctx: ToolContext, call: Call) -> None:
    file = ctx.workspace / "a.txt"
    for text in ("one\n", "two\n", "three\n"):
        await call("file.write", path="a.txt", content=text)
    undo = UndoArgs(path="a.txt")
    for number, text in enumerate(("two\n", "one\n")):
        for _ in range(2):  # interrupted and made again, one call takes back one change
            assert (await file_undo.run(undo, replace(ctx, call=str(number)))).ok
            assert file.read_text() == text
    await call("file.write", path="a.txt", content="other\n")
    assert (await file_undo.run(undo, replace(ctx, call="3"))).ok
    assert file.read_text() == "one\n"
    assert (await file_undo.run(undo, replace(ctx, call="4"))).ok
    assert not file.exists()
    assert not (await file_undo.run(undo, replace(ctx, call="5"))).ok
