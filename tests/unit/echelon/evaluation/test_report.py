"""The report: every try, groups with medians, sums; and the file of tries that it is made from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from echelon.evaluation.report import as_data, line, table
from echelon.evaluation.tries import Log, Try
from gateway.errors import ConfigError


def tried(id: str, type: str = "memory_op", *, done: bool = True, **more: Any) -> Try:
    given: dict[str, Any] = {
        "id": id,
        "type": type,
        "wording": 1,
        "runner": "hierarchy",
        "model": "m",
        "done": done,
        "problem": "" if done else "not in | the memory: heron",
        "ended": ["success"],
        "model_calls": 3,
        "executor_decisions": 2,
        "prompt_tokens": 1000,
        "cached_tokens": 400,
        "completion_tokens": 100,
        "seconds": 10.0,
    }
    return Try.model_validate({**given, **more})


TRIES = [
    tried("two", "research+memory_op", done=False),
    tried("a", model_calls=1, seconds=4.0),
    tried("b", model_calls=9, prompt_tokens=3000),
    tried("three", "code_modify+memory_op"),
]


def test_the_table() -> None:
    said = table(TRIES)
    assert "| a/1 | yes | 1 | 2 | 1,000 (400) + 100 | 4.0 |  |" in said
    assert "| two/1 | no | 3 | 2 | 1,000 (400) + 100 | 10.0 | not in \\| the memory: heron |" in said
    assert "| memory_op | 2 of 2 | 5 | 2,100 | 7.0 |" in said
    assert "| two types | 1 of 2 | 3 | 1,100 | 10.0 |" in said
    assert said.index("| memory_op |") < said.index("| two types |")
    assert said.endswith("3 of 4 done: 16 model calls, 6,000 (1,600 cached) + 400 tokens, 34.0 s")


def test_the_data() -> None:
    data = as_data("turn", TRIES).model_dump()
    assert data["suite"] == "turn" and len(data["tries"]) == 4
    assert data["types"]["memory_op"] == {"done": 2, "n": 2, "model_calls": 5, "tokens": 2100, "seconds": 7.0}
    assert (data["totals"]["done"], data["totals"]["n"], data["totals"]["prompt_tokens"]) == (3, 4, 6000)


def test_a_try_on_one_line() -> None:
    assert line(TRIES[1]) == "a/1 · 1 model calls · 1,100 tokens · 4.0 s · done"
    assert line(TRIES[0]).endswith("NOT DONE: not in | the memory: heron")


def test_the_newest_of_a_try_counts(tmp_path: Path) -> None:
    log = Log(tmp_path / "new/tries.jsonl")
    assert log.read() == {}
    for each in (tried("a", done=False), tried("a"), tried("a", runner="flat"), tried("a", model="other")):
        log.add(each)
    found = log.read()
    assert len(found) == 3
    assert found[("a", 1, "hierarchy", "m")].done


def test_a_line_that_a_kill_has_cut_short_is_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "tries.jsonl"
    log = Log(path)
    log.add(tried("a"))
    with path.open("a") as file:
        file.write('{"id": "b", ')
    assert len(log.read()) == 1
    log.add(tried("c"))
    assert {key[0] for key in log.read()} == {"a", "c"}


def test_a_file_of_something_else_is_told(tmp_path: Path) -> None:
    (tmp_path / "tries.jsonl").write_text('{"task": "old"}\n')
    with pytest.raises(ConfigError, match=r"tries.jsonl:1: .*: not a try"):
        Log(tmp_path / "tries.jsonl").read()
