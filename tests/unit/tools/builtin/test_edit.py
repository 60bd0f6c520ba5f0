from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from pydantic import ValidationError

from gateway.errors import OutsideWorkspace, ToolError
from gateway.tools.registry import Registry, Situation, ToolContext, ToolResult

Call = Callable[..., Awaitable[ToolResult]]

PAGER = '''\
"""Pages."""

import os


def last_page(total, size):
    return total // size


class Pager:
    @property
    def pages(self):
        """How many.

        At least one.
        """
        return last_page(self.total, 10)

    def go(self, n):
        self.n = n
'''


@pytest.fixture
def pager(ctx: ToolContext) -> str:
    (ctx.workspace / "pager.py").write_text(PAGER)
    return "pager.py"


async def test_a_function_is_replaced_by_name(ctx: ToolContext, call: Call, pager: str) -> None:
    result = await call("file.edit", path=pager, name="last_page", source="def last_page(total, size):\n    return -1")
    assert result.ok
    assert (ctx.workspace / pager).read_text() == PAGER.replace("total // size", "-1")
    assert "-    return total // size\n+    return -1" in result.text


async def test_a_method_gets_the_old_indentation_and_keeps_its_decorators(
    ctx: ToolContext, call: Call, pager: str
) -> None:
    source = '```python\ndef pages(self):\n    """Count."""\n    return """a\n  b"""\n```\nThis fixes it.'
    assert (await call("file.edit", path=pager, name="Pager.pages", source=source)).ok
    text = (ctx.workspace / pager).read_text()
    assert (
        '    @property\n    def pages(self):\n        """Count."""\n        return """a\n  b"""\n\n    def go' in text
    )


@pytest.mark.parametrize(
    "source",
    [
        "    def go(self, n):\n        self.n = n + 1\n",
        "class Pager:\n    def go(self, n):\n        self.n = n + 1\n",
        "19| def go(self, n):\n20|     self.n = n + 1\n",
        "def go(self, n):\r\n    self.n = n + 1\r\n",
    ],
)
async def test_a_method_may_come_indented_in_its_class_or_numbered(
    ctx: ToolContext, call: Call, pager: str, source: str
) -> None:
    assert (await call("file.edit", path=pager, name="Pager.go", source=source)).ok
    assert (ctx.workspace / pager).read_text() == PAGER.replace("self.n = n", "self.n = n + 1")


async def test_imports_that_the_file_lacks_are_added_and_the_rest_is_left_out(
    ctx: ToolContext, call: Call, pager: str
) -> None:
    function = "def last_page(total, size):\n    return math.ceil(total / size)"
    source = f"import math\nimport os\n\n{function}\n\nprint(last_page(1, 2))"
    result = await call("file.edit", path=pager, name="last_page", source=source)
    text = (ctx.workspace / pager).read_text()
    assert text.startswith('"""Pages."""\n\nimport os\nimport math\n')
    assert "print" not in text
    assert "added import math; only last_page was taken" in result.text


@pytest.mark.parametrize(
    ("name", "source", "said"),
    [
        ("last_page", "def last_page(total, size:\n    return 1", "not valid Python: line 1"),
        ("last_page", "def first_page():\n    return 1", "defines first_page, not last_page"),
        ("last_page", "return 1", "not valid Python|no definition"),
        ("Pager", "def Pager():\n    pass", "has to begin with `class Pager`"),
        ("lastpage", "def lastpage(): pass", "Its definitions: last_page, Pager, Pager.pages, Pager.go"),
        ("last_page", "def last_page(total, size):\n    return total // size", "already stands there"),
    ],
)
async def test_what_cannot_be_right_is_refused_with_what_to_do(
    ctx: ToolContext, call: Call, pager: str, name: str, source: str, said: str
) -> None:
    result = await call("file.edit", path=pager, name=name, source=source)
    assert not result.ok
    assert re.search(said, result.text), result.text
    assert (ctx.workspace / pager).read_text() == PAGER
    assert result.data == {"path": pager}


async def test_exact_text_has_to_stand_there_once(ctx: ToolContext, call: Call, pager: str) -> None:
    assert (await call("file.edit", path=pager, old="total // size", new="0")).ok
    twice = await call("file.edit", path=pager, old="self", new="this")
    assert "times" in twice.text and not twice.ok
    missing = await call("file.edit", path=pager, old="def last_pages(total, sizes):", new="x")
    assert not missing.ok
    assert "6| def last_page(total, size):" in missing.text
    broken = await call("file.edit", path=pager, old="return 0", new="return (0")
    assert "no longer be valid Python" in broken.text


