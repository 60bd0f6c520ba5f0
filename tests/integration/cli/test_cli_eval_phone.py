"""`echelon eval` of tasks on phones: each on a phone of its own, judged by what that has kept."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from phone.phone_lab import OwnAdb, own_adb

from echelon.evaluation.suite import load_suite, wordings

from .conftest import Cli

AGENT = """
import json, pathlib

class Scripted:
    said = {}  # outlives the object, which is made anew after a question

    def predict(self, instruction, obs):
        steps = json.loads(pathlib.Path("script.json").read_text())[instruction]
        self.said[instruction] = self.said.get(instruction, 0) + 1
        action = dict(steps[min(self.said[instruction], len(steps)) - 1])
        if on := action.pop("on", None):
            elements = obs["accessibility_tree"]["elements"]
            action["element"] = next(each["number"] for each in elements if on in each["text"])
        return "", action
"""
DARK: dict[str, Any] = {
    "id": "dark",
    "type": "settings",
    "wordings": ["Switch dark mode on", "Do nothing", "Ask whether you may"],
    "judge": {"phone": [{"setting": "secure ui_night_mode", "is": "2"}]},
}
VERSION: dict[str, Any] = {
    "id": "version",
    "type": "settings",
    "wordings": ["Tell the version"],
    "judge": {"response": ["14"], "phone": [{"setting": "secure ui_night_mode", "is": "1"}]},
}
FINISH = {"action": "FINISH", "reason": "done"}
TURN_ON = [
    {"action": "open_app", "app": "Settings"},
    {"action": "tap", "on": "Display"},
    {"action": "tap", "on": "Dark theme"},
    FINISH,
]
SCRIPT = {
    "Switch dark mode on": TURN_ON,
    "Do nothing": [FINISH],
    "Ask whether you may": [{"action": "ask_user", "question": "May I?"}, *TURN_ON],
    "Tell the version": [{"action": "answer", "text": "Android 14"}, FINISH],
}


@pytest.fixture(scope="module")
def adb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnAdb]:
    with own_adb(tmp_path_factory.mktemp("adb-home")) as started:
        yield started


@pytest.fixture
def suite(cli: Cli, adb: OwnAdb, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """The command that evaluates the suite with the scripted agent."""
    monkeypatch.setenv("ECHELON_DEVICE__ADB_SERVER", adb.server.address)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (cli.folder / "scripted_for_eval.py").write_text(AGENT)
    (cli.folder / "script.json").write_text(json.dumps(SCRIPT))
    (cli.folder / "suite.yaml").write_text(
        yaml.safe_dump({"name": "small", "phone": True, "requests": [DARK, VERSION]})
    )
    return "eval", "suite.yaml", "--folder", "out", "--agent", "scripted_for_eval:Scripted"


def test_a_task_on_a_phone_is_judged_by_what_the_phone_has_kept(cli: Cli, suite: tuple[str, ...]) -> None:
    ended = cli(*suite, "--json")
    assert ended.returncode == 1, ended.stderr
    tried = json.loads(ended.stdout)["tries"]
    assert {f"{each['id']}/{each['wording']}": each["problem"] for each in tried} == {
        "dark/1": "",
        "dark/2": "the setting ui_night_mode is 1, not 2",
        "dark/3": "",  # the question is not answered, and it goes on
        "version/1": "",  # on a phone as new, whatever was done on those before
    }
    assert [(each["ended"], each["executor_decisions"]) for each in tried] == [
        (["success"], 4),
        (["success"], 1),
        (["success"], 5),
        (["success"], 2),
    ]


def test_an_agent_that_is_not_there_is_told_before_anything_is_tried(cli: Cli, suite: tuple[str, ...]) -> None:
    ended = cli(*suite[:-1], "nowhere:Agent")
    assert ended.returncode == 2 and "nowhere" in ended.stderr


def test_an_agent_is_for_tasks_on_phones_only(cli: Cli) -> None:
    turns = {"id": "known", "type": "memory_op", "wordings": ["When?"], "judge": {"response": ["14"]}}
    (cli.folder / "turns.yaml").write_text(yaml.safe_dump({"name": "small", "requests": [turns]}))
    ended = cli("eval", "turns.yaml", "--agent", "anything:Agent")
    assert ended.returncode == 2 and "phone: true" in ended.stderr


def test_the_suite_that_is_shipped_has_eight_tasks_in_three_wordings_each(request: pytest.FixtureRequest) -> None:
    shipped = load_suite(request.config.rootpath / "evals" / "phone.yaml")
    types = [each.request.type for each in wordings(shipped)]
    assert len(set(types)) == 8 and all(types.count(each) == 3 for each in types)
