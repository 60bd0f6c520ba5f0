"""Specification 000, requirement “Observation Construction”: a test by the name of each scenario."""

from __future__ import annotations

import io
from typing import Any

import pytest
from PIL import Image
from task_lab import SETTINGS
from tasks_of_lab import FINISH, OPEN, Tasks

from gateway.errors import HierarchyUnreadable
from simphone.faults import Fault


class Watching:
    """Says one line after the other, and keeps what it is shown."""

    def __init__(self, *script: dict[str, Any]) -> None:
        self.script = script
        self.shown: list[dict[str, Any]] = []

    def predict(self, instruction: str, obs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        self.shown.append(obs)
        return "", self.script[len(self.shown) - 1]


async def test_construct_basic_observation(tasks: Tasks) -> None:
    agent = Watching(OPEN, FINISH)
    ran = await tasks.run(agent, tree=False)
    assert [set(each) for each in agent.shown] == [{"screenshot"}, {"screenshot"}], "no tree, unless it is wanted"
    for step, shown in zip(ran.trajectory["steps"], agent.shown, strict=True):
        assert isinstance(shown["screenshot"], Image.Image)
        saved = Image.open(io.BytesIO((ran.task.folder / step["screenshot"]).read_bytes()))
        assert shown["screenshot"].convert("RGB").tobytes() == saved.convert("RGB").tobytes()


async def test_include_step_count_in_observation(tasks: Tasks) -> None:
    agent = Watching({"action": "answer", "text": "1"}, FINISH)
    await tasks.run(agent, step_info=True, limits={"max_steps": 7})
    assert [(each["step_count"], each["max_steps"]) for each in agent.shown] == [(1, 7), (2, 7)]


async def test_observation_caching(tasks: Tasks) -> None:
    agent = Watching({"action": "fly"}, {"action": "jump"}, OPEN, FINISH)
    ran = await tasks.run(agent)
    screenshots = [each.screenshot for each in ran.task.steps]
    assert screenshots[0] == screenshots[1] == screenshots[2] != screenshots[3]
    assert ran.begun("device.observe") == 2, "once at the beginning, once after the act"


class Unread(Watching):
    """Lets the phone say nothing of its second screen."""

    def __init__(self, tasks: Tasks, *script: dict[str, Any]) -> None:
        super().__init__(*script)
        self.faults = tasks.phone.faults

    def predict(self, instruction: str, obs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        if self.shown:
            self.faults.clear()
        else:
            self.faults.add(Fault("dump_fails", times=0))
        return super().predict(instruction, obs)


async def test_accessibility_tree_enrichment(tasks: Tasks, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(*_: object) -> None:
        raise HierarchyUnreadable("no reader of pictures is installed")

    monkeypatch.setattr("gateway.phone.ocr.elements", unreadable)
    agent = Unread(tasks, OPEN, {"action": "home"}, FINISH)
    ran = await tasks.run(agent, tree=True)
    before, without, after = agent.shown
    assert "accessibility_tree" not in without and without["screenshot"].size == before["screenshot"].size
    assert {"package", "activity", "size", "elements"} == set(after["accessibility_tree"])
    assert any(each["text"] == "Settings" for each in before["accessibility_tree"]["elements"])
    assert ran.ended == ("complete", "success")
    assert ran.task.steps[1].package == SETTINGS, "which app is in front is known all the same"