async def test_line_endings_encoding_and_mark_are_kept(ctx: ToolContext, call: Call) -> None:
    file = ctx.workspace / "a.py"
    file.write_bytes("\ufeff# é\r\ndef f():\r\n    return 1\r\n".encode())
    await call("file.edit", path="a.py", name="f", source="def f():\n    x = 2\n    return x\n")
    assert file.read_bytes() == "\ufeff# é\r\ndef f():\r\n    x = 2\r\n    return x\r\n".encode()
    await call("file.edit", path="a.py", old="x = 2\n    return x", new="return 3")
    assert file.read_bytes() == "\ufeff# é\r\ndef f():\r\n    return 3\r\n".encode()
    file.write_bytes("# coding: latin-1\ndef f():\n    return 'é'\n".encode("latin-1"))
    await call("file.edit", path="a.py", name="f", source="def f():\n    return 'è'")
    assert file.read_bytes() == "# coding: latin-1\ndef f():\n    return 'è'\n".encode("latin-1")
    with pytest.raises(ToolError, match="which has no '€'"):
        await call("file.edit", path="a.py", name="f", source="def f():\n    return '€'")


async def test_a_file_without_a_final_newline_stays_without(ctx: ToolContext, call: Call) -> None:
    (ctx.workspace / "a.py").write_text("def f():\n    return 1")
    await call("file.edit", path="a.py", name="f", source="def f():\n    return 2\n")
    assert (ctx.workspace / "a.py").read_text() == "def f():\n    return 2"


async def test_an_edit_that_was_interrupted_and_is_made_again_is_made_once(ctx: ToolContext, call: Call) -> None:
    (ctx.workspace / "a.txt").write_text("x\n")
    first = await call("file.edit", path="a.txt", old="x", new="x x")
    assert await call("file.edit", path="a.txt", old="x", new="x x") == first
    assert (ctx.workspace / "a.txt").read_text() == "x x\n"


async def test_the_same_edit_in_a_later_turn_is_another_one(ctx: ToolContext, registry: Registry) -> None:
    tool = registry.get("file.edit")
    (ctx.workspace / "a.txt").write_text("x\n")
    args = tool.args(path="a.txt", old="\n", new=" x\n")
    await tool.run(args, ctx)
    await tool.run(args, replace(ctx, turn=ctx.turn + 1))
    assert (ctx.workspace / "a.txt").read_text() == "x x x\n"


async def test_undo_restores_exactly_and_can_be_repeated(
    ctx: ToolContext, call: Call, registry: Registry, pager: str
) -> None:
    tool = registry.get("file.edit")
    assert tool.undo is not None
    args = tool.args(path=pager, name="last_page", source="def last_page(total, size): return 5")
    for _ in range(2):  # the same candidate may be tried again after it was undone
        result = await tool.run(args, ctx)
        assert "return 5" in (ctx.workspace / pager).read_text()
        await tool.undo(args, result, ctx)
        await tool.undo(args, result, ctx)
        assert (ctx.workspace / pager).read_text() == PAGER


async def test_an_undone_candidate_is_forgotten_by_the_undo_of_the_user(
    ctx: ToolContext, call: Call, registry: Registry, pager: str
) -> None:
    tool = registry.get("file.edit")
    assert tool.undo is not None
    await call("file.edit", path=pager, old="Pages.", new="Kept.")
    args = tool.args(path=pager, old="Kept.", new="Failed.")
    await tool.undo(args, await tool.run(args, ctx), ctx)
    await call("file.undo", path=pager)
    assert (ctx.workspace / pager).read_text() == PAGER


async def test_undo_of_an_edit_that_changed_nothing_does_nothing(
    ctx: ToolContext, registry: Registry, pager: str
) -> None:
    tool = registry.get("file.edit")
    assert tool.undo is not None
    args = tool.args(path=pager, old="nowhere", new="x")
    await tool.undo(args, await tool.run(args, ctx), ctx)
    assert (ctx.workspace / pager).read_text() == PAGER


async def test_a_diff_is_applied_whole_or_not_at_all(ctx: ToolContext, call: Call, pager: str) -> None:
    good = "@@ -90,2 +90,2 @@\n def last_page(total, size):\n-    return total // size\n+    return -(-total // size)\n"
    bad = good + "@@ -1 +1 @@\n-    self.n = m\n+    self.n = 1\n"
    refused = await call("file.edit", path=pager, diff=bad)
    assert not refused.ok and "20|         self.n = n" in refused.text
    assert (ctx.workspace / pager).read_text() == PAGER
    assert (await call("file.edit", path=pager, diff=good)).ok
    assert (ctx.workspace / pager).read_text() == PAGER.replace("total // size", "-(-total // size)")
    broken = await call("file.edit", path=pager, diff="@@ @@\n-        self.n = n\n+        self.n = (\n")
    assert "no longer be valid Python" in broken.text


def test_small_models_are_not_offered_diffs(ctx: ToolContext, registry: Registry, pager: str) -> None:
    assert "diff" in registry.get("file.edit").schema()["properties"]
    assert "diff" not in registry.get("file.edit").schema(ctx, Situation("fix it"))["properties"]


@pytest.mark.parametrize("mode", [0o755, 0o640, 0o444])
async def test_the_mode_of_a_file_survives_edits_and_undos(ctx: ToolContext, call: Call, mode: int) -> None:
    file = ctx.workspace / "run.sh"
    file.write_text("echo one\n")
    file.chmod(mode)
    for tool, args in (
        ("file.edit", {"old": "one", "new": "two"}),
        ("file.write", {"content": "echo three\n"}),
        ("file.write", {"content": "echo four\n", "append": True}),
        ("file.undo", {}),
    ):
        assert (await call(tool, path="run.sh", **args)).ok
        assert file.stat().st_mode & 0o7777 == mode


