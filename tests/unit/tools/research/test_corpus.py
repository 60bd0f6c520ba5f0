from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import ToolError
from gateway.tools.builtin.research import internet_research
from gateway.tools.registry import ToolContext, ToolResult
from gateway.tools.research.corpus import Corpus
from gateway.tools.research.pages import letters, read_page, squeezed
from gateway.tools.research.quoting import GAP, MAX_QUOTE

Call = Callable[..., Awaitable[ToolResult]]

HEAD = '<html><head><title>{0} — Docs</title></head><body><nav>groups of tasks menu</nav><div role="main">'
TASKS = (
    HEAD.format("Tasks")
    + """
<section id="tasks"><h1>Tasks<a class="headerlink" href="#tasks">¶</a></h1>
<p>Source code: Lib/tasks.py</p>
<p>Tasks run <em>concurrently</em>. """
    + "They can be awaited, cancelled and named as you like. " * 8
    + """</p>
<section id="task-groups"><h2>Task Groups<a class="headerlink" href="#task-groups">¶</a></h2>
<p>Task groups wait for <code>all
tasks</code> in the group.</p>
<dl class="py class"><dt class="sig" id="lib.TaskGroup"><em>class </em>lib.<span>TaskGroup</span>(*, name=None)
<a class="headerlink" href="#x">¶</a></dt>
<dd><p>Holds a group of tasks.</p><div class="versionadded"><p>New in version 3.</p></div>
<dl><dt class="sig" id="lib.TaskGroup.create">create(coro)</dt><dd><p>Adds a task to the group.</p></dd></dl>
</dd></dl>
<p>Example:</p>
<div class="highlight"><pre><span></span><span class="k">async with</span> TaskGroup() as tg:
    tg.create(f())

    tg.create(g())
</pre></div>
</section></section></div></body></html>"""
)
SQL = (
    HEAD.format("Databases")
    + '<h1 id="db">Databases</h1><p>Store rows with transactions.</p><h2 id="sub">Sub-commands</h2>'
    "<table><tr><td>begin</td><td>starts one</td></tr></table><p>Run the tool with them.</p></div></body></html>"
)
GUIDE = "# Guide\n\nHow to deploy.\n\n## Rolling back\n\nUse the previous image:\n\n```sh\ndeploy --image old\n```\n"
EXAMPLE = "async with TaskGroup() as tg:\n    tg.create(f())\n\n    tg.create(g())"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "library").mkdir(parents=True)
    (root / "_static").mkdir()
    (root / "library" / "tasks.html").write_text(TASKS)
    (root / "library" / "sql.html").write_text(SQL)
    (root / "guide.md").write_text(GUIDE)
    (root / "genindex.html").write_text("<body><p>task groups task groups task groups</p></body>")
    (root / "_static" / "x.html").write_text("<body><p>task groups</p></body>")
    (root / "broken.html").symlink_to("nowhere.html")
    return root


@pytest.fixture
def corpus(docs: Path, tmp_path: Path) -> Corpus:
    corpus = Corpus(docs, tmp_path / "index")
    corpus.update()
    return corpus


def test_the_section_about_the_matter_comes_first_with_its_example(corpus: Corpus) -> None:
    first, *_ = corpus.search("how do I use task groups?")
    assert (first.title, first.heading, first.source) == ("Tasks", "Task Groups", "library/tasks.html#task-groups")
    assert first.text == "\n\n".join(
        [
            "Task groups wait for all tasks in the group.",
            "class lib.TaskGroup(*, name=None)",
            "Holds a group of tasks.",
            "[…]",  # a note on versions
            "create(coro)",
            "Adds a task to the group.",
            "Example:",
            EXAMPLE,
        ]
    )
    assert first.code == EXAMPLE


def test_an_example_that_comes_later_is_quoted_after_the_explanation(docs: Path, tmp_path: Path) -> None:
    text = "# Groups\n\n" + "Groups hold tasks. " * 40 + "\n\n" + "More. " * 80 + "\n\nSo:\n\n```\nrun(g)\n```\n"
    (docs / "late.md").write_text(text)
    corpus = Corpus(docs, tmp_path / "late")
    corpus.update()
    first, second, *_ = corpus.search("groups hold")
    assert first.text.startswith("Groups hold tasks.") and first.text.endswith("tasks.") and not first.code
    assert second.text == "So:\n\nrun(g)"


def test_every_quote_stands_in_its_page_letter_for_letter(corpus: Corpus, docs: Path) -> None:
    for query in ("task groups", "transactions", "subcommands", "rolling back", "create a task group named"):
        quotes = corpus.search(query)
        assert quotes
        for each in quotes:
            path = each.source.partition("#")[0]
            page = letters(path, (docs / path).read_text())
            assert all(squeezed(block) in page for block in each.text.split("\n\n") if block != GAP)
            assert each.code in each.text
            assert len(each.text) <= MAX_QUOTE + 50


