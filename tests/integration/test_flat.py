"""The flat loop that the gateway is compared with: the same suite, tools and judges, one model that decides all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from bench import flat
from bench.flat_form import answer_schema, system_prompt
from gateway.tools.discovery import builtin_registry

QUOTE = "A heron stands still in the water and waits until a fish comes near."
LONG = "x" * 3000


class Bench:
    """A suite of one request in `folder`, and a script that answers it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "out/flat/a-1/home"

    def __call__(self, judge: dict[str, Any], *script: dict[str, Any], turns: list[str], **more: Any) -> dict[str, Any]:
        """The try that is on record."""
        corpus = more.pop("corpus", None)
        request = {"id": "a", "type": "memory_op", "wordings": [turns], "judge": judge, **more}
        suite = {"name": "small", "requests": [request], **({"corpus": corpus} if corpus else {})}
        (self.folder / "suite.yaml").write_text(yaml.safe_dump(suite))
        (self.folder / "model.yaml").write_text(json.dumps(script))
        options = ["--folder", str(self.folder / "out"), "--model", f"scripted:{self.folder / 'model.yaml'}", "--json"]
        ended = CliRunner().invoke(flat.flat, [str(self.folder / "suite.yaml"), *options], standalone_mode=False)
        assert ended.exception is None, ended.output
        (line,) = (self.folder / "out/tries.jsonl").read_text().splitlines()
        tried: dict[str, Any] = json.loads(line)
        assert ended.return_value == (0 if tried["done"] else 1)
        return tried

    def messages(self, turn: int = 1) -> list[dict[str, str]]:
        found: list[dict[str, str]] = json.loads((self.home / f"turns/default/000{turn}/messages.json").read_text())
        return found


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def call(tool: str, **args: Any) -> dict[str, Any]:
    return {"thought": "because", "action": {"tool": tool, "args": args}}


def answer(text: str) -> dict[str, Any]:
    return {"thought": "because", "action": {"answer": text}}


def test_turns_of_a_session_stay_in_the_messages(bench: Bench) -> None:
    tried = bench(
        {"memory": ["called heron"], "response": ["heron"]},
        {"when": "^Remember that", "answer": call("memory.save", text="The server is called heron.")},
        {"when": "^Result of memory.save", "answer": answer("Saved.")},
        {"when": "^What is it called", "answer": answer("It is heron.")},
        turns=["Remember that my server is called heron", "What is it called?"],
    )
    assert tried["done"] and tried["runner"] == "flat" and tried["ended"] == ["success", "success"]
    assert (tried["model_calls"], tried["executor_decisions"]) == (3, 3) and tried["prompt_tokens"] > 0
    assert json.loads((bench.home / "turns/default/0001/results/01-memory.save.json").read_text())["ok"]
    roles = [each["role"] for each in bench.messages(2)]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user", "assistant"]


def test_a_tools_error_is_a_result_and_calls_are_bounded(bench: Bench) -> None:
    wrong = call("file.read", path="nothing.txt")
    script = ({"answer": wrong, "repeat": flat.MAX_CALLS}, {"answer": answer("I could not.")})
    tried = bench({"response": ["heron"]}, *script, turns=["Read it"])
    assert not tried["done"]
    assert (tried["ended"], tried["model_calls"]) == (["budget:calls"], flat.MAX_CALLS + 1)
    assert "Error: there is no file nothing.txt" in bench.messages()[3]["content"]


def test_an_answer_that_stays_wrong_ends_the_turn(bench: Bench) -> None:
    tried = bench({"response": ["heron"]}, {"answer": "nonsense", "repeat": 3}, turns=["Read it"])
    assert (tried["ended"], tried["model_calls"]) == (["error:decision_invalid"], 3)


def test_old_results_are_shortened_where_the_context_overflows(bench: Bench) -> None:
    tried = bench(
        {"response": ["heron"]},
        {"when": LONG, "error": "ContextTooLong"},
        {"when": "shortened", "answer": answer("It is heron.")},
        {"when": "^What", "answer": call("memory.search", query="server")},
        turns=["What is my server called?"],
        memories=[f"The server is called heron. {LONG}"],
    )
    assert tried["done"]
    assert len(bench.messages()[3]["content"]) < 300


def test_a_skill_quotes_what_research_found(bench: Bench) -> None:
    (bench.folder / "docs").mkdir()
    (bench.folder / "docs/heron.html").write_text(f"<body><h1>Heron</h1><h2>Fishing</h2><p>{QUOTE}</p></body>")
    steps = ["Stand still.", "Wait for a fish.", "Catch the fish."]
    skill = call("skill.generator", name="heron-fishing", description="How herons catch fish.", instructions=steps)
    tried = bench(
        {"skill": {"page": "heron"}, "result": {"tool": "internet.research", "source": "heron"}},
        {"when": "^Make", "answer": call("internet.research", query="heron fishing")},
        {"when": "^Result of internet.research", "answer": skill},
        {"when": "^Result of skill.generator .ok", "answer": answer("Done.")},
        turns=["Make a skill of how herons fish"],
        corpus="docs",
    )
    assert tried["problem"] == "" and tried["done"]


def test_every_tool_is_told_and_can_be_called() -> None:
    tools = list(builtin_registry())
    prompt = system_prompt(tools, flat.MAX_CALLS)
    alternatives = answer_schema(tools)["properties"]["action"]["anyOf"]
    assert [each["properties"]["tool"]["const"] for each in alternatives[:-1]] == [each.name for each in tools]
    assert all(f"- {each.name}: {each.description}" in prompt for each in tools)
    assert "$ref" not in json.dumps(alternatives)
