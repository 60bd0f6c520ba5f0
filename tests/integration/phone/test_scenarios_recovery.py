"""Specification 000, requirement “Error Recovery and Retry Logic”: a test by the name of each scenario."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from phone_lab import START_S
from task_lab import Follower
from tasks_of_lab import BACK, FINISH, INTO_DISPLAY, OPEN, SHAKE, Ran, Tasks, shaking

from gateway.engine.events import CALL_INTENDED
from gateway.errors import ActionFailed
from gateway.phone import devices
from gateway.phone.bridge import Bridge
from gateway.phone.deadline import Deadline
from simphone.faults import Fault


class Failing:
    """An action that the phone answers with an error, so many times."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.tried = 0

    def run(self, bridge: Bridge) -> str:
        self.tried += 1
        if self.tried <= self.times:
            raise ActionFailed("Error: the service is not there yet")
        return "shaken"


def pauses(ran: Ran) -> list[float]:
    """Before each time that an action was tried again, in seconds."""
    intents = [each.data for each in ran.events if each.kind == CALL_INTENDED]
    return [each["args"]["delay"] for each in intents if "/pause#" in each["key"]]


async def test_retry_failed_action(tasks: Tasks) -> None:
    failing = Failing(2)
    ran = await tasks.run([SHAKE, FINISH], extensions=shaking(failing.run), retry_delay=0.02)
    assert ran.ended == ("complete", "success")
    assert failing.tried == 3
    assert pauses(ran) == [0.02, 0.04]
    assert ran.begun("device.observe") == 4, "each time it was looked whether the screen is the same"
    step = ran.trajectory["steps"][0]
    assert (step["retries"], step["result"]["ok"], step["result"]["note"]) == (2, True, "shaken")
    assert len(ran.failures("device.act")) == 0, "a refusal is an answer"


async def test_an_action_that_keeps_failing_is_told_to_the_agent(tasks: Tasks) -> None:
    failing = Failing(99)
    ran = await tasks.run([SHAKE, FINISH], extensions=shaking(failing.run), retries=1)
    assert failing.tried == 2
    assert ran.results[0] == (False, "failed")
    assert "the service is not there yet" in tasks.asked.seen[1]["note"]
    assert ran.trajectory["steps"][0]["error_screenshot"] == "error_001.png" and ran.has_pictures()


async def test_an_action_is_not_tried_again_on_another_screen(tasks: Tasks) -> None:
    failing = Failing(99)

    def leave(bridge: Bridge) -> str:
        bridge.start_app("Settings")
        return failing.run(bridge)

    await tasks.run([SHAKE, FINISH], extensions=shaking(leave))
    assert failing.tried == 1


class Unreliable(Follower):
    """Raises at these of its predictions."""

    def __init__(self, script: list[dict[str, Any]], *failing: int) -> None:
        super().__init__(script)
        self.failing = failing
        self.predictions = 0

    def predict(self, instruction: str, obs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        self.predictions += 1
        if self.predictions in self.failing:
            raise TimeoutError("the model did not answer")
        return super().predict(instruction, obs)


async def test_agent_prediction_failure(tasks: Tasks) -> None:
    agent = Unreliable([OPEN, FINISH], 2, 3)
    ran = await tasks.run(agent)
    assert ran.ended == ("complete", "success")
    assert agent.predictions == 4
    assert [each[0] for each in ran.failures("agent.predict")] == ["prediction_failed"] * 2
    assert "TimeoutError: the model did not answer" in ran.failures("agent.predict")[0][1]
    assert ran.task.decisions == 2, "no step is lost to it"


async def test_agent_prediction_failure_exhausts_its_retries(tasks: Tasks) -> None:
    agent = Unreliable([OPEN, FINISH], 2, 3, 4)
    ran = await tasks.run(agent)
    assert ran.ended == ("failed", "error:prediction_failed")
    assert agent.predictions == 4
    assert "the model did not answer" in (ran.task.error or "")
    assert ran.trajectory["total_steps"] == 1 and ran.trajectory["error"] == ran.task.error
    assert ran.has_pictures()
    assert (await tasks.resumed(ran)).ended == ("complete", "success"), "once it is there again"


async def test_device_disconnection_recovery(tasks: Tasks) -> None:
    tasks.phone.faults.add(Fault("link_down", at="screencap -p", skip=1, seconds=0.6))
    ran = await tasks.run([OPEN, INTO_DISPLAY, BACK, FINISH])
    assert tasks.phone.faults.acted
    assert ran.ended == ("complete", "success")
    assert ran.actions == ["open_app", "tap", "back", "FINISH"] and ran.begun("device.act") == 3
    assert devices.RECONNECT_S == 30


async def test_device_disconnection_that_lasts_aborts_the_task(tasks: Tasks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "reconnect", partial(devices.reconnect, limit_s=0.5))
    tasks.phone.faults.add(Fault("link_down", at="screencap -p", skip=1, seconds=2))
    ran = await tasks.run([OPEN, INTO_DISPLAY, FINISH])
    assert ran.ended == ("failed", "error:device_lost")
    assert "is not back after" in (ran.task.error or "") and ran.task.hint
    assert (ran.trajectory["status"], ran.trajectory["error"]) == ("failed", ran.task.error)
    monkeypatch.undo()
    devices.reconnect(tasks.adb.server, tasks.phone.serial, Deadline(START_S))
    ended = await tasks.resumed(ran)
    assert (ended.ended, ended.actions) == (("complete", "success"), ["open_app", "tap", "FINISH"])
    assert ended.begun("device.act") == 2 and ended.has_pictures(), "from where it was"


async def test_screen_state_validation(tasks: Tasks) -> None:
    tasks.phone.faults.add(Fault("tap_dropped", at="input *", times=2))
    ran = await tasks.run([OPEN, INTO_DISPLAY, INTO_DISPLAY, FINISH])
    assert ran.results == [(True, ""), (False, "dropped"), (False, "dropped"), (True, ""), (True, "")]
    tap, other = ran.task.steps[1:3]
    assert tap.action["action"] == "tap" and other.action["action"] == "swipe", "tried once by another way"
    assert tap.decision == other.decision
    assert "changed nothing" in tasks.asked.seen[2]["note"]


async def test_screen_state_validation_can_be_switched_off(tasks: Tasks) -> None:
    tasks.phone.faults.add(Fault("tap_dropped", at="input *", times=1))
    ran = await tasks.run([OPEN, INTO_DISPLAY, FINISH], screen_change=False)
    assert ran.results == [(True, ""), (None, ""), (True, "")]
