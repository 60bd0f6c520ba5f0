"""What a model is told about code that it has to write anew."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.tools.code.code_brief import brief, excerpt
from gateway.tools.registry import Situation
from gateway.tools.workspace import Workspace

PAGER = '''"""Pages."""

SIZE = 10


def count(items, size=SIZE):
    """How many pages there are."""
    return len(items) // size


def other(x):
    if x:
        return 1
    return 2


class Book:
    """Bound."""

    def page(self, n):
        return n - 1
'''
TEST = """from pager import count


def test_other():
    assert True


def test_none():
    assert count([]) == 0


def test_count():
    assert count([1], 2) == 1
"""
SAID = "count([1], 2) gave 0, but must give 1"
MORE = "count([1, 2, 3], 2) gave 1, but must give 2"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "pager.py").write_text(PAGER)
    (tmp_path / "test_pager.py").write_text(TEST)
    return Workspace(tmp_path)


def run(*messages: str) -> dict[str, Any]:
    files = [{"path": "test_pager.py", "line": 13, "function": "test_count"}]
    failures = [{"test": "t", "message": f"{message}\nassert …", "files": files} for message in messages]
    data = {"passed": 0, "failed": len(failures), "failures": failures}
    return {"tool": "test.run", "args": {}, "ok": False, "text": "", "data": data}


def edit(source: str) -> dict[str, Any]:
    data = {"path": "pager.py", "name": "count", "before": "a", "after": "b"}
    return {"tool": "file.edit", "args": {"source": source}, "ok": True, "text": "", "data": data}


def told(workspace: Workspace, candidate: int = 1, *tried: dict[str, Any], names: tuple[str, ...] = ("count",)) -> str:
    situation = Situation("fix it", (), (run(SAID, MORE),), candidate, tried)
    return brief(workspace, "pager.py", names, situation)


def test_it_has_the_code_what_it_has_to_pass_and_what_a_test_says(workspace: Workspace) -> None:
    text = told(workspace)
    assert PAGER.strip() in text
    failing, passing = "def test_count():\n    assert count([1], 2) == 1", "def test_none():\n    assert count([]) == 0"
    assert f"It has to pass:\n\n```python\n{failing}\n\n\n{passing}\n```" in text
    assert f"What is wrong:\n{SAID}\n{MORE}\n" in text
    assert text.endswith("Write the corrected count, the whole of it.")


def test_every_second_candidate_does_not_see_what_stands_there(workspace: Workspace) -> None:
    text = told(workspace, 2)
    assert "len(items)" not in text
    assert '    """How many pages there are."""\n    ...  # to be written\n' in text
    assert f"With the old count:\n{SAID}\n{MORE}" in text
    assert "len(items)" in told(workspace, 3)


def test_several_definitions_take_turns_at_being_hidden(workspace: Workspace) -> None:
    names = ("count", "other")
    assert "Write the corrected count, the whole of it. If the fault is in other," in told(workspace, 1, names=names)
    assert "len(items)" not in told(workspace, 2, names=names)
    assert "if x:" not in told(workspace, 4, names=names) and "len(items)" in told(workspace, 4, names=names)
    assert "len(items)" not in told(workspace, 6, names=names)


def test_a_class_is_never_hidden(workspace: Workspace) -> None:
    assert "return n - 1" in told(workspace, 2, names=("Book",))


def test_the_last_try_is_mentioned_where_it_failed_in_another_way(workspace: Workspace) -> None:
    source = "def count(items, size=SIZE):\n    return 7\n"
    assert "Another try was wrong too: it gave 7" in told(workspace, 2, edit(source), run("it gave 7"))
    assert "Another try" not in told(workspace, 2, edit(source), run(SAID))


def test_a_try_that_failed_fewer_tests_is_the_base_of_the_next(workspace: Workspace) -> None:
    better = 'def count(items, size=SIZE):\n    """How many pages there are."""\n    return len(items) // size + 1\n'
    worse = better.replace("+ 1", "+ 2")
    tried = (edit(better), run(MORE), edit(worse), run(SAID, MORE))
    text = told(workspace, 3, *tried)
    assert better.strip() in text and "def other(x):" in text
    assert f"What is wrong:\n{MORE}\n" in text
    assert "return len(items) // size\n" in told(workspace, 3, *tried[2:]), "as many failures are no progress"


def test_without_a_failing_test_nothing_is_hidden(workspace: Workspace) -> None:
    text = brief(workspace, "pager.py", ("count",), Situation("make it faster", candidate=2))
    assert PAGER.strip() in text and "What is wrong" not in text


def test_a_long_file_is_cut_to_the_named_definitions_and_its_top_level() -> None:
    text = excerpt(PAGER, ["Book.page"], limit=200)
    assert text == (
        '"""Pages."""\n\nSIZE = 10\n\n\n# …\n\n\n# …\n\n\n'
        'class Book:\n    """Bound."""\n\n    def page(self, n):\n        return n - 1'
    )


names = st.sampled_from(["count", "other", "Book.page", "Book"])


@given(st.sets(names, min_size=1).map(sorted), st.one_of(st.just(""), names), st.integers(20, 600))
def test_an_excerpt_keeps_its_limit_and_is_python_where_it_is_not_cut(
    shown: list[str], hidden: str, limit: int
) -> None:
    text = excerpt(PAGER, shown, hidden, limit)
    assert len(text) <= limit + len("\n# … cut")
    if not text.endswith("# … cut") and "# …" not in text:
        ast.parse(text)
