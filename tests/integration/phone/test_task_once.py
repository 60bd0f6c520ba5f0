"""An act is done once, and on what it was chosen for: after doubts, long thought, waits, and hands of others."""

from __future__ import annotations

from typing import Any

import pytest
from phone_lab import LAB
from task_lab import Follower
from tasks_of_lab import FINISH, LABORATORY, SHAKE, Json, Ran, Tasks, shaking

from gateway.errors import DeviceLost, DeviceTimeout
from gateway.phone import actions
from gateway.phone.agents.extensions import Extensions
from gateway.phone.bridge import Bridge
from gateway.phone.link import Link
from gateway.phone.task import operations, verify
from gateway.phone.task.news import PhoneEvent, StepTaken
from simphone.faults import Fault

PRESS: Json = {"action": "tap", "on": "Press"}
NAME: Json = {"action": "tap", "on": "Name"}
CAREFUL: dict[str, Any] = {"consequential": ("Press",), "patience": 0.2}
TAP = "input tap*"


def presses(tasks: Tasks) -> int:
    return [each["kind"] for each in tasks.phone.app_state(LAB)["events"]].count("press")


def touches(tasks: Tasks) -> int:
    return [each["kind"] for each in tasks.phone.app_state(LAB)["events"]].count("click")


def by_hand(tasks: Tasks, app: str = "Settings", text: str = "") -> None:
    """What somebody does with the phone meanwhile: opens an app, or types into the laboratory's field."""
    with Bridge(Link(tasks.adb.server, tasks.phone.serial)) as bridge:
        bridge.start_app(app)
        if text:
            seen = bridge.observe()
            field = next(each for each in seen.elements or () if each.resource_id == "name")
            bridge.perform(actions.Tap(coordinate=actions.Numbered(element=field.number)), seen)
            bridge.perform(actions.Type(text=text))


class Thinking(Follower):
    """While it makes a decision, somebody has the phone."""

    def __init__(self, tasks: Tasks, script: list[Json], during: int) -> None:
        super().__init__(script)
        self.tasks = tasks
        self.during = during

    def predict(self, instruction: str, obs: Json) -> tuple[str, Json]:
        said = super().predict(instruction, obs)
        if self.asked == self.during:
            by_hand(self.tasks)
        return said


async def doubtful_and_unreachable(tasks: Tasks, monkeypatch: pytest.MonkeyPatch) -> Ran:
    """A task that has failed because it could not look what became of its act."""

    async def cut(*_: object) -> None:
        raise DeviceLost("the link was cut")

    tasks.phone.faults.add(Fault("answer_lost", at=TAP))
    with monkeypatch.context() as patched:
        patched.setattr(operations._Acting, "_rested", cut)
        ran = await tasks.run([LABORATORY, PRESS, FINISH], **CAREFUL)
    assert ran.ended == ("failed", "error:device_lost") and presses(tasks) == 1
    return ran


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_a_doubt_is_settled_in_a_later_attempt(
    tasks: Tasks, monkeypatch: pytest.MonkeyPatch, elsewhere: bool
) -> None:
    """Whatever the phone shows by then: what is in doubt is asked, and not done again nor said not to have been."""
    ran = await doubtful_and_unreachable(tasks, monkeypatch)
    if elsewhere:
        by_hand(tasks)
    asked = await tasks.resumed(ran)
    assert asked.task.waiting is not None and "Did it happen" in asked.task.waiting.question
    ended = await tasks.answered(asked, "yes")
    assert ended.ended == ("complete", "success")
    assert presses(tasks) == 1
    assert ended.results[1][0] is not False


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_what_did_not_happen_is_done_only_where_it_was_chosen(
    tasks: Tasks, monkeypatch: pytest.MonkeyPatch, elsewhere: bool
) -> None:
    monkeypatch.setattr(operations, "OLD_RISKY_S", 0.0)
    tasks.phone.faults.add(Fault("link_drop", at=TAP))
    ran = await tasks.run([LABORATORY, PRESS, FINISH], **CAREFUL)
    assert ran.task.waiting is not None and "Did it happen" in ran.task.waiting.question
    by_hand(tasks, **({} if elsewhere else {"app": LAB}))
    ended = await tasks.answered(ran, "no")
    assert ended.ended == ("complete", "success")
    assert presses(tasks) == (1 if elsewhere else 2), "the first was delivered, in truth"
    assert (ended.results[1] == (False, "moved")) is elsewhere


