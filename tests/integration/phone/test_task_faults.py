"""Every fault of the simulated phone in the middle of a task: the task is done all the same, or it stops with the right
status and everything that it had, and is done once the fault is gone."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from task_lab import SETTINGS, place
from tasks_of_lab import Tasks

from echelon.ending import exit_code
from gateway.errors import HierarchyUnreadable
from gateway.phone import bridge, devices
from simphone.faults import FAULTS, Fault

TAP, PICTURE, LIST = "input tap*", "screencap -p", "*uiautomator*"
SOON_S = 3.0

MOMENTS: dict[str, dict[str, Any]] = {
    "link_drop": {"at": TAP, "skip": 1},
    "link_down": {"at": TAP, "skip": 1, "seconds": 0.5},
    "no_answer": {"at": TAP, "skip": 1},
    "answer_lost": {"at": TAP, "skip": 1},
    "auth_refused": {"at": "connect"},
    "auth_slow": {"at": "connect", "seconds": 0.3},
    "storage_full": {"at": LIST, "skip": 2},
    "slow_screen": {"skip": 4, "seconds": 0.5},
    "animation": {"skip": 2},
    "tap_dropped": {"at": TAP, "skip": 1},
    "input_denied": {"at": TAP, "skip": 1},
    "app_crash": {"at": TAP, "skip": 1},
    "app_anr": {"at": TAP, "skip": 1},
    "popup": {"at": TAP, "skip": 1, "text": "Battery low"},
    "screen_off": {"at": TAP, "skip": 1},
    "dump_huge": {"skip": 2, "bytes": 500},
}
"""When each acts; those that are not here act on the third picture or list."""

NEW_LINK = ("auth_refused", "auth_slow")  # act only where the link is made anew, which something else has to cause


class Darkening:
    """Switches dark theme on, deciding by the screen alone; gives up where the phone does not let it."""

    def __init__(self) -> None:
        self.decisions = 0

    def predict(self, instruction: str, obs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        self.decisions += 1
        tree = obs.get("accessibility_tree")
        return "", {"action": "wait", "seconds": 0.1} if tree is None else self._next(obs, tree)

    def _next(self, obs: dict[str, Any], tree: dict[str, Any]) -> dict[str, Any]:
        def there(text: str) -> dict[str, Any] | None:
            return next((each for each in tree["elements"] if each["text"].startswith(text)), None)

        for button in ("OK", "Close app"):
            if there(button):
                return {"action": "tap", "coordinate": place(obs, button)}
        if tree["package"] not in (SETTINGS, "android"):
            return {"action": "open_app", "app": "Settings"}
        switch = next((each for each in tree["elements"] if each["resource_id"] == "dark_theme"), None)
        if switch is not None:
            if "checked" in switch["state"]:
                return {"action": "FINISH", "reason": "dark"}
            return {"action": "tap", "coordinate": place(obs, "dark_theme")}
        if there("Display"):
            return {"action": "tap", "coordinate": place(obs, "Display")}
        return {"action": "back"}


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Little patience with a phone that does not answer, and no reader of pictures, which takes seconds."""

    def unreadable(*_: object) -> None:
        raise HierarchyUnreadable("no reader of pictures is installed")

    for name in ("elements", "with_picture"):
        monkeypatch.setattr(f"gateway.phone.ocr.{name}", unreadable)
    monkeypatch.setattr(bridge, "ACT_S", SOON_S)
    monkeypatch.setattr(bridge, "READ_S", SOON_S)
    monkeypatch.setitem(bridge.Bridge.observe.__kwdefaults__, "deadline_s", 3 * SOON_S)
    monkeypatch.setattr(devices, "AUTHORISING_S", 0.5)
    monkeypatch.setattr(devices, "reconnect", partial(devices.reconnect, limit_s=SOON_S))
    monkeypatch.setattr("gateway.phone.task.perceive.LONGEST_S", 1.0)
    yield


def is_dark(tasks: Tasks) -> bool:
    return bool(tasks.phone.state()["settings"]["secure"].get("ui_night_mode") == "2")


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_in_the_middle_of_a_task(tasks: Tasks, name: str) -> None:
    moment = MOMENTS.get(name, {"skip": 2})
    if name in NEW_LINK:
        tasks.phone.faults.add(Fault("link_drop", at=TAP, skip=1))
    tasks.phone.faults.add(Fault(name, **moment))
    ran = await tasks.run(Darkening(), patience=1.0, limits={"max_steps": 12}, app="Settings")
    assert any(each.startswith(name) for each in tasks.phone.faults.acted), "it acted"
    assert ran.ended == ("complete", "success"), (ran.task.error, ran.results)
    assert is_dark(tasks)
    assert ran.trajectory["total_steps"] == len(ran.task.steps) >= 1
    assert ran.results[0] == (True, "") and ran.has_pictures()
    replayed = await tasks.gateway.replay(ran.task.run_id)
    assert replayed.finished and replayed.differing == []


STAYS: dict[str, tuple[str, tuple[str, str], int]] = {
    "link_drop": (PICTURE, ("failed", "error:device_lost"), 4),
    "auth_refused": ("connect", ("failed", "error:device_unauthorized"), 4),
    "screenshot_cut": (PICTURE, ("stopped", "budget:restarts"), 3),
    "tap_dropped": ("input *", ("stopped", "budget:steps"), 3),
    "input_denied": ("input *", ("stopped", "budget:steps"), 3),
    "app_crash": (TAP, ("stopped", "budget:restarts"), 3),
    "dump_null_root": (LIST, ("stopped", "budget:steps"), 3),
    "black_screenshot": ("*", ("complete", "success"), 0),
    "animation": ("screencap*", ("complete", "success"), 0),
}


class Unlucky(Darkening):
    """When it decides for the second time, something goes wrong, and stays so."""

    def __init__(self, tasks: Tasks, *faults: Fault) -> None:
        super().__init__()
        self.tasks = tasks
        self.faults = faults

    def predict(self, instruction: str, obs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        if self.decisions == 1:
            for each in self.faults:
                self.tasks.phone.faults.add(each)
        return super().predict(instruction, obs)


@pytest.mark.slow  # two minutes
@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("name", STAYS)
async def test_a_fault_that_stays(tasks: Tasks, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The exit code says what it is, nothing is lost, and without the fault the task goes on."""
    monkeypatch.setattr("gateway.phone.task.beginning.MAX_RESTARTS", 0)
    at, ended, code = STAYS[name]
    faults = [Fault(name, at=at, times=0), *([Fault("link_drop", at=TAP)] if name in NEW_LINK else [])]
    steps = 6 if code == 0 else 3
    ran = await tasks.run(Unlucky(tasks, *faults), patience=0.3, limits={"max_steps": steps}, app="Settings")
    assert (ran.ended, exit_code(ran.task)) == (ended, code), (ran.task.error, ran.results)
    assert ran.results[0] == (True, "")
    assert ran.trajectory["total_steps"] == len(ran.task.steps) and ran.has_pictures()
    assert (ran.trajectory["status"], ran.trajectory["stop_reason"]) == ended
    if ended[0] == "failed":
        assert ran.task.error and ran.task.hint
        tasks.phone.faults.clear()
        assert (await tasks.resumed(ran, Darkening())).ended == ("complete", "success")
        assert is_dark(tasks)
