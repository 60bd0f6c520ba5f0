"""Specification 000, requirements “Execution Configuration and Tuning” and “Termination Conditions and Cleanup”: a test
by the name of each scenario. (Ctrl-C at the command itself: `tests/integration/cli`.)"""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
from task_lab import Follower
from tasks_of_lab import BACK, FINISH, INTO_DISPLAY, OPEN, SHAKE, WAIT, Held, Tasks, shaking

from gateway.engine.events import CALL_INTENDED, RUN_INTERRUPTED
from gateway.engine.ports import Effect
from gateway.errors import ActionFailed, ConfigError, UsageError
from gateway.phone.bridge import Bridge
from gateway.phone.lease import lease_name


def is_free(tasks: Tasks) -> bool:
    return not tasks.gateway.runs.store.held(lease_name(tasks.phone.serial), time.time())


async def test_configure_step_delay(tasks: Tasks) -> None:
    ran = await tasks.run([WAIT, FINISH], step_delay=0.3)
    settles = [each.data for each in ran.events if each.kind == CALL_INTENDED and each.data["op"] == "device.settle"]
    assert [each["args"]["delay"] for each in settles] == [0.0, 0.3], "after each action, not before the first look"
    assert ran.task.steps[0].timings_ms["settle"] >= 300


async def test_configure_max_steps_limit(tasks: Tasks) -> None:
    ran = await tasks.run([FINISH], limits={"max_steps": 100}, step_info=True)
    assert tasks.gateway.runs.store.run(ran.task.run_id).limits["steps"] == 100
    assert tasks.asked.seen[0]["max_steps"] == 100


@pytest.mark.parametrize("enabled", [True, False])
async def test_enable_disable_accessibility_tree(tasks: Tasks, enabled: bool) -> None:
    await tasks.run([FINISH], tree=enabled)
    assert ("accessibility_tree" in tasks.asked.seen[0]) is enabled


async def test_configure_retry_behavior(tasks: Tasks) -> None:
    tried: list[tuple[int, float]] = []

    def shake(bridge: Bridge) -> str:
        tried.append((bridge._calls.max_retries, bridge._calls.retry_delay))
        raise ActionFailed("Error: not now")

    await tasks.run([SHAKE, FINISH], extensions=shaking(shake), retries=3, retry_delay=0.01)
    assert tried == [(3, 0.01)] * 4, "of actions, and of what is read from the phone"


async def test_graceful_shutdown_on_success(tasks: Tasks) -> None:
    ran = await tasks.run([OPEN, FINISH])
    assert ran.ended == ("complete", "success")
    assert (ran.task.answer, ran.task.error, ran.trajectory["status"]) == ("done", None, "complete")
    assert ran.task.usage["steps"] == 2 and ran.task.usage["taps"] == 1
    assert is_free(tasks)
    assert not [each for each in threading.enumerate() if each.name.startswith(f"phone-{tasks.phone.serial}")]


async def test_graceful_shutdown_on_failure(tasks: Tasks) -> None:
    ran = await tasks.run([OPEN, {"action": "FINISH", "success": False, "reason": "no such setting"}])
    assert ran.ended == ("failed", "error:unfinished")
    assert (ran.task.error, ran.task.hint) == ("no such setting", "the trajectory shows how far it came")
    assert (ran.trajectory["error"], ran.trajectory["total_steps"]) == ("no such setting", 2)
    assert is_free(tasks)


async def test_interrupt_handling_ctrl_c(tasks: Tasks) -> None:
    agent = Held([OPEN, FINISH], after=1)
    working = asyncio.create_task(tasks.run(agent))
    await agent.reached.wait()
    working.cancel()
    await asyncio.wait([working])
    assert working.cancelled()
    ran = tasks.last()
    assert ran.ended == ("stopped", "user_cancelled")
    assert (ran.trajectory["status"], ran.trajectory["total_steps"]) == ("stopped", 1)
    [interrupted] = [each for each in ran.events if each.kind == RUN_INTERRUPTED]
    assert interrupted.at == pytest.approx(tasks.clock.now(), abs=60)
    assert is_free(tasks) and ran.has_pictures()
    agent.go_on.set()
    ended = await tasks.resumed(ran, Follower([FINISH]))
    assert (ended.ended, ended.actions) == (("complete", "success"), ["open_app", "FINISH"])


async def test_a_task_that_is_cancelled_ends_for_good(tasks: Tasks) -> None:
    agent = Held([OPEN, FINISH], after=1)
    working = asyncio.create_task(tasks.run(agent))
    await agent.reached.wait()
    assert await tasks.gateway.runs.cancel(tasks.last().task.run_id) is False, "its owner has been asked to"
    ran = await working
    agent.go_on.set()
    assert ran.ended == ("stopped", "user_cancelled")
    assert ran.trajectory["total_steps"] == 1 and is_free(tasks)


async def test_resource_cleanup_on_exception(tasks: Tasks) -> None:
    def explode(bridge: Bridge) -> str:
        raise RuntimeError("out of order")

    ran = await tasks.run([OPEN, SHAKE, FINISH], extensions=shaking(explode, effect=Effect.READ))
    assert ran.ended == ("failed", "error:internal")
    assert "RuntimeError: out of order" in (ran.task.error or "")
    assert [each["attempt"] for each in ran.decided("Act")][-3:] == [1, 2, 3]
    assert (ran.trajectory["status"], ran.trajectory["total_steps"]) == ("failed", 1)
    assert ran.has_pictures() and is_free(tasks)


async def test_what_cannot_begin_leaves_nothing_behind(tasks: Tasks) -> None:
    for wrong in ({"apk": "nowhere.apk"}, {"agent": "nonsense"}):
        with pytest.raises((UsageError, ConfigError)):
            await tasks.gateway.phones.run("Look around", tasks.options(**wrong), agent=None if "agent" in wrong else 1)
    assert tasks.gateway.runs.store.runs() == []


async def test_the_next_task_has_the_phone_at_once(tasks: Tasks) -> None:
    for script in ([OPEN, FINISH], [INTO_DISPLAY, BACK, FINISH]):
        assert (await tasks.run(script)).ended == ("complete", "success")
