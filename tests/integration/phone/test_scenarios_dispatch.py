"""Specification 000, requirement “Action Dispatch and Execution”: a test by the name of each scenario."""

from __future__ import annotations

from phone_lab import LAB
from task_lab import SETTINGS
from tasks_of_lab import BACK, FINISH, INTO_DISPLAY, LABORATORY, OPEN, Tasks

from gateway.phone.task.state import TaskOptions


async def test_execute_tap_action(tasks: Tasks) -> None:
    ran = await tasks.run([OPEN, INTO_DISPLAY, FINISH])
    tap = ran.trajectory["steps"][1]
    (x, y), (width, height) = tap["action"]["coordinate"], tap["size"]
    assert tap["pixel"] == [int(x * width), int(y * height)]
    assert tap["result"]["how"] == f"input tap {tap['pixel'][0]} {tap['pixel'][1]}"
    assert tap["result"]["ok"] is True and set(tap["timings_ms"]) == {"perceive", "predict", "act", "settle"}
    assert ran.task.steps[2].screenshot != ran.task.steps[1].screenshot, "it was waited for"
    assert TaskOptions().step_delay == 0.5


async def test_execute_swipe_action(tasks: Tasks) -> None:
    swipe = {"action": "swipe", "start": [0.5, 0.8], "end": [0.5, 0.2], "duration": 300}
    ran = await tasks.run([OPEN, swipe, FINISH])
    done = ran.trajectory["steps"][1]
    width, height = done["size"]
    start, end = [width // 2, int(0.8 * height)], [width // 2, int(0.2 * height)]
    assert done["pixel"] == [start, end]
    assert done["result"]["how"] == "input swipe {} {} {} {} 300".format(*start, *end)
    assert done["result"]["ok"] is True
    assert ran.task.steps[2].screenshot != ran.task.steps[1].screenshot


async def test_execute_type_action(tasks: Tasks) -> None:
    text = "Käse & 'Brot' 🧀"
    ran = await tasks.run([LABORATORY, {"action": "tap", "on": "Name"}, {"action": "type", "text": text}, FINISH])
    assert ran.results[:3] == [(True, "")] * 3
    assert tasks.phone.app_state(LAB)["values"]["name"] == text
    assert ran.task.steps[2].action["text"] == text


async def test_execute_navigation_action(tasks: Tasks) -> None:
    ran = await tasks.run([OPEN, INTO_DISPLAY, BACK, {"action": "home"}, {"action": "recent"}, FINISH])
    assert ran.results[2:5] == [(True, "")] * 3
    assert [each.result.how for each in ran.task.steps[2:5]] == [f"input keyevent {key}" for key in (4, 3, 187)]
    assert [each.package == SETTINGS for each in ran.task.steps[2:5]] == [True, True, False]
    assert len({each.screenshot for each in ran.task.steps[2:6]}) == 4, "each was seen"


async def test_invalid_action_handling(tasks: Tasks) -> None:
    ran = await tasks.run([{"action": "fly", "to": "Rome"}, FINISH])
    wrong = ran.trajectory["steps"][0]
    assert (wrong["result"]["ok"], wrong["result"]["cause"]) == (False, "unusable")
    assert 'there is no action "fly"' in wrong["result"]["note"]
    assert all(name in wrong["result"]["note"] for name in ("tap", "swipe", "ask_user", "FINISH"))
    assert wrong["action"] == {"action": "fly", "to": "Rome"}
    assert tasks.asked.seen[1]["note"] == wrong["result"]["note"], "it can correct itself"
    assert ran.task.steps[0].screenshot == ran.task.steps[1].screenshot
    assert (ran.ended, ran.task.usage["steps"]) == (("complete", "success"), 2)
