"""Specification 000, requirement “Autonomous Execution Loop”: a test by the name of each scenario."""

from __future__ import annotations

import pytest
from task_lab import Follower
from tasks_of_lab import BACK, FINISH, INTO_DISPLAY, OPEN, WAIT, Tasks

from gateway.phone.task.news import ActionChosen, PhoneEvent, StepTaken


async def test_execute_multi_step_task_to_completion(tasks: Tasks) -> None:
    ran = await tasks.run([OPEN, INTO_DISPLAY, BACK, FINISH])
    assert ran.ended == ("complete", "success")
    assert ran.actions == ["open_app", "tap", "back", "FINISH"]
    assert all(each.result.ok for each in ran.task.steps)
    assert (tasks.asked.asked, ran.task.decisions) == (4, 4)
    saved = ran.trajectory
    assert (saved["status"], saved["total_steps"], saved["task_goal"]) == ("complete", 4, "Look around")
    assert saved["duration_s"] == round(ran.task.usage["time_s"], 1)
    assert [each["thinking"] for each in saved["steps"]] == [f"step {number}" for number in range(1, 5)]


async def test_terminate_on_finish_action(tasks: Tasks) -> None:
    ran = await tasks.run([{"action": "FINISH", "reason": "Task completed successfully"}, OPEN])
    assert ran.ended == ("complete", "success")
    assert (tasks.asked.asked, ran.begun("device.act")) == (1, 0)
    assert ran.task.answer == "Task completed successfully"
    assert ran.trajectory["finished"] == {"success": True, "reason": "Task completed successfully"}
    assert tasks.gateway.runs.store.run(ran.task.run_id).limits["steps"] == 50


async def test_a_task_that_the_agent_gives_up_has_failed(tasks: Tasks) -> None:
    ran = await tasks.run([{"action": "terminate", "status": "fail", "reason": "there is no such app"}])
    assert ran.ended == ("failed", "error:unfinished")
    assert ran.task.error == "there is no such app" and ran.task.hint
    assert ran.trajectory["finished"]["success"] is False


async def test_terminate_on_max_steps_limit(tasks: Tasks) -> None:
    ran = await tasks.run([OPEN, WAIT, BACK, FINISH], limits={"max_steps": 3})
    assert ran.ended == ("stopped", "budget:steps")
    assert ran.actions == ["open_app", "wait", "back"]
    saved = ran.trajectory
    assert (saved["status"], saved["stop_reason"], saved["total_steps"]) == ("stopped", "budget:steps", 3)
    assert saved["steps"][2]["result"]["ok"] is True, "the last one is verified, too"
    assert ran.has_pictures()


async def test_progress_tracking_during_execution(tasks: Tasks) -> None:
    tasks.clock.tick = 0.01
    told: list[PhoneEvent] = []
    ran = await tasks.run([OPEN, INTO_DISPLAY, FINISH], limits={"max_steps": 9}, on_event=told.append)
    chosen = [each for each in told if isinstance(each, ActionChosen)]
    assert [each.decision for each in chosen] == [1, 2, 3]
    assert [(each.max_steps, each.thinking) for each in chosen][1] == (9, "step 2")
    assert [each.action["action"] for each in chosen] == ["open_app", "tap", "FINISH"]
    assert "Display" in chosen[1].target
    taken = [each for each in told if isinstance(each, StepTaken)]
    assert [each.step for each in taken] == list(ran.task.steps)
    left = [each.left_s for each in taken]
    assert all(each is not None and each > 0 for each in left)
    assert left[2] == pytest.approx(ran.task.usage["time_s"] / 3 * 6, rel=0.2), "at the pace of the steps so far"


async def test_an_agent_sees_each_screen_once(tasks: Tasks) -> None:
    """What verifies an act is what the next decision is made upon."""
    agent = Follower([OPEN, INTO_DISPLAY, FINISH])
    ran = await tasks.run(agent)
    assert ran.begun("device.observe") == agent.asked == 3
