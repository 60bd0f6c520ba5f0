"""A shopping task that is interrupted at every place: whatever happens, the shop's own record has one order."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from dataclasses import replace
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
TAP, ORDER = "input tap *", 3  # of the taps, the one that orders comes after so many
GOES_ON = 8  # times that a task is resumed or answered


@pytest.fixture
def shop(phone: PhoneThread, adb: OwnAdb) -> PhoneThread:
    """With something in the basket, and connected."""
    again(phone)
    devices.connect(adb.server, phone.serial, Deadline(30))
    return phone


def again(phone: PhoneThread, **state: Any) -> None:
    """As it was delivered, with something in the basket."""
    phone.faults.clear()
    phone.reset()
    phone.set_app_state(SHOP, phone.app_state(SHOP) | BUYING | state)


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


def test_one_order_is_placed_where_the_link_drops_now_and_then(shop: PhoneThread, adb: OwnAdb, tmp_path: Path) -> None:
    assert asyncio.run(dropped(shop, adb, tmp_path, 3, 13)) > 4


@pytest.mark.slow  # eight minutes in all: the one above takes some of these calls, the next the one that matters most
@pytest.mark.parametrize("part", range(PARTS))
def test_one_order_is_placed_at_whichever_call_the_link_drops(
    shop: PhoneThread, adb: OwnAdb, tmp_path: Path, part: int
) -> None:
    assert asyncio.run(dropped(shop, adb, tmp_path, part, PARTS)) > 5


async def dropped(shop: PhoneThread, adb: OwnAdb, place: Path, first: int, each: int) -> int:
    """How many of the task's calls were cut off, one in each run."""
    async with gateway_in(place / "home") as gateway:
        for number in range(first, 400, each):
            again(shop)
            shop.faults.add(Fault("link_drop", skip=number))
            before = len(shop.faults.acted)
            task = await bought(gateway, shop, adb)
            acted = shop.faults.acted[before:]
            assert task.status is Status.COMPLETE, (number, acted, task.error, task.waiting)
            assert orders(shop) == 1, (number, acted)
            assert (await gateway.replay(task.run_id)).finished
            if not acted:
                return number // each
    raise AssertionError("the task has no end")


@pytest.mark.parametrize(
    ("fault", "slow"),
    [
        (Fault("link_drop", at=TAP, skip=ORDER), 50),
        (Fault("link_drop", at=TAP, skip=ORDER, bytes=60), 50),
        (Fault("link_down", at=TAP, skip=ORDER, seconds=1.5), 50),
        (Fault("answer_lost", at=TAP, skip=ORDER), 50),
        (Fault("answer_lost", at=TAP, skip=ORDER), 10_000),
    ],
    ids=lambda each: f"{each.name}-{each.bytes}" if isinstance(each, Fault) else str(each),
)
def test_an_order_whose_answer_is_lost_is_placed_once(
    shop: PhoneThread, adb: OwnAdb, tmp_path: Path, fault: Fault, slow: int
) -> None:
    """Delivered or not, on a screen that is quick or slow by ten seconds."""

    async def one() -> PhoneTask:
        again(shop, payment_delay_ms=slow)
        shop.faults.add(replace(fault))
        async with gateway_in(tmp_path / "home") as gateway:
            return await bought(gateway, shop, adb)

    task = asyncio.run(one())
    assert shop.faults.acted
    assert (task.status, orders(shop)) == (Status.COMPLETE, 1)


def killed(shop: PhoneThread, adb: OwnAdb, home: Path, plans: list[list[tuple[int, str]]]) -> list[dict[str, Any]]:
    place = {"serial": shop.serial, "test_url": shop.test_url, "adb_server": adb.server.address}
    program = [sys.executable, buying.__file__, str(home), json.dumps(place), json.dumps(plans)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_one_order_is_placed_where_the_process_is_killed_while_it_is(
    shop: PhoneThread, adb: OwnAdb, tmp_path: Path
) -> None:
    whole = killed(shop, adb, tmp_path / "whole", [[]])[0]
    assert (whole["orders"], whole["status"], whole["replay"]) == (1, "complete", [0, True])
    at = whole["ordering"]  # its intent; the next is its outcome
    check(killed(shop, adb, tmp_path / "killed", [[(at - 1, "after")], [(at, "after")], [(at + 1, "before")]]))


@pytest.mark.slow  # half an hour
@pytest.mark.parametrize("part", range(PARTS))
def test_one_order_is_placed_at_whichever_event_the_process_is_killed(
    shop: PhoneThread, adb: OwnAdb, tmp_path: Path, part: int
) -> None:
    whole = killed(shop, adb, tmp_path / "whole", [[]])[0]
    plans = [[(number, "after")] for number in range(part + 1, whole["appends"], PARTS)]
    check(killed(shop, adb, tmp_path / "killed", plans))


def check(outcomes: list[dict[str, Any]]) -> None:
    for each in outcomes:
        at = each["kills"]
        assert each["statuses"].count(-signal.SIGKILL) == 1, at
        assert (each["status"], each["orders"]) == ("complete", 1), at
        assert each["replay"] == [0, True] and each["pictures"] and each["gapless"], at