async def test_what_is_added_takes_encoding_and_line_endings_of_the_file(ctx: ToolContext, call: Call) -> None:
    file = ctx.workspace / "a.txt"
    file.write_bytes("\ufeffone\r\ntwö".encode("utf-16-le"))
    await call("file.write", path="a.txt", content="drei\nvier", append=True)
    assert file.read_bytes() == "\ufeffone\r\ntwö\r\ndrei\r\nvier\r\n".encode("utf-16-le")


def test_the_subject_of_a_call_is_the_canonical_path(ctx: ToolContext, registry: Registry) -> None:
    (ctx.workspace / "secrets").mkdir()
    (ctx.workspace / "link").symlink_to("secrets")
    for name in ("file.read", "file.edit", "file.write", "file.undo", "file.search"):
        tool = registry.get(name)
        assert tool.subject is not None and tool.touches
        for path in (
            "secrets/x",
            "./secrets/x",
            "secrets//x",
            "a/../secrets/x",
            "link/x",
            f"{ctx.workspace}/secrets/x",
        ):
            args = tool.args.model_construct(path=path)
            assert tool.subject(args, ctx) == "secrets/x"


async def test_paths_outside_are_refused(call: Call) -> None:
    with pytest.raises(OutsideWorkspace):
        await call("file.edit", path="../x.py", old="a", new="b")


def test_one_way_of_editing_has_to_be_chosen(registry: Registry) -> None:
    for wrong in ({}, {"old": "a"}, {"name": "f"}, {"old": "a", "new": "b", "name": "f", "source": "def f(): 0"}):
        with pytest.raises(ValidationError, match="either old and new, or source"):
            registry.get("file.edit").args(path="a.py", **wrong)


def _read(path: str) -> dict[str, object]:
    return {"tool": "file.read", "args": {"path": path}, "ok": True, "text": "", "data": {"path": path}}


def test_after_reading_a_python_file_a_definition_of_it_is_asked_for(
    ctx: ToolContext, registry: Registry, pager: str
) -> None:
    schema = registry.get("file.edit").schema(ctx, Situation("fix it", results=(_read(pager),)))
    assert list(schema["properties"]) == schema["required"] == ["path", "source"]
    assert schema["properties"]["path"]["enum"] == [pager]
    source = schema["properties"]["source"]
    assert source["contentMediaType"] == "text/x-python"
    assert (
        "corrected last_page, the whole of it. If the fault is in Pager.pages or Pager.go or Pager,"
        in source["description"]
    )
    assert (ctx.workspace / pager).read_text().strip() in source["description"]
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("place", ["{path}, line 1", "{path}:1"])
def test_where_the_request_names_a_line_outside_all_definitions_that_line_is_changed(
    ctx: ToolContext, registry: Registry, pager: str, place: str
) -> None:
    text = (ctx.workspace / pager).read_text()
    (ctx.workspace / pager).write_text(f"import zlib\n{text}")
    situation = Situation(f"In {place.format(path=pager)}: it is not used", results=(_read(pager),))
    schema = registry.get("file.edit").schema(ctx, situation)
    assert schema["required"] == ["path", "old", "new"] and schema["properties"]["old"]["const"] == "import zlib"
    (ctx.workspace / pager).write_text(f"import zlib\n{text}import zlib\n")
    assert "source" in registry.get("file.edit").schema(ctx, situation)["properties"], "it stands there twice"


def test_where_the_request_names_a_line_of_a_definition_that_one_is_asked_for(
    ctx: ToolContext, registry: Registry, pager: str
) -> None:
    lines = (ctx.workspace / pager).read_text().splitlines()
    number = next(at for at, line in enumerate(lines, 1) if "def go" in line)
    situation = Situation(f"In {pager}, line {number}: too long", results=(_read(pager),))
    source = registry.get("file.edit").schema(ctx, situation)["properties"]["source"]
    assert "Write the corrected Pager.go, the whole of it." in source["description"]


def test_other_files_are_changed_by_exact_text(ctx: ToolContext, registry: Registry, pager: str) -> None:
    (ctx.workspace / "README.md").write_text("Hello\n")
    schema = registry.get("file.edit").schema(ctx, Situation("fix it", results=(_read(pager), _read("README.md"))))
    assert schema["required"] == ["path", "old", "new"]
    assert schema["properties"]["path"]["enum"] == ["README.md"]


def test_what_was_written_in_this_task_can_be_changed_without_reading_it(
    ctx: ToolContext, registry: Registry, pager: str
) -> None:
    (ctx.workspace / "test_pager.py").write_text("def test_it(): ...\n")
    written = tuple(_read(path) | {"tool": "file.write"} for path in (pager, "test_pager.py"))
    schema = registry.get("file.edit").schema(ctx, Situation("write a pager", results=written))
    assert schema["properties"]["path"]["enum"] == [pager]
