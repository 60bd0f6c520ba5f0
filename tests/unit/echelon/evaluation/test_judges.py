"""Each judge passes what is good, and says what is wrong with what is not."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from echelon.evaluation.judges import JUDGES, Left, judge
from echelon.evaluation.suite import Judging
from gateway.engine.artifacts import MemoryArtifacts
from gateway.tools.builtin.memory import SaveArgs, memory_save
from gateway.tools.registry import ToolContext

QUOTE = "A heron stands still and waits."
SKILL = """---
name: heron
description: How herons fish, and when to do it like them.
---

# Heron

## Sources

### Birds (`birds/heron.html#fishing`)

```text
{quote}
```
"""


@pytest.fixture
def left(tmp_path: Path) -> Left:
    for name in ("home", "work", "suite/hidden", "suite/projects/twice/tests", "corpus/birds"):
        (tmp_path / name).mkdir(parents=True)
    project = tmp_path / "suite/projects/twice"
    (project / "twice.py").write_text("def twice(n):\n    return n + 2\n")
    test = "from twice import twice\n\n\ndef test_twice():\n    assert twice(3) == 6\n"
    (project / "tests/test_twice.py").write_text(test)
    (tmp_path / "suite/hidden/test_hidden.py").write_text(test)
    (tmp_path / "corpus/birds/heron.html").write_text(f"<body><h1>Heron</h1><p>A heron <b>stands</b>{QUOTE[14:]}</p>")
    shutil.copytree(project, tmp_path / "work", dirs_exist_ok=True)
    return Left(tmp_path / "home", tmp_path / "work", "It is Heron.", tmp_path / "suite", project, tmp_path / "corpus")


def judged(left: Left, **given: Any) -> str:
    return judge(Judging.model_validate(given), left)


def repair(left: Left) -> None:
    (left.workspace / "twice.py").write_text("def twice(n):\n    return 2 * n\n")


async def remembered(left: Left, *texts: str) -> None:
    for text in texts:
        await memory_save.run(SaveArgs(text=text), ToolContext(left.workspace, left.home, MemoryArtifacts()))


def test_tests_have_to_pass(left: Left) -> None:
    assert judged(left, tests={}) == "tests: 1 failed"
    repair(left)
    assert judged(left, tests={}) == ""


def test_tests_have_to_be_as_they_were(left: Left) -> None:
    (left.workspace / "tests/test_twice.py").write_text("def test_nothing():\n    pass\n")
    assert judged(left, tests={}) == "test_twice.py was changed"
    assert judged(left, tests={"unchanged": False}) == ""
    (left.workspace / "tests/test_twice.py").unlink()
    assert judged(left, tests={}) == "test_twice.py is gone"


def test_hidden_tests_are_brought_along(left: Left) -> None:
    shutil.rmtree(left.workspace / "tests")
    assert judged(left, hidden_tests={"folder": "hidden"}) == "hidden_tests: 1 failed"
    repair(left)
    assert judged(left, hidden_tests={"folder": "hidden"}) == ""


def test_what_a_workspace_configures_does_not_decide(left: Left) -> None:
    (left.workspace / "pytest.ini").write_text("[pytest]\naddopts = --collect-only\n")
    assert judged(left, hidden_tests={"folder": "hidden"}) == "hidden_tests: 1 failed"


def test_files(left: Left) -> None:
    wanted = {"notes.md": {"contains": [["heappush", "heapq"], "small"], "min_words": 4}}
    assert judged(left, files=wanted) == "there is no notes.md"
    notes = left.workspace / "notes.md"
    notes.write_text("heapq gives small")
    assert judged(left, files=wanted) == "notes.md has 3 words, not 4"
    notes.write_text("the heap gives small ones")
    assert judged(left, files=wanted) == "not in notes.md: heappush / heapq"
    notes.write_text("Heapq gives the SMALL ones")
    assert judged(left, files=wanted) == ""


async def test_memory(left: Left) -> None:
    assert judged(left, memory=["heron"]) == "nothing is remembered"
    assert judged(left, not_memory=["heron"]) == ""
    await remembered(left, "The server is Heron.", "It rained.")
    assert judged(left, memory=["heron", ["snowed", "rained"]]) == ""
    assert judged(left, memory=["osprey"]) == "not in the memory: osprey"
    assert judged(left, not_memory=["osprey", "heron"]) == "in the memory: heron"


def test_response(left: Left) -> None:
    assert judged(left, response=[["osprey", "heron"]]) == ""
    assert judged(left, response=["osprey"]) == "not in the response: osprey"
    broken = replace(left, response="the\nheron")
    assert judged(broken, response=["the heron"]) == ""


def test_skill(left: Left) -> None:
    assert judged(left, skill={"page": "heron"}) == "0 skills"
    skill = left.home / "skills/heron/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(SKILL.format(quote=QUOTE))
    assert judged(left, skill={"page": "heron"}) == ""
    assert judged(left, skill={"page": "osprey"}) == "no quote from osprey, but from birds/heron.html"
    skill.write_text(SKILL.format(quote="A heron runs."))
    assert judged(left, skill={"page": "heron"}).startswith("a quote does not stand in birds/heron.html")
    skill.write_text(SKILL.replace("### Birds", "Birds"))
    assert judged(left, skill={"page": "heron"}) == "it quotes nothing"
    skill.write_text("---\nname: other\ndescription: x\n---\n")
    assert judged(left, skill={"page": "heron"}).startswith("not valid: ")


def test_result(left: Left) -> None:
    wanted = {"tool": "internet.research", "source": "library/heapq"}
    assert judged(left, result=wanted) == "internet.research gave no source library/heapq, but none at all"
    results = left.home / "turns/default/0001/results"
    results.mkdir(parents=True)
    for number, source in enumerate(("library/sqlite3.html#a", "library/heapq.html#b"), 1):
        found = {"tool": "internet.research", "ok": True, "text": "", "data": {"passages": [{"source": source}]}}
        (results / f"0{number}-internet.research.json").write_text(json.dumps(found))
    assert judged(left, result=wanted) == ""
    assert "but library/sqlite3.html#a, " in judged(left, result={**wanted, "source": "library/json"})


def test_every_problem_is_told_and_every_kind_has_a_judge(left: Left) -> None:
    assert judged(left, response=["a crane"], memory=["b"]) == "nothing is remembered; not in the response: a crane"
    assert set(JUDGES) == set(Judging.model_fields)
