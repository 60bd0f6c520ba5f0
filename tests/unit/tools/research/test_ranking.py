"""What a question names comes first: definitions before mentions, and whole names before parts of them."""

from __future__ import annotations

import pytest

from gateway.tools.research.corpus import Corpus
from gateway.tools.research.index import name_tokens

MENTIONS = (
    "The function abs and the option -x and lib.Pool.close and lib.MAX_SIZE and the iterable are mentioned here. "
)
SPHINX = """<div role="main"><h1>{title}</h1><p>{intro}</p><dl class="py"><dt class="sig" id="{id}">
<span class="sig-prename descclassname">lib.</span><span class="sig-name descname">{name}</span>(x)</dt>
<dd><p>{said}</p></dd></dl></div>"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    docs = tmp_path_factory.mktemp("docs")

    def page(file: str, **values: str) -> None:
        (docs / f"{file}.html").write_text(
            SPHINX.format(**{"title": file.title(), "intro": "It has much to say.", **values})
        )

    page("numbers", id="abs", name="abs", said="Gives the size of a number.")
    page("options", id="cmdoption-x", name="-x", said="Skips the first line.")
    page("pools", id="lib.Pool.close", name="close", said="Ends it.")
    page("sizes", id="lib.MAX_SIZE", name="MAX_SIZE", said="Ends it.")
    page("c", id="c.Py_IncRef", name="Py_IncRef", said="Counts up.")
    (docs / "terms.html").write_text(
        '<div role="main"><h1>Glossary</h1><dl><dt id="term-iterable">iterable</dt><dd>An object with items.</dd></dl>'
        "<pre>\n<strong id='g-digit'>digit</strong> ::= '0'...'9'\n</pre></div>"
    )
    for number in range(5):
        (docs / f"mention{number}.md").write_text(
            f"# Much {number}\n\n{MENTIONS * (3 + number)}\n\ndigit digit digit\n"
        )
    corpus = Corpus(docs, tmp_path_factory.mktemp("index"))
    corpus.update()
    return corpus


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("How does the function abs work?", "numbers.html"),
        ("When do I need the command line option -x?", "options.html"),
        ("What does lib.Pool.close do?", "pools.html"),
        ("the method Pool.close", "pools.html"),
        ("the variable lib.MAX_SIZE", "sizes.html"),
        ("MAX_SIZE", "sizes.html"),
        ("Explain the parameter Py_IncRef.o", "c.html"),
        ("What is the term iterable?", "terms.html"),
        ("What are iterables?", "terms.html"),
        ("the grammar rule digit", "terms.html"),
        ("sizes", "sizes.html"),
    ],
)
def test_the_page_that_defines_it_comes_first(query: str, page: str, corpus: Corpus) -> None:
    assert corpus.search(query)[0].source.startswith(page)


def test_what_nothing_defines_is_found_by_its_words(corpus: Corpus) -> None:
    assert corpus.search("gives the size of numbers")[0].source.startswith("numbers.html")


def test_names_are_compared_by_words_dotted_names_and_options() -> None:
    assert name_tokens("Use json.loads() with --sort-keys, or sub-commands of PYTHONPATH.") == [
        "use", "json.loads", "with", "--sort-keys", "or", "sub", "commands", "of", "pythonpath",
    ]  # fmt: skip
