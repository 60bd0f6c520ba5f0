"""file.write as a model is asked for it: where the text goes, and what has to be known to write it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from gateway.tools.builtin.edit import file_edit
from gateway.tools.builtin.file import file_read, file_write
from gateway.tools.code.write_brief import named_files
from gateway.tools.registry import Situation, ToolContext, ToolResult

Call = Callable[..., Awaitable[ToolResult]]

FOUND = {"tool": "internet.research", "args": {}, "ok": True, "text": "globs match names", "data": {}}


def schema(ctx: ToolContext, request: str, **more: Any) -> dict[str, Any]:
    return file_write.schema(ctx, Situation(request, (request,), **more))


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("write it into notes.md, please", ["notes.md"]),
        ("leap.py and src/leap/data.json.", ["leap.py", "src/leap/data.json"]),
        ("what os.path.join does, e.g. in 3.11", []),
        ("see https://example.org/a.html", []),
        ("call text.strip() on it", []),
    ],
)
def test_files_are_told_from_other_names(text: str, files: list[str]) -> None:
    assert named_files(text) == files


def test_the_one_file_that_is_named_is_settled_and_its_text_is_asked_for(ctx: ToolContext) -> None:
    found = schema(ctx, "Put a summary into notes.md", earlier=(FOUND,))
    assert found["properties"]["path"]["enum"] == ["notes.md"] and found["required"] == ["path", "content"]
    content = found["properties"]["content"]
    assert content["contentMediaType"] == "text/markdown" and "globs match names" in content["description"]


def test_python_is_asked_for_as_code(ctx: ToolContext) -> None:
    (ctx.workspace / "other.py").write_text("x = 1\n")
    content = schema(ctx, "Write leap.py")["properties"]["content"]
    assert content["contentMediaType"] == "text/x-python" and "Other files: other.py" in content["description"]


def test_where_no_file_is_named_any_may_be_chosen_and_then_is_known(ctx: ToolContext) -> None:
    assert "enum" not in schema(ctx, "Write a poem")["properties"]["path"]
    chosen = schema(ctx, "Write a poem", chosen={"path": "poem.py"})["properties"]
    assert chosen["path"]["enum"] == ["poem.py"] and chosen["content"]["contentMediaType"] == "text/x-python"


def test_what_people_wrote_is_added_to_unless_they_want_it_replaced(ctx: ToolContext) -> None:
    (ctx.workspace / "notes.md").write_text("# Mine\n")
    assert schema(ctx, "Put a line into notes.md")["properties"]["append"] == {"const": True}
    assert "append" not in schema(ctx, "Overwrite notes.md with a poem")["properties"]


def test_a_test_stands_beside_its_code(ctx: ToolContext) -> None:
    (ctx.workspace / "src").mkdir()
    (ctx.workspace / "src/leap.py").write_text("def is_leap(year): ...\n")
    found = schema(ctx, "Write is_leap", chosen={"test_of": "src/leap.py"})["properties"]
    assert found["path"]["enum"] == ["src/test_leap.py"] and "def is_leap" in found["content"]["description"]


def test_the_goals_count_where_the_request_asks_for_more(ctx: ToolContext) -> None:
    situation = Situation("Fix pager.py and describe it in notes.md", ("describe it in notes.md",), whole=False)
    assert file_write.schema(ctx, situation)["properties"]["path"]["enum"] == ["notes.md"]


async def test_text_is_added_at_the_end_once(ctx: ToolContext, call: Call) -> None:
    (ctx.workspace / "notes.md").write_text("# Mine")
    for _ in range(2):  # a call that was cut off is made again
        result = await call("file.write", path="notes.md", content="New.", append=True)
    assert (ctx.workspace / "notes.md").read_text() == "# Mine\n\nNew.\n"
    assert result.data["changed"] == "added to notes.md, 1 line"


async def test_forgotten_imports_are_added_to_code(ctx: ToolContext, call: Call) -> None:
    await call("file.write", path="a.py", content="def now():\n    return time.time()\n")
    await call(
        "file.write", path="test_a.py", content="def test():\n    with pytest.raises(ValueError):\n        f()\n"
    )
    assert (ctx.workspace / "a.py").read_text().startswith("import time\n")
    assert (ctx.workspace / "test_a.py").read_text().startswith("import pytest\n")


VAULT = "PIN = '4711'\n\n\ndef unlock(pin):\n    return pin == PIN\n"
READ = {"tool": "file.read", "args": {}, "ok": True, "text": "", "data": {"path": "secrets/vault.py"}}


def shown(ctx: ToolContext, **situation: Any) -> str:
    """All that the three tools which show code would have a model see."""
    wishes = (
        "write tests for unlock in secrets/vault.py",
        "add to notes.md what secrets/notes.md says",
        "call `unlock`",
    )
    chosen: list[dict[str, Any]] = [
        {},
        {"test_of": "secrets/vault.py"},
        {"path": "secrets/vault.py"},
        {"path": "secrets/notes.md"},
    ]
    return "\n".join(
        json.dumps(tool.schema(ctx, Situation(wish, (wish,), chosen=each, **situation)))
        for tool in (file_read, file_write, file_edit)
        for wish in wishes
        for each in chosen
    )


@pytest.mark.parametrize("results", [(), (READ,)])
@pytest.mark.parametrize("kind", ["deny", "ask"])
def test_no_model_is_shown_what_may_not_be_read(
    ctx: ToolContext, kind: str, results: tuple[dict[str, Any], ...]
) -> None:
    (ctx.workspace / "secrets").mkdir()
    for name, text in {"vault.py": VAULT, "test_vault.py": VAULT, "notes.md": "0815\n"}.items():
        (ctx.workspace / "secrets" / name).write_text(text)
    (ctx.workspace / "app.py").write_text("from secrets.vault import unlock\n")
    without_a_rule = shown(ctx, results=results)
    assert "4711" in without_a_rule and "0815" in without_a_rule
    ruled = shown(replace(ctx, settings={"tools": {"policy": {"file.read": {kind: ["secrets/*"]}}}}), results=results)
    approved = kind == "ask" and bool(results)  # somebody was asked about that one file, and it was read
    assert ("4711" in ruled) == approved
    assert "0815" not in ruled
