"""Care in a task: predictions that cannot be used, loops, consequential acts, passwords."""

from __future__ import annotations

import pytest
from phone_lab import LAB
from task_lab import Follower
from tasks_of_lab import FINISH, LABORATORY, WAIT, Json, Tasks

from gateway.phone.task.news import PhoneEvent
from simphone.faults import Fault

FLY: Json = {"action": "fly"}
PRESS: Json = {"action": "tap", "on": "Press"}
DEAD: Json = {"action": "tap", "coordinate": [0.98, 0.9]}


def presses(tasks: Tasks) -> int:
    return [each["kind"] for each in tasks.phone.app_state(LAB)["events"]].count("press")


async def test_three_unusable_predictions_in_a_row_end_the_task(tasks: Tasks) -> None:
    ran = await tasks.run([LABORATORY, FLY, {"action": None}, {"action": "tap", "coordinate": [7, 7]}, FINISH])
    assert ran.ended == ("failed", "error:unfinished")
    assert "3 predictions in a row" in (ran.task.error or "") and "outside the screen" in (ran.task.error or "")
    assert ran.results == [(True, ""), *[(False, "unusable")] * 3]
    assert tasks.asked.asked == 4 and ran.trajectory["total_steps"] == 4


async def test_predictions_that_cannot_be_used_count_only_in_a_row(tasks: Tasks) -> None:
    ran = await tasks.run([FLY, FLY, WAIT, FLY, FLY, FINISH])
    assert ran.ended == ("complete", "success")
    notes = [each.get("note", "") for each in tasks.asked.seen]
    assert all('there is no action "fly"' in each for each in (notes[1], notes[2], notes[4]))
    assert not notes[0] and "fly" not in notes[3]


async def test_the_same_choice_on_the_same_screen_is_told_and_then_barred(tasks: Tasks) -> None:
    ran = await tasks.run([LABORATORY, DEAD, DEAD, DEAD, DEAD, FINISH], screen_change=False)
    assert ran.ended == ("complete", "success")
    assert [each.result.cause for each in ran.task.steps[3:5]] == ["loop", "unusable"]
    notes = [each.get("note", "") for each in tasks.asked.seen]
    assert "the screen was the same 3 times" in notes[4] and "barred here" in notes[5]
    assert ran.begun("device.act") == 3, "the app and two taps"


async def test_a_password_stays_out_of_the_trajectory(tasks: Tasks) -> None:
    secret = "correct horse 17"
    wrong = {"action": "type", "text": secret, "direction": "up"}
    typing = [*[{"action": "type", "text": secret}] * 4, wrong]
    script = [LABORATORY, {"action": "tap", "on": "Secret"}, *typing, FINISH]
    told: list[PhoneEvent] = []
    ran = await tasks.run(script, on_event=told.append)
    assert ran.results[2][0] is True
    assert {"loop", "unusable"} & {each.result.cause for each in ran.task.steps}, "also what was not done is kept"
    assert secret in tasks.phone.app_state(LAB)["values"]["secret"]
    assert secret not in str(told)
    assert secret not in (ran.task.folder / "trajectory.json").read_text()
    assert ran.trajectory["steps"][2]["action"] == {"action": "type", "text": "••••"}


async def test_what_was_typed_elsewhere_is_in_the_trajectory(tasks: Tasks) -> None:
    script = [LABORATORY, {"action": "tap", "on": "Name"}, {"action": "type", "text": "Ada"}, FINISH]
    ran = await tasks.run(script)
    assert ran.trajectory["steps"][2]["action"] == {"action": "type", "text": "Ada"}


@pytest.mark.parametrize(("answer", "done"), [("yes", 1), ("no", 0)])
async def test_with_confirm_a_person_is_asked_before_what_has_consequences(
    tasks: Tasks, answer: str, done: int
) -> None:
    ran = await tasks.run([LABORATORY, PRESS, FINISH], confirm=True, consequential=("Press",), patience=0.2)
    assert ran.task.waiting is not None and 'May this be done: tap button "Press"' in ran.task.waiting.question
    assert ran.task.waiting.options == ("yes", "no") and presses(tasks) == 0
    ended = await tasks.answered(ran, answer)
    assert ended.ended == ("complete", "success")
    assert presses(tasks) == done
    pressed = ended.task.steps[1]
    if done:
        assert pressed.consequential
    else:
        assert (pressed.result.ok, pressed.result.cause) == (False, "refused")
        assert "does not want this" in tasks.asked.seen[-1]["note"]
        assert ended.begun("device.act") == 1


async def test_what_has_consequences_is_tried_by_no_other_way(tasks: Tasks) -> None:
    tasks.phone.faults.add(Fault("tap_dropped", at="input tap*"))
    ran = await tasks.run([LABORATORY, PRESS, FINISH], consequential=("Press",), patience=0.2)
    assert ran.ended == ("complete", "success") and presses(tasks) == 0
    assert (ran.task.steps[1].consequential, ran.results[1]) == (True, (None, "unknown"))
    assert "Do not do it again" in tasks.asked.seen[-1]["note"]
    assert ran.begun("device.act") == 2


@pytest.mark.parametrize(("answer", "times"), [("no", 1), ("yes", 2)])
async def test_a_consequential_act_is_not_repeated_unasked(tasks: Tasks, answer: str, times: int) -> None:
    ran = await tasks.run([LABORATORY, PRESS, PRESS, FINISH], consequential=("Press",), patience=0.2)
    assert ran.task.waiting is not None
    assert 'This was done before, on this very screen: tap button "Press"' in ran.task.waiting.question
    assert presses(tasks) == 1
    assert (await tasks.answered(ran, answer)).ended == ("complete", "success")
    assert presses(tasks) == times


class Late(Follower):
    """While it decides for the second time, a dialog comes up."""

    def __init__(self, tasks: Tasks, script: list[Json]) -> None:
        super().__init__(script)
        self.faults = tasks.phone.faults

    def predict(self, instruction: str, obs: Json) -> tuple[str, Json]:
        if self.asked == 1:
            self.faults.add(Fault("popup", at="*uiautomator*", text="Battery low"))
        return super().predict(instruction, obs)


async def test_what_is_not_there_any_more_is_not_touched(tasks: Tasks) -> None:
    agent = Late(tasks, [LABORATORY, PRESS, FINISH])
    ran = await tasks.run(agent, consequential=("Press",), patience=0.2)
    assert (ran.results[1], presses(tasks)) == ((False, "moved"), 0)
    assert "is not there any more" in agent.seen[-1]["note"]