async def test_what_a_person_agreed_to_is_not_done_on_another_content(tasks: Tasks) -> None:
    ran = await tasks.run([LABORATORY, PRESS, FINISH], confirm=True, **CAREFUL)
    assert ran.task.waiting is not None
    by_hand(tasks, LAB, "Ben")
    ended = await tasks.answered(ran, "yes")
    assert (ended.results[1], presses(tasks)) == ((False, "moved"), 0)


async def test_a_harmless_act_that_was_chosen_long_ago_is_done_only_where_it_was(
    tasks: Tasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "OLD_S", 0.0)
    ran = await tasks.run(Thinking(tasks, [LABORATORY, PRESS, FINISH], during=2))
    assert ran.results[:2] == [(True, ""), (False, "moved")]
    assert "not there any more" in ran.task.steps[1].result.note
    assert ran.task.usage["taps"] == 1, "what was not done is not counted"


async def test_what_takes_effect_late_is_not_done_by_another_way(tasks: Tasks) -> None:
    tasks.phone.faults.add(Fault("tap_dropped", at=TAP))

    def late(event: PhoneEvent) -> None:
        if isinstance(event, StepTaken) and event.step.result.cause == "dropped":
            by_hand(tasks, LAB, "Ada")

    ran = await tasks.run([LABORATORY, PRESS, FINISH], on_event=late)
    assert ran.results[1:3] == [(False, "dropped"), (False, "moved")]
    assert presses(tasks) == 0


async def test_what_nobody_knows_of_is_not_done_again_unasked_on_other_content(tasks: Tasks) -> None:
    typed = {"action": "type", "text": "Ada"}
    tasks.phone.faults.add(Fault("tap_dropped", at=TAP))
    ran = await tasks.run([LABORATORY, PRESS, NAME, typed, PRESS, FINISH], **CAREFUL)
    assert ran.results[1] == (None, "unknown")
    assert ran.task.waiting is not None and "nobody knows whether it happened" in ran.task.waiting.question
    assert presses(tasks) == 0


async def test_after_a_crash_nobody_knows_whether_it_happened(tasks: Tasks) -> None:
    tasks.phone.faults.add(Fault("app_crash", at=TAP))
    ran = await tasks.run([LABORATORY, PRESS, FINISH], **CAREFUL)
    assert ran.results[1] == (None, "app_gone")
    assert "Do not do it again" in tasks.asked.seen[-1]["note"]


async def test_what_is_seen_long_after_proves_nothing(tasks: Tasks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "LONG_S", -1.0)
    ran = await tasks.run([LABORATORY, NAME, FINISH], consequential=("Name",), patience=0.2)
    assert ran.results[1] == (None, "unknown")


class Redirecting:
    """Middleware that does something else than was chosen."""

    def __init__(self) -> None:
        self.instead: Json = {"action": "tap", "coordinate": [0.98, 0.9]}

    def before_act(self, action: Json) -> Json:
        return self.instead if action["action"] == "tap" else action


async def test_what_middleware_has_made_of_an_act_is_not_repeated_unasked(tasks: Tasks) -> None:
    tasks.phone.faults.add(Fault("link_drop", at=TAP))
    ran = await tasks.run(
        [LABORATORY, PRESS, FINISH], patience=0.2, extensions=Extensions.of(middleware=[Redirecting()])
    )
    assert ran.task.waiting is not None and "Did it happen" in ran.task.waiting.question


async def test_an_action_of_several_parts_is_not_begun_again_unasked(tasks: Tasks) -> None:
    def in_part(bridge: Bridge) -> str:
        bridge.perform(actions.Tap(coordinate=(0.98, 0.9)))
        raise DeviceTimeout("the phone was busy", performed=False)  # so it says of the second part

    ran = await tasks.run([LABORATORY, SHAKE, FINISH], extensions=shaking(in_part))
    assert ran.task.waiting is not None and "Did it happen" in ran.task.waiting.question
    assert touches(tasks) == 1
