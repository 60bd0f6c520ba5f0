from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from gateway.errors import OutsideWorkspace, ToolError
from gateway.tools.builtin.file import MAX_TEXT
from gateway.tools.registry import Registry, Situation, ToolContext, ToolResult

Call = Callable[..., Awaitable[ToolResult]]


async def test_reading_numbers_the_lines_and_takes_a_range(ctx: ToolContext, call: Call) -> None:
    (ctx.workspace / "a.py").write_text("one\ntwo\nthree\n")
    result = await call("file.read", path="./a.py")
    assert result.text == "a.py\n1| one\n2| two\n3| three"
    assert result.data["path"] == "a.py"
    assert result.data["lines"] == 3
    assert (await call("file.read", path="a.py", start_line=2, end_line=9)).text == "a.py\n2| two\n3| three"
    with pytest.raises(ToolError, match="has 3 lines"):
        await call("file.read", path="a.py", start_line=7)


async def test_a_long_file_is_cut_and_tells_how_to_go_on(ctx: ToolContext, call: Call) -> None:
    (ctx.workspace / "long.txt").write_text("x" * 99 + "\n" * 1 + ("y" * 99 + "\n") * 2_000)
    result = await call("file.read", path="long.txt")
    assert len(result.text) < MAX_TEXT + 300
    assert "read on with start_line=" in result.text


async def test_binary_files_and_paths_outside_are_refused(ctx: ToolContext, call: Call) -> None:
    (ctx.workspace / "b.dat").write_bytes(b"\x00\x01")
    (ctx.workspace / "c.txt").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(ToolError, match="binary"):
        await call("file.read", path="b.dat")
    with pytest.raises(ToolError, match="not utf-16-le text"):
        await call("file.read", path="c.txt")
    with pytest.raises(OutsideWorkspace):
        await call("file.read", path="../home")


async def test_listing_is_bounded(ctx: ToolContext, call: Call) -> None:
    assert (await call("file.list")).text == "the workspace is empty"
    for number in range(250):
        (ctx.workspace / f"{number:03}.txt").write_text("")
    result = await call("file.list")
    assert result.data["total"] == 250
    assert len(result.data["files"]) == 200
    assert "50 more" in result.text
    assert not (await call("file.list", glob="*.py")).ok


async def test_writing_is_idempotent_and_undone_exactly(ctx: ToolContext, call: Call) -> None:
    file = ctx.workspace / "notes" / "a.txt"
    first = await call("file.write", path="notes/a.txt", content="new\n")
    assert first.text == "created notes/a.txt, 1 line"
    assert await call("file.write", path="notes/a.txt", content="new\n") == first
    await call("file.write", path="notes/a.txt", content="newer\n")
    await call("file.undo", path="notes/a.txt")
    assert file.read_text() == "new\n"
    await call("file.undo", path="notes/a.txt")
    assert file.read_text() == "new\n", "undone twice is undone once"


async def test_undo_of_a_new_file_removes_it(ctx: ToolContext, call: Call) -> None:
    assert not (await call("file.undo", path="a.txt")).ok
    await call("file.write", path="a.txt", content="x")
    assert (await call("file.undo", path="a.txt")).data == {"path": "a.txt", "sha256": None}
    assert not (ctx.workspace / "a.txt").exists()


async def test_undo_leaves_what_somebody_else_changed_since(ctx: ToolContext, call: Call) -> None:
    await call("file.write", path="a.txt", content="x")
    (ctx.workspace / "a.txt").write_text("by hand")
    with pytest.raises(ToolError, match="changed by something else"):
        await call("file.undo", path="a.txt")
    assert (ctx.workspace / "a.txt").read_text() == "by hand"


async def test_the_undo_log_lies_outside_the_workspace(ctx: ToolContext, call: Call) -> None:
    await call("file.write", path="a.txt", content="x")
    assert [each.name for each in ctx.workspace.iterdir()] == ["a.txt"]
    assert list((ctx.home / "undo").iterdir())


def test_reading_is_narrowed_to_files_that_there_are(ctx: ToolContext, registry: Registry) -> None:
    (ctx.workspace / "cart.py").write_text("def total(): ...\n")
    (ctx.workspace / "README.md").write_text("")
    schema = registry.get("file.read").schema(ctx, Situation("what does this project do?"))
    assert list(schema["properties"]) == ["path"], "small files are read whole"
    assert schema["properties"]["path"]["enum"] == ["cart.py", "README.md"]
    (ctx.workspace / "cart.py").write_text("x = 1\n" * MAX_TEXT)
    assert "start_line" in registry.get("file.read").schema(ctx, Situation("?"))["properties"]
