"""`echelon eval`: what is tried, what is on record, what is told."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import yaml

from .conftest import Cli, complete, remember

TOLD = "It is heron."


def suite(cli: Cli) -> str:
    """A request to remember, in two turns, and one to answer from what is known."""
    remembering = {"memory": ["called heron"], "response": ["heron"]}
    requests = [
        {
            "id": "server",
            "type": "memory_op",
            "judge": remembering,
            "wordings": [["Remember that my server is called heron", "What is it called?"]],
        },
        {
            "id": "known",
            "type": "memory_op",
            "judge": {"response": ["14 March"]},
            "memories": ["The proposal is due on 14 March."],
            "wordings": ["When is it due?"],
        },
    ]
    path = cli.folder / "suite.yaml"
    path.write_text(yaml.safe_dump({"name": "small", "requests": requests}))
    return str(path)


def answers(*more: dict[str, Any]) -> list[dict[str, Any]]:
    """What a model says to the suite's turns, in the gateway: the second is answered by the Planner itself."""
    asked = {**complete(TOLD), "role": "planner", "when": "What is it called"}
    return [asked, *more, *remember()]


def tries(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "tries.jsonl").read_text().splitlines()]


def test_a_suite_is_carried_out_judged_and_gone_on_with(cli: Cli) -> None:
    model = cli.script(*answers({**complete("On 15 March."), "role": "planner", "when": "When is it due"}))
    command = ("eval", suite(cli), "--folder", "out", "--model", model)
    ended = cli(*command, "--only", "server")
    assert ended.returncode == 0, ended.stderr
    assert "server/1 · " in ended.stderr and "· done" in ended.stderr
    assert "| server/1 | yes |" in ended.stdout and "1 of 1 done" in ended.stdout
    tried = tries(cli.folder / "out")[0]
    assert (tried["runner"], tried["model"], tried["ended"]) == ("hierarchy", model, ["success", "success"])
    assert tried["model_calls"] >= 3 and tried["executor_decisions"] >= 1 and tried["prompt_tokens"] > 0

    ended = cli(*command, "--json")
    told = json.loads(ended.stdout)
    assert ended.returncode == 1
    assert "server/1 · " not in ended.stderr  # it is on record
    assert [(each["id"], each["problem"]) for each in told["tries"]] == [
        ("server", ""),
        ("known", "not in the response: 14 March"),
    ]
    assert told["types"]["memory_op"]["done"] == 1 and told["totals"]["n"] == 2
    cli(*command, "--only", "known", "--again")
    assert [each["id"] for each in tries(cli.folder / "out")] == ["server", "known", "known"]


def test_nothing_is_on_record_where_there_is_no_model(cli: Cli) -> None:
    model = cli.script({"error": "ModelUnavailable", "role": "planner"})
    ended = cli("eval", suite(cli), "--folder", "out", "--model", model)
    assert ended.returncode == 5
    assert not (cli.folder / "out/tries.jsonl").exists()


def test_an_interrupted_evaluation_keeps_what_was_tried(cli: Cli) -> None:
    known = {**complete("On 14 March."), "role": "planner", "when": "When is it due", "delay_s": 60}
    started = cli.start("eval", suite(cli), "--folder", "out", "--model", cli.script(*answers(known)))
    assert started.stderr is not None
    while "server/1 · " not in started.stderr.readline():
        assert started.poll() is None
    started.send_signal(signal.SIGINT)
    started.wait(timeout=60)
    assert started.returncode == 130
    assert [each["id"] for each in tries(cli.folder / "out")] == ["server"]


def test_a_request_that_is_not_there(cli: Cli) -> None:
    ended = cli("eval", suite(cli), "--only", "nothing", "--model", cli.script())
    assert ended.returncode == 2 and "server, known" in ended.stderr
