"""Code that is repaired by candidates: real files, a real pytest, a scripted model."""

from __future__ import annotations

import pytest
import quick_pytest
from workbench import TOOLS, Bench, answer, plan

from gateway.engine.state import Status
from gateway.tools.builtin.prune import prune_test

OLD = "    return max(1, n // size)"
HALF = "    return n // size + 1"  # right for one test more, wrong for another
RIGHT = "    return max(1, -(-n // size))"
CODE = f'def pages(n, size):\n    """How many pages n items need; one at least."""\n{OLD}\n'
TEST = """from pager import pages


def test_none():
    assert pages(0, 2) == 1


def test_full():
    assert pages(4, 2) == 2


def test_rest():
    assert pages(5, 2) == 3


def test_more_rest():
    assert pages(7, 3) == 3
"""


def block(body: str, before: str = "") -> dict[str, str]:
    return {"answer": f"{before}```python\ndef pages(n, size):\n{body}\n```"}


@pytest.fixture
def project(bench: Bench) -> None:
    for name, text in {
        "pager.py": CODE,
        "test_pager.py": TEST,
        "conftest.py": "",
        "pytest.ini": quick_pytest.INI,
    }.items():
        (bench.workspace / name).write_text(text)


def code_of(bench: Bench) -> str:
    return (bench.workspace / "pager.py").read_text()


def prompts(bench: Bench) -> list[str]:
    return [asked["messages"][-1]["content"] for asked in bench.model.asked]


async def test_candidates_differ_and_the_first_that_passes_is_kept(bench: Bench, project: None) -> None:
    script = (
        plan("fix the pager", task_type="code_modify"),
        block(OLD, "Here:\n"),  # what stands there already
        block("    return 1"),
        block(HALF),
        block("    return (n +"),  # no Python
        block(RIGHT),
        answer(),
    )
    gateway = bench.open(*script)
    turn = await gateway.run("The last page is missing")
    assert (turn.status, turn.usage["model_calls"]) == (Status.COMPLETE, 7), turn.context.read_text()
    assert code_of(bench) == CODE.replace(OLD, RIGHT), "the docstring stays"
    asked = prompts(bench)
    assert (
        OLD in asked[1] and "pages(5, 2) gave 2, but must give 3" in asked[1] and "The last page is missing" in asked[1]
    )
    assert OLD not in asked[2] and "...  # to be written" in asked[2]
    assert OLD in asked[3], "a candidate that fails more tests is no base"
    assert HALF not in asked[4] and OLD not in asked[4]
    assert HALF in asked[5] and "pages(4, 2) gave 3, but must give 2" in asked[5]
    temperatures = [each["temperature"] for each in bench.model.asked[1:6]]
    assert temperatures[0] == 0.0 and temperatures[1:] == sorted(set(temperatures[1:])) and temperatures[1] == 0.7
    assert all(each["output_schema"] is None for each in bench.model.asked[1:6])
    document = turn.context.read_text()
    assert document.count("· undone") == 4 and "candidate 5\n" in document
    assert (await gateway.replay(turn.run_id)).differing == []


async def test_where_no_candidate_passes_the_code_is_as_it_was(bench: Bench, project: None) -> None:
    wrong = [block(f"    return {n}") for n in range(100, 140)]
    turn = await bench.open(plan(task_type="code_modify"), *wrong).run("The last page is missing")
    assert turn.status is not Status.COMPLETE
    assert code_of(bench) == CODE


async def test_results_that_a_test_made_up_are_taken_out_without_asking_a_model(bench: Bench) -> None:
    right = {"answer": "def double(n):\n    return 2 * n\n"}
    wrong = "def test_double():\n    assert double(2) == 4\n    assert double(3) == 7\n"
    test = {"answer": f"from double import double\n\n\n{wrong}"}
    repairs = ({"answer": "def double(n):\n    return n + 4\n"}, {"answer": "def double(n):\n    return 7\n"})
    bench.tools = (prune_test, *TOOLS[7:])
    (bench.workspace / "pytest.ini").write_text(quick_pytest.INI)
    gateway = bench.open(plan("write double.py", task_type="code_create"), right, test, *repairs, answer())
    turn = await gateway.run("Write double.py with a function double(n).")
    assert turn.status is Status.COMPLETE
    assert (bench.workspace / "double.py").read_text() == right["answer"]
    assert "assert double(2) == 4" in (bench.workspace / "test_double.py").read_text()
    assert "== 7" not in (bench.workspace / "test_double.py").read_text()
    assert len(bench.model.asked) == 6  # plan, code, test, two repairs, response
