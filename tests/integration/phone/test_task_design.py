"""Decisions of specification 002 that no scenario of 000 speaks of. (Of the command and its configuration:
`tests/integration/cli`; of agents as they are: `test_foreign_agents.py`.)"""

from __future__ import annotations

import asyncio

from tasks_of_lab import FINISH, INTO_DISPLAY, OPEN, Held, Tasks

from simphone.faults import Fault

WHICH = {"action": "ask_user", "question": "Which one?"}


async def test_a_screenshot_is_kept_of_each_failed_action(tasks: Tasks) -> None:
    tasks.phone.faults.add(Fault("tap_dropped", at="input *", times=2))
    ran = await tasks.run([OPEN, INTO_DISPLAY, FINISH])
    errors = [each["error_screenshot"] for each in ran.trajectory["steps"]]
    assert errors == [None, "error_002.png", "error_003.png", None]
    assert ran.has_pictures()


async def test_every_interaction_is_kept_and_replayed(tasks: Tasks) -> None:
    ran = await tasks.run([WHICH, WHICH, FINISH])
    ended = await tasks.answered(await tasks.answered(ran, "red"), "blue")
    steps = ended.trajectory["steps"]
    assert [each["action"]["question"] for each in steps[:2]] == ["Which one?"] * 2
    assert [each["result"]["note"] for each in steps[:2]] == ["the user answered: red", "the user answered: blue"]
    tasks.asked.asked = 0
    replayed = await tasks.gateway.replay(ended.task.run_id)
    assert replayed.finished and replayed.differing == []
    assert tasks.asked.asked == 0, "without the agent, the phone and the person"


async def test_a_phone_has_one_task_at_a_time(tasks: Tasks) -> None:
    agent = Held([FINISH], after=0)
    first = asyncio.create_task(tasks.run(agent))
    await agent.reached.wait()
    other = await tasks.run([OPEN, FINISH])
    agent.go_on.set()
    assert other.ended == ("failed", "error:device_busy") and other.task.hint
    assert other.begun("device.act") == 0
    assert (await first).ended == ("complete", "success")
    assert (await tasks.resumed(other)).ended == ("complete", "success"), "once it is free"
