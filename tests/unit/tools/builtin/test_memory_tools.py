from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import ToolError
from gateway.tools import fulltext
from gateway.tools import memories as memories_module
from gateway.tools.builtin.memory import memory_forget, memory_save, memory_update
from gateway.tools.memories import Memories
from gateway.tools.registry import Registry, Situation, ToolContext, ToolResult

Call = Callable[..., Awaitable[ToolResult]]


async def test_what_was_saved_is_found_in_other_words_with_its_origin(call: Call) -> None:
    await call("memory.save", text="The staging server is called heron.")
    await call("memory.save", text="Ada prefers tabs.")
    result = await call("memory.search", query="What's the name of our staging servers?")
    assert result.text == "1. The staging server is called heron. (session s, turn 3, 2026-09-21)"
    assert result.data["memories"][0] | {"key": ""} == {
        "key": "", "text": "The staging server is called heron.", "session": "s", "turn": 3, "date": "2026-09-21",
        "updated": None,
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


async def test_another_composition_of_its_letters_finds_it(call: Call) -> None:
    await call("memory.save", text="Mu\u0308ller lives in Köln.")
    for query in ("Müller", "Mu\u0308ller", "KÖLN", "Ko\u0308ln"):
        assert (await call("memory.search", query=query)).data["memories"], query


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


def test_processes_save_and_forget_at_once_without_losing_any(ctx: ToolContext) -> None:
    code = (
        "import sys, pathlib\n"
        "from gateway.tools.memories import Memories\n"
        "memories, name = Memories(pathlib.Path(sys.argv[1])), sys.argv[2]\n"
        "where = {'session': 's', 'turn': 1, 'now': 0.0, 'otherwise': ''}\n"
        "for i in range(20):\n"
        "    memories.save(f'{name}-{i}', f'fact {name} {i}', **where)\n"
        "    if i % 2:\n"
        "        memories.forget(f'{name}-{i}')\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(ctx.home), name]) for name in "ab"]
    assert [each.wait(60) for each in running] == [0, 0]
    with sqlite3.connect(ctx.home / "memory.db") as connection:
        assert connection.execute("SELECT count(*) FROM memories").fetchone() == (20,)


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


OLD = """
CREATE TABLE memories (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, text TEXT NOT NULL,
    session TEXT NOT NULL, turn INTEGER NOT NULL, saved_at REAL NOT NULL);
CREATE VIRTUAL TABLE memories_text USING fts5(
    key, text, content='memories', content_rowid='id', tokenize='porter unicode61');
CREATE TRIGGER memory_added AFTER INSERT ON memories BEGIN
    INSERT INTO memories_text(rowid, key, text) VALUES (new.id, new.key, new.text); END;
CREATE TRIGGER memory_removed AFTER DELETE ON memories BEGIN
    INSERT INTO memories_text(memories_text, rowid, key, text) VALUES ('delete', old.id, old.key, old.text); END;
INSERT INTO memories (key, text, session, turn, saved_at)
    VALUES ('boat', 'The pelican is moored in Zwolle.', 's', 1, 0.0);
"""


def stands(home: Path, *words: str) -> list[str]:
    """Which words are in any file of the home."""
    files = [path.read_bytes().lower() for path in home.rglob("*") if path.is_file()]
    return [word for word in words if any(word.lower().encode() in data for data in files)]


async def test_an_update_keeps_the_origin_and_not_the_former_text(
    ctx: ToolContext, call: Call, registry: Registry
) -> None:
    key = (await call("memory.save", text="The flamingo costs 4711 guilders.")).data["key"]
    update = registry.get("memory.update")
    later = replace(ctx, session="t", turn=9, now=ctx.now + 86_400)
    done = await update.run(update.args(key=key, text="The heron costs nothing."), later)
    assert done.data == {"key": key, "changed": "remembered instead: The heron costs nothing."}
    assert await update.run(update.args(key=key, text="The heron costs nothing."), replace(later, turn=10)) == done
    (found,) = (await call("memory.search", query="heron")).data["memories"]
    assert found == {
        "key": key, "text": "The heron costs nothing.", "session": "s", "turn": 3, "date": "2026-09-21",
        "updated": "2026-09-22",
    }  # fmt: skip
    (memory,) = Memories(ctx.home).all()
    assert (memory.updated_session, memory.updated_turn) == ("t", 9)
    assert not (await call("memory.search", query="flamingo")).data["memories"]
    assert stands(ctx.home, "flamingo", "4711", "guilder") == []


@pytest.mark.parametrize("tool", ["memory.update", "memory.forget"])
async def test_what_is_not_there_cannot_be_changed(call: Call, tool: str) -> None:
    text = {"text": "x"} if tool == "memory.update" else {}
    with pytest.raises(ToolError, match="nothing is remembered under the key 'nowhere'"):
        await call(tool, key="nowhere", **text)


async def test_forgetting_twice_is_forgetting_once(call: Call) -> None:
    key = (await call("memory.save", text="The port is 80.")).data["key"]
    first = await call("memory.forget", key=key)
    assert first.text == "one memory is forgotten (said in session s, turn 3, 2026-09-21)"
    assert (await call("memory.forget", key=key)).ok
    assert (await call("memory.search", query="port")).data["memories"] == []


def test_forgetting_asks_and_says_which_one(ctx: ToolContext, registry: Registry) -> None:
    forget = registry.get("memory.forget")
    assert forget.ask and forget.subject is not None
    assert forget.subject(forget.args(key=" port "), ctx) == "port"


async def test_no_word_of_what_was_forgotten_is_left_in_the_database(ctx: ToolContext, call: Call) -> None:
    for number in range(50):
        await call("memory.save", text=f"Something else of number {number}", key=f"other-{number}")
    await call("memory.save", text="The flamingo eats krill " + "and zooplankton " * 200, key="bird")
    await call("memory.forget", key="bird")
    memories = Memories(ctx.home)
    memories.erased(memories.pending())
    assert stands(ctx.home, "flamingo", "zooplankton", "flaming", "krill") == []
    assert len((await call("memory.search", query="something else")).data["memories"]) == 5


async def test_a_search_can_be_within_a_session(ctx: ToolContext, call: Call, registry: Registry) -> None:
    save, search = registry.get("memory.save"), registry.get("memory.search")
    await call("memory.save", text="The port here is 80.")
    await save.run(save.args(text="The port there is 443."), replace(ctx, session="other"))
    for session, found in ((None, 2), ("this", 1), ("s", 1), ("other", 1), ("nowhere", 0)):
        assert len((await call("memory.search", query="port", session=session)).data["memories"]) == found
    within = await search.run(search.args(query="port", session="this"), replace(ctx, session="other"))
    assert within.data["memories"][0]["text"] == "The port there is 443."
    assert set(search.schema(ctx, Situation("port?"))["properties"]) == {"query"}


def gave(tool: str = "memory.search", **data: Any) -> dict[str, Any]:
    return {"tool": tool, "args": {}, "ok": True, "text": "", "data": data}


@pytest.mark.parametrize("tool", ["memory.update", "memory.forget"])
def test_only_what_was_seen_can_be_forgotten_or_changed(ctx: ToolContext, registry: Registry, tool: str) -> None:
    narrowed = registry.get(tool)
    with pytest.raises(ToolError, match="no memory was found"):
        narrowed.schema(ctx, Situation("Forget it"))
    memories = [{"key": "a", "text": "The port is 80."}, {"key": "b", "text": "long " * 100}]
    key = narrowed.schema(ctx, Situation("Forget it", results=(gave(memories=memories),)))["properties"]["key"]
    assert key["enum"] == ["a", "b"] and "a: The port is 80." in key["description"]
    assert len(key["description"]) < 400
    gone = gave("memory.forget") | {"args": {"key": "a"}}
    left = narrowed.schema(ctx, Situation("Forget it", results=(gave(memories=memories), gone)))
    assert left["properties"]["key"]["enum"] == ["b"]


async def test_a_database_of_the_earlier_version_goes_on(ctx: ToolContext, call: Call) -> None:
    with closing(sqlite3.connect(ctx.home / "memory.db")) as connection:
        connection.executescript(OLD)
    assert (await call("memory.search", query="pelican")).text.startswith("1. The pelican is moored in Zwolle. (s")
    await call("memory.update", key="boat", text="The pelican was sold.")
    assert (await call("memory.search", query="Zwolle")).data["memories"] == []
    await call("memory.forget", key="boat")
    memories = Memories(ctx.home)
    memories.erased(memories.pending())
    assert stands(ctx.home, "pelican", "zwoll") == []


async def test_a_database_of_a_newer_version_is_left_alone(ctx: ToolContext, call: Call) -> None:
    await call("memory.save", text="x")
    with closing(sqlite3.connect(ctx.home / "memory.db")) as connection:
        connection.execute("PRAGMA user_version = 7")
    with pytest.raises(ToolError, match="was written by a newer version"):
        await call("memory.search", query="x")


async def test_a_full_disk_says_so_and_loses_nothing(
    ctx: ToolContext, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    await call("memory.save", text="The port is 80.", key="port")
    real = memories_module.database

    @contextmanager
    def small(path: Path, schema: str) -> Iterator[sqlite3.Connection]:
        with real(path, schema) as connection:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {pages}")
            yield connection

    monkeypatch.setattr(memories_module, "database", small)
    with pytest.raises(ToolError, match="the disk is full"):
        for number in range(100):
            await call("memory.save", text="word " * 700 + str(number))
    monkeypatch.undo()
    assert (await call("memory.search", query="port")).data["memories"][0]["key"] == "port"


WORDS = 'the port Port ports 80 été e\u0301te\u0301 Müller Mu\u0308ller 苍鹭 Ѣ x-y it\'s "quoted" a_b'.split()
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
KEYS = st.sampled_from(["a", "b", "c"])


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("save"), st.one_of(KEYS, st.none()), TEXTS),
            st.tuples(st.just("update"), KEYS, TEXTS),
            st.tuples(st.just("forget"), KEYS, st.just("")),
        ),
        max_size=12,
    ),
)
@settings(max_examples=40)
def test_after_any_changes_the_index_finds_exactly_what_is_there(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, str, str]]
) -> None:
    home = tmp_path_factory.mktemp("home")
    memories, expected = Memories(home), dict[str, str]()
    for what, key, text in changes:
        if what == "save":
            kept = memories.save(key, text, session="s", turn=1, now=0.0, otherwise=f"hash {text}")
            expected[kept] = text
        elif key in expected and what == "update":
            memories.update(key, text, session="s", turn=2, now=1.0)
            expected[key] = text
        elif key in expected:
            memories.forget(key)
            del expected[key]
    assert {each.key: each.text for each in memories.all()} == expected
    for text in {text for _, _, text in changes if fulltext.terms(text)}:
        hits = {each.key for each in memories.search(text, limit=100)}
        assert {key for key, each in expected.items() if each == text} <= hits <= set(expected)
    if expected:
        with closing(sqlite3.connect(memories.path)) as connection:  # the index has these rows' words, and no others
            connection.execute("INSERT INTO memories_text(memories_text, rank) VALUES ('integrity-check', 1)")
    shutil.rmtree(home)


async def test_where_keys_are_shown_is_said_as_it_is(call: Call) -> None:
    for told in (memory_update, memory_forget):
        assert "`echelon memory list`" in told.schema()["properties"]["key"]["description"]
    with pytest.raises(ToolError) as caught:
        await call("memory.forget", key="none")
    assert "`echelon memory list`" in caught.value.hint
