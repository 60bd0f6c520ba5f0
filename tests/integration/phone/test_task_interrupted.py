"""A shopping task that is interrupted at every place: whatever happens, the shop's own record has one order."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import buying
import pytest
from phone_lab import OwnAdb
from task_lab import BUYING, SHOP, Shopper, gateway_in, quick

from gateway import Gateway
from gateway.engine.state import Status
from gateway.phone import devices
from gateway.phone.deadline import Deadline
from gateway.phones import PhoneTask
from simphone.background import PhoneThread
from simphone.faults import Fault

PARTS = 6
GOES_ON = 8  # times that a task is resumed or answered


@pytest.fixture
def shop(phone: PhoneThread, adb: OwnAdb) -> PhoneThread:
    """With something in the basket, and connected."""
    phone.set_app_state(SHOP, phone.app_state(SHOP) | BUYING)
    devices.connect(adb.server, phone.serial, Deadline(30))
    return phone


def orders(phone: PhoneThread, kind: str = "order") -> int:
    return sum(each["kind"] == kind for each in phone.app_log(SHOP))


async def to_the_end(gateway: Gateway, phone: PhoneThread, task: PhoneTask) -> PhoneTask:
    """Resumed, and answered as a person would who can see the shop's record."""
    for _ in range(GOES_ON):
        if task.status is Status.COMPLETE:
            return task
        if task.waiting is not None:
            known = "yes" if orders(phone) else "no"
            # What is asked is whether it happened, or whether it is to be done once more.
            wanted = known if "Did it happen" in task.waiting.question else "no" if known == "yes" else "yes"
            await gateway.runs.answer(task.run_id, wanted)
        task = await gateway.phones.resume(task.run_id)
    return task


async def bought(gateway: Gateway, phone: PhoneThread, adb: OwnAdb, **options: Any) -> PhoneTask:
    chosen = quick(phone.serial, adb.server.address, patience=1.0, **options)
    task = await gateway.phones.run("Buy what is in the basket, paid on delivery", chosen, agent=Shopper())
    return await to_the_end(gateway, phone, task)


@pytest.mark.parametrize("part", range(PARTS))
def test_one_order_is_placed_at_whichever_call_the_link_drops(
    shop: PhoneThread, adb: OwnAdb, tmp_path: Path, part: int
) -> None:
    async def sweep() -> Iterator[int]:
        reached = []
        async with gateway_in(tmp_path / "home") as gateway:
            for number in range(part, 400, PARTS):
                shop.faults.clear()
                shop.reset()
                shop.set_app_state(SHOP, shop.app_state(SHOP) | BUYING)
                shop.faults.add(Fault("link_drop", skip=number))
                before = len(shop.faults.acted)
                task = await bought(gateway, shop, adb)
                acted = shop.faults.acted[before:]
                assert task.status is Status.COMPLETE, (number, acted, task.error, task.waiting)
                assert orders(shop) == 1, (number, acted)
                assert (await gateway.replay(task.run_id)).finished
                if not acted:
                    return reached
                reached.append(number)
        raise AssertionError("the task has no end")

    assert len(list(asyncio.run(sweep()))) > 3


def killed(shop: PhoneThread, adb: OwnAdb, home: Path, plans: list[list[tuple[int, str]]]) -> list[dict[str, Any]]:
    place = {"serial": shop.serial, "test_url": shop.test_url, "adb_server": adb.server.address}
    program = [sys.executable, buying.__file__, str(home), json.dumps(place), json.dumps(plans)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("part", range(PARTS))
def test_one_order_is_placed_at_whichever_event_the_process_is_killed(
    shop: PhoneThread, adb: OwnAdb, tmp_path: Path, part: int
) -> None:
    whole = killed(shop, adb, tmp_path / "whole", [[]])[0]
    assert whole["orders"] == 1 and whole["status"] == "complete"
    plans = [[(number, "after")] for number in range(part + 1, whole["appends"], PARTS)]
    for each in killed(shop, adb, tmp_path / "killed", plans):
        at = each["kills"]
        assert each["statuses"].count(-signal.SIGKILL) == 1, at
        assert (each["status"], each["orders"]) == ("complete", 1), at
        assert each["replay"] == [0, True] and each["pictures"] and each["gapless"], at
