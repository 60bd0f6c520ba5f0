from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import ToolError
from gateway.tools import fulltext
from gateway.tools.builtin.memory import memory_save
from gateway.tools.registry import Registry, Situation, ToolContext, ToolResult

Call = Callable[..., Awaitable[ToolResult]]


async def test_what_was_saved_is_found_in_other_words_with_its_origin(call: Call) -> None:
    await call("memory.save", text="The staging server is called heron.")
    await call("memory.save", text="Ada prefers tabs.")
    result = await call("memory.search", query="What's the name of our staging servers?")
    assert result.text == "1. The staging server is called heron. (session s, turn 3, 2026-09-21)"
    assert result.data["memories"][0] | {"key": ""} == {
        "key": "", "text": "The staging server is called heron.", "session": "s", "turn": 3, "date": "2026-09-21",
    }  # fmt: skip


async def test_saving_again_changes_nothing_and_a_key_replaces(
    ctx: ToolContext, call: Call, registry: Registry
) -> None:
    first = await call("memory.save", text="The port is 80.", key="port")
    later = replace(ctx, turn=9)
    tool = registry.get("memory.save")
    assert await tool.run(tool.args(text="The port is 80.", key="port"), later) == first
    assert (await call("memory.search", query="port")).data["memories"][0]["turn"] == 3
    await call("memory.save", text="The port is 443.", key="port")
    found = (await call("memory.search", query="port")).data["memories"]
    assert [each["text"] for each in found] == ["The port is 443."]
    assert (await call("memory.search", query="80")).data["memories"] == [], "the old text is no longer indexed"


async def test_nothing_found_is_an_answer(call: Call) -> None:
    assert (await call("memory.search", query="anything")).text == "nothing is remembered about that"
    await call("memory.save", text="x y z")
    result = await call("memory.search", query="quantum")
    assert result.ok and result.data == {"memories": []}


async def test_at_most_five_are_found_the_newest_first_among_equals(
    ctx: ToolContext, call: Call, registry: Registry
) -> None:
    tool = registry.get("memory.save")
    for number in range(7):
        await tool.run(tool.args(text=f"fact {'abcdefg'[number]}"), replace(ctx, now=float(number)))
    found = (await call("memory.search", query="fact")).data["memories"]
    assert [each["text"] for each in found] == [f"fact {letter}" for letter in "gfedc"]


async def test_empty_text_is_refused(call: Call) -> None:
    with pytest.raises(ToolError, match="nothing to remember"):
        await call("memory.save", text="  ")


def test_models_are_not_asked_for_keys(ctx: ToolContext, registry: Registry) -> None:
    save = registry.get("memory.save")
    assert save.schema(ctx, Situation("Mia likes pears."))["properties"] == {"text": {"const": "Mia likes pears."}}
    assert save.schema(ctx, Situation("long " * 100))["properties"]["text"]["type"] == "string"


@given(st.text(max_size=40))
def test_no_query_is_a_syntax_error(query: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(text)")
    if words := fulltext.terms(query):
        connection.execute("SELECT * FROM t WHERE t MATCH ?", (fulltext.any_of(words),)).fetchall()
    connection.close()


async def test_a_damaged_database_says_what_to_do(ctx: ToolContext, call: Call) -> None:
    (ctx.home / "memory.db").write_bytes(b"this is no database" * 100)
    for act in (call("memory.save", text="x"), call("memory.search", query="x")):
        with pytest.raises(ToolError, match=r"memory.db is damaged") as error:
            await act
        assert "move" in error.value.hint


async def test_a_locked_database_says_so(ctx: ToolContext, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fulltext, "BUSY_S", 0.05)
    await call("memory.save", text="x")
    holder = sqlite3.connect(ctx.home / "memory.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(ToolError, match="locked by another process"):
        await call("memory.save", text="y")
    assert (await call("memory.search", query="x")).data["memories"], "reading goes on"
    holder.execute("ROLLBACK")
    holder.close()


def test_processes_save_at_once_without_losing_any(ctx: ToolContext) -> None:
    code = (
        "import sys, pathlib\n"
        "from gateway.tools.builtin.memory import _save\n"
        "from gateway.tools.registry import ToolContext\n"
        "home = pathlib.Path(sys.argv[1])\n"
        "for i in range(20):\n"
        "    _save(ToolContext(home, home, None), f'{sys.argv[2]}-{i}', f'fact {sys.argv[2]} {i}')\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(ctx.home), name]) for name in "ab"]
    assert [each.wait(60) for each in running] == [0, 0]
    with sqlite3.connect(ctx.home / "memory.db") as connection:
        assert connection.execute("SELECT count(*) FROM memories").fetchone() == (40,)


@pytest.mark.parametrize(
    ("goals", "text"),
    [
        (("remember that the pager is repaired",), "The pager is repaired."),
        (("note for later: the key is under the pot.",), "The key is under the pot."),
        (("remember that Ada came", "remember that Bo left"), "Ada came. Bo left."),
    ],
)
def test_a_fact_that_a_goal_says_is_kept_as_it_is_said(ctx: ToolContext, goals: tuple[str, ...], text: str) -> None:
    situation = Situation("Fix the pager, and remember that", goals, whole=False)
    assert memory_save.schema(ctx, situation)["properties"]["text"] == {"const": text}


@pytest.mark.parametrize("goal", ["remember the name of the function", "remember the name of that function"])
def test_a_fact_that_has_to_be_found_is_put_into_words_from_what_was_found(ctx: ToolContext, goal: str) -> None:
    found = {"tool": "internet.research", "args": {}, "ok": True, "text": "shutil.make_archive makes one", "data": {}}
    situation = Situation("Look it up", (goal,), earlier=(found,), whole=False)
    text = memory_save.schema(ctx, situation)["properties"]["text"]
    assert text["contentMediaType"] == "text/plain" and "shutil.make_archive makes one" in text["description"]
