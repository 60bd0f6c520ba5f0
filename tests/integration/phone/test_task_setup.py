"""Specification 004: the nodes before the first look, and retries, backtracks, snapshots and determinism of the main
loop."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from phone_lab import LAB, LAB_APP
from task_lab import SETTINGS
from tasks_of_lab import BACK, FINISH, INTO_DISPLAY, OPEN, WAIT, Ran, Tasks

from gateway.engine.state import Status
from gateway.phone.bridge import Bridge
from gateway.phone.reading.focus import Focus
from gateway.phone.task import operations
from gateway.phone.task.news import ActionChosen, NodeFailed, PhoneEvent, StepTaken
from gateway.phone.task.state import MAX_RESTARTS
from simphone.faults import Fault

SETUP = ["EnsureDevice", "ProvisionApp", "LaunchOrAttach", "WaitIdle", "Perceive"]
STEP = ["ChooseAction", "Act", "WaitIdle", "Perceive", "Verify"]


def packed(folder: Path, package: str = LAB, version: str = "1.3") -> Path:
    """The laboratory as a file to install, under that name."""
    manifest = json.loads((LAB_APP / "manifest.json").read_text()) | {"package": package, "version_name": version}
    file = folder / "lab.apk"
    with zipfile.ZipFile(file, "w") as archive:
        for each in LAB_APP.iterdir():
            text = json.dumps(manifest) if each.name == "manifest.json" else each.read_text()
            archive.writestr(each.name, text)
    return file


def tried_again(ran: Ran, node: str) -> list[str]:
    return [each["decision"] for each in ran.decided(node)]


async def test_the_nodes_follow_each_other_as_specified(tasks: Tasks) -> None:
    ran = await tasks.run([OPEN, FINISH])
    assert ran.visited() == [*SETUP, *STEP, "ChooseAction", "Stop"]
    assert [each["attempt"] for each in ran.decided("Act")] == [1]


async def test_the_app_that_a_task_is_about_is_brought_to_the_front(tasks: Tasks) -> None:
    ran = await tasks.run([FINISH], app="Settings")
    assert ran.task.steps[0].package == SETTINGS
    assert ran.trajectory["app"] == SETTINGS


async def test_an_app_that_comes_as_a_file_is_installed_and_started(tasks: Tasks, tmp_path: Path) -> None:
    package = "org.example.fresh"
    ran = await tasks.run([FINISH], apk=str(packed(tmp_path, package)))
    assert ran.ended == ("complete", "success")
    assert ran.task.steps[0].package == package and ran.trajectory["app"] == package


async def test_an_app_that_the_phone_refuses_is_said_with_its_reason(tasks: Tasks, tmp_path: Path) -> None:
    file = tmp_path / "broken.apk"
    file.write_bytes(b"no archive")
    ran = await tasks.run([FINISH], apk=str(file))
    assert ran.ended == ("failed", "error:install")
    assert "INSTALL_" in (ran.task.error or "") and ran.task.hint
    assert tried_again(ran, "ProvisionApp") == ["terminal"], "trying again does not help"
    assert ran.trajectory["total_steps"] == 0 and ran.trajectory["device"]["serial"] == tasks.phone.serial


async def test_a_launch_that_is_cut_off_is_made_again(tasks: Tasks) -> None:
    tasks.phone.faults.add(Fault("link_drop", at="am start*"))
    ran = await tasks.run([FINISH], app="Settings")
    assert tasks.phone.faults.acted
    assert ran.ended == ("complete", "success")
    assert tried_again(ran, "LaunchOrAttach") == ["tryagain", "advance"]


async def test_an_installation_that_is_cut_off_is_made_again(tasks: Tasks, tmp_path: Path) -> None:
    tasks.phone.faults.add(Fault("link_drop", at="pm install*"))
    ran = await tasks.run([FINISH], apk=str(packed(tmp_path, "org.example.again")), app="org.example.again")
    assert tasks.phone.faults.acted
    assert ran.ended == ("complete", "success")
    assert ran.task.steps[0].package == "org.example.again"


async def test_three_attempts_with_growing_pauses_then_back_to_the_device(tasks: Tasks) -> None:
    tasks.phone.faults.add(Fault("link_drop", at="am start*", times=3))
    told: list[PhoneEvent] = []
    ran = await tasks.run([FINISH], app="Settings", on_event=told.append)
    assert ran.ended == ("complete", "success")
    assert tried_again(ran, "LaunchOrAttach") == ["tryagain", "tryagain", "backtrack", "advance"]
    assert ran.visited()[:8] == [*SETUP[:3], *["LaunchOrAttach"] * 2, *SETUP[:3]]
    assert ran.task.usage["restarts"] == 1
    first, second = [each["delay_ms"] for each in ran.decided("LaunchOrAttach") if "delay_ms" in each]
    assert 1000 <= first <= 1250 and 2000 <= second <= 2500
    assert sum(tasks.clock.slept) == pytest.approx((first + second) / 1000)
    assert [each.attempt for each in told if isinstance(each, NodeFailed)] == [1, 2]


async def test_an_app_that_does_not_come_to_the_front_is_said(tasks: Tasks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "IN_FRONT_S", 0.0)
    monkeypatch.setattr("gateway.phone.task.beginning.MAX_RESTARTS", 0)
    monkeypatch.setattr(Bridge, "foreground", lambda bridge: Focus("com.android.launcher3", ".Launcher"))
    ran = await tasks.run([FINISH], app="Settings")
    assert ran.ended == ("stopped", "budget:restarts")
    assert tried_again(ran, "LaunchOrAttach") == ["tryagain", "tryagain", "terminal"]
    assert "did not come to the front: com.android.launcher3 is there" in (ran.task.error or "")


async def test_an_app_that_crashes_is_started_again_as_often_as_the_budget_lets_it(
    tasks: Tasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.phone.task.beginning.MAX_RESTARTS", 1)
    tasks.phone.faults.add(Fault("app_crash", at="input swipe*", times=0))
    swipe = {"action": "swipe", "start": [0.5, 0.7], "end": [0.5, 0.3]}
    ran = await tasks.run([swipe, {"action": "tap", "on": "Close app"}, swipe, FINISH], app="Settings")
    assert ran.ended == ("stopped", "budget:restarts")
    assert ran.results == [(False, "app_gone"), (True, ""), (False, "app_gone")]
    assert ran.begun("device.restart") == 1
    assert "has to be started again" in tasks.asked.seen[1]["note"]
    assert tasks.asked.seen[2]["accessibility_tree"]["package"] == SETTINGS, "it is there again below the dialog"
    assert MAX_RESTARTS == 3


async def test_a_phone_that_is_off_is_switched_on(tasks: Tasks) -> None:
    async def off(phone: object) -> None:
        await phone.display.key(223)  # type: ignore[attr-defined]

    tasks.phone.call(off)
    ran = await tasks.run([OPEN, FINISH])
    assert ran.ended == ("complete", "success") and ran.results[0] == (True, "")


async def test_a_phone_that_is_not_there_is_said(tasks: Tasks) -> None:
    ran = await tasks.run([FINISH], serial="127.0.0.1:1")
    assert ran.ended == ("failed", "error:no_device")
    assert "127.0.0.1:1" in (ran.task.error or "") and ran.task.hint
    assert ran.trajectory["total_steps"] == 0


@pytest.mark.parametrize(("limit", "name", "steps"), [("max_taps", "taps", 2), ("max_time_s", "time_s", 1)])
async def test_budgets_stop_a_task_with_what_it_has(tasks: Tasks, limit: str, name: str, steps: int) -> None:
    tasks.clock.tick = 0.5
    ran = await tasks.run([OPEN, WAIT, BACK, OPEN, FINISH], limits={limit: 2 if name == "taps" else 60})
    assert ran.ended == ("stopped", f"budget:{name}")
    assert len(ran.task.steps) >= steps and ran.task.steps[0].result.ok is True
    assert ran.trajectory["stop_reason"] == f"budget:{name}" and ran.has_pictures()
    if name == "taps":
        assert ran.actions == ["open_app", "wait", "back"], "waiting touches nothing"


async def test_actions_outside_the_app_are_counted(tasks: Tasks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.phone.task.beginning.MAX_OFF_APP", 2)
    away = {"action": "home"}
    ran = await tasks.run([BACK, WAIT, {"action": "recent"}, away, FINISH], app="Settings")
    assert ran.ended == ("stopped", "budget:off_app_actions")
    assert ran.actions == ["back", "wait", "recent"], "the first was done in the app"


async def test_a_limit_that_is_raised_lets_a_stopped_task_go_on(tasks: Tasks) -> None:
    ran = await tasks.run([OPEN, BACK, FINISH], limits={"max_steps": 1})
    assert ran.task.status is Status.STOPPED
    again = await tasks.resumed(ran)
    assert again.ended == ("stopped", "budget:steps"), "a budget that is used up stays so"
    told: list[PhoneEvent] = []
    more = await tasks.resumed(ran, on_event=told.append, limits={"steps": 3})
    assert more.ended == ("complete", "success")
    assert more.actions == ["open_app", "back", "FINISH"]
    assert {each.max_steps for each in told if isinstance(each, ActionChosen | StepTaken)} == {3}
    assert (await tasks.gateway.runs.replay(ran.task.run_id)).finished


async def test_snapshots_are_written_after_every_node(tasks: Tasks) -> None:
    saved: list[tuple[int, int]] = []

    def told(event: PhoneEvent) -> None:
        if isinstance(event, StepTaken):
            last = tasks.last()
            saved.append((event.step.number, len(last.task.steps)))

    ran = await tasks.run([OPEN, BACK, FINISH], on_event=told)
    assert saved == [(1, 1), (2, 2), (3, 3)]
    assert ran.task.status is Status.COMPLETE


async def test_the_same_screens_lead_to_the_same_run(tasks: Tasks) -> None:
    script = [OPEN, INTO_DISPLAY, BACK, FINISH]
    ran = []
    for _ in range(2):
        tasks.phone.reset()
        ran.append(await tasks.run(script))
    one, other = ran
    assert one.visited() == other.visited()
    assert [each.state_id for each in one.task.steps] == [each.state_id for each in other.task.steps]
    assert [each.screenshot for each in one.task.steps] == [each.screenshot for each in other.task.steps]
    for each in ran:
        replayed = await tasks.gateway.replay(each.task.run_id)
        assert replayed.finished and replayed.differing == []
