"""A suite's file: what it may say, and how it is told what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from echelon.evaluation.suite import load_suite, wordings
from gateway.errors import ConfigError

SHIPPED = Path(__file__).parents[4] / "evals" / "turn.yaml"


def request(**more: Any) -> dict[str, Any]:
    return {"id": "a", "type": "memory_op", "wordings": ["Do it"], "judge": {"memory": ["heron"]}, **more}


def written(folder: Path, *requests: dict[str, Any], **more: Any) -> Path:
    path = folder / "suite.yaml"
    path.write_text(yaml.safe_dump({"name": "small", "requests": list(requests), **more}))
    return path


def test_what_a_suite_says(tmp_path: Path) -> None:
    given = request(wordings=["Do it", ["first", "second"]], judge={"response": ["one", ["two", "three"]]})
    suite = load_suite(written(tmp_path, given, corpus="docs"))
    assert suite.corpus_folder == tmp_path / "docs"
    assert [each.turns for each in wordings(suite)] == [("Do it",), ("first", "second")]
    assert suite.request("a").judge.response == (("one",), ("two", "three"))


def test_wordings_are_chosen_by_name_type_and_number(tmp_path: Path) -> None:
    two = request(id="b", type="research+memory_op", wordings=["Do it", "Please do it"])
    suite = load_suite(written(tmp_path, request(), two))
    assert [each.name for each in wordings(suite)] == ["a/1", "b/1", "b/2"]
    assert [each.name for each in wordings(suite, "research")] == ["b/1", "b/2"]
    assert [each.name for each in wordings(suite, "b/2")] == ["b/2"]
    assert [each.name for each in wordings(suite, "", 1)] == ["a/1", "b/1"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([request(judge={"memry": ["x"]})], "requests.0.judge.memry: there is no such key"),
        ([request(judge={})], "requests.0.judge: nothing is judged"),
        ([request(judge={"memory": []})], "requests.0.judge.memory"),
        ([request(wordings=[])], "requests.0.wordings"),
        ([request(id="../up")], "requests.0.id"),
        ([request(), request()], "requests.1.id: two requests are called a"),
        ([request(project="nowhere")], "requests.0.project: there is no folder"),
        ([request(judge={"tests": {}})], "requests.0.judge.tests.unchanged"),
        ([request(judge={"hidden_tests": {"folder": "no"}})], "requests.0.judge.hidden_tests.folder: there is no"),
        ([request(judge={"skill": {"page": "x"}})], "requests.0.judge.skill"),
        ([], "requests"),
    ],
)
def test_what_is_wrong_is_told_with_file_and_key(tmp_path: Path, given: list[dict[str, Any]], said: str) -> None:
    path = written(tmp_path, *given)
    with pytest.raises(ConfigError) as caught:
        load_suite(path)
    assert str(caught.value).startswith(f"{path}: {said}")


def test_a_file_that_is_no_suite(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("a: [")
    for name in ("broken.yaml", "missing.yaml"):
        with pytest.raises(ConfigError, match=name):
            load_suite(tmp_path / name)


def test_a_missing_corpus_is_told_when_it_is_needed(tmp_path: Path) -> None:
    suite = load_suite(written(tmp_path, request(), corpus="nowhere"))
    with pytest.raises(ConfigError, match="nowhere"):
        suite.check_corpus()


def test_the_shipped_suite_is_one() -> None:
    suite = load_suite(SHIPPED)
    assert len(suite.requests) == 18
    assert {len(each.wordings) for each in suite.requests} == {2}
    assert len({each.project for each in suite.requests} - {""}) >= 3