@pytest.mark.parametrize(
    ("query", "source"),
    [
        ("subcommands", "library/sql.html#sub"),
        ("taskgroup", "library/tasks.html"),
        ("database transaction", "library/sql.html#db"),
        ("deploy an older image", "guide.md#rolling-back"),
    ],
)
def test_words_are_found_in_other_forms(corpus: Corpus, query: str, source: str) -> None:
    assert corpus.search(query)[0].source.startswith(source)


def test_indexes_menus_and_generated_folders_are_left_out(corpus: Corpus) -> None:
    sources = {each.source.partition("#")[0] for each in corpus.search("task groups menu")}
    assert sources == {"library/tasks.html"}


def test_only_what_changed_is_indexed_again(docs: Path, tmp_path: Path) -> None:
    corpus = Corpus(docs, tmp_path / "index")
    seen: list[tuple[int, int]] = []
    assert corpus.update(lambda done, total: seen.append((done, total))) == 3
    assert seen == [(3, 3)]
    assert Corpus(docs, tmp_path / "index").update() == 0
    (docs / "guide.md").write_text(GUIDE.replace("previous image", "former picture"))
    os.utime(docs / "guide.md", ns=(1, 1))
    (docs / "library" / "sql.html").unlink()
    assert corpus.update() == 1
    assert corpus.search("former picture")[0].source == "guide.md#rolling-back"
    assert corpus.search("previous") == []
    assert corpus.search("transactions") == []


def test_nothing_is_found_for_nothing(corpus: Corpus) -> None:
    for query in ("", "??", '"', "zebra"):
        assert corpus.search(query) == []


@given(
    st.lists(st.sampled_from(["# A", "para one", "", "    code", "```", "x: y", "Title", "====", "## B:"]), max_size=14)
)
def test_blocks_of_plain_text_stand_in_it(lines: list[str]) -> None:
    text = "\n".join(lines)
    whole = letters("a.md", text)
    for passage in read_page("a.md", text).passages:
        assert passage.blocks
        for block in passage.blocks:
            assert squeezed(block.text) in whole


@given(st.recursive(st.text("ab <&", max_size=6), lambda inner: st.tuples(
    st.sampled_from(["p", "div", "li", "pre", "h2", "b", "td", "tr", "dl", "dt", "nav"]), st.lists(inner, max_size=3)
), max_leaves=12))  # fmt: skip
def test_blocks_of_any_html_stand_in_it(tree: object) -> None:
    def html(node: object) -> str:
        if isinstance(node, tuple):
            return f"<{node[0]} id=x>{''.join(map(html, node[1]))}</{node[0]}>"
        return str(node)

    text = html(tree)
    whole = letters("a.html", text)
    for passage in read_page("a.html", text).passages:
        assert all(squeezed(block.text) in whole for block in passage.blocks)


async def test_research_gives_passages_as_text_and_data(call: Call, docs: Path) -> None:
    settings = {"research": {"provider": "ddgs", "corpus_dir": str(docs)}}
    result = await call("internet.research", query="rolling back", settings=settings)
    assert result.ok
    assert result.data["passages"][0] == {
        "title": "Guide",
        "source": "guide.md#rolling-back",
        "heading": "Rolling back",
        "quote": "Use the previous image:\n\ndeploy --image old",
        "code": "deploy --image old",
        "date": "",
    }
    assert result.data["provider"] == "corpus"
    assert result.text.startswith("[1] Guide · Rolling back\nsource: guide.md#rolling-back\nUse the previous image:")
    assert not (await call("internet.research", query="zebra", settings=settings)).ok


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"research": {"provider": "corpus"}}, "no documents are configured"),
        ({"research": {"provider": "searxng", "corpus_dir": "."}}, "no SearXNG instance is configured"),
        ({"research": {"corpus_dir": "/nowhere/at/all"}}, "is not a folder"),
    ],
)
async def test_research_that_is_not_set_up_says_what_to_set(call: Call, settings: dict[str, object], said: str) -> None:
    with pytest.raises(ToolError, match=said) as error:
        await call("internet.research", query="tasks", settings=settings)
    assert "research.corpus_dir" in error.value.hint


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "there are no documents in"),
        ({"a.bin": b"x", "_static/x.html": b"<p>words</p>"}, "there are no documents in"),
        ({"a.md": b"a\0b", "b.pdf": b"%PDF-1.7 rubbish"}, "none of the documents in .* a.md: it is binary.*; b.pdf: "),
    ],
)
async def test_a_folder_without_documents_is_said_to_be_one(
    call: Call, tmp_path: Path, files: dict[str, bytes], said: str
) -> None:
    folder = tmp_path / "empty"
    (folder / "_static").mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    with pytest.raises(ToolError, match=said) as error:
        await call("internet.research", query="csv", settings={"research": {"corpus_dir": str(folder)}})
    assert "HTML, Markdown, text or PDF" in error.value.hint


async def test_who_waits_for_the_index_is_told_how_far_it_is(ctx: ToolContext, docs: Path) -> None:
    lines: list[str] = []
    where = replace(ctx, settings={"research": {"corpus_dir": str(docs)}}, progress=lines.append)
    await internet_research.run(internet_research.args(query="rolling back"), where)
    assert lines == ["3 of 3 documents are indexed"]
