"""An autonomous session whose iterations are tasks on the phone."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from phone_lab import OwnAdb
from test_phone_in_turn import TASK, deciding, gateway_in, is_dark

from gateway import Gateway
from gateway.loop.session import COMPLETED, INTERRUPTED, Session
from gateway.loop.state import LoopOptions
from gateway.phone.task.state import PhoneState
from simphone.background import PhoneThread

PHONE = LoopOptions(agent="phone")


def dark_by_adb(place: Path, phone: PhoneThread, adb: OwnAdb) -> str:
    """The condition: the phone itself says so."""
    host, _, port = adb.server.address.rpartition(":")
    asked = f"{shutil.which('adb')} -H {host} -P {port} -s {phone.serial} shell settings get secure ui_night_mode"
    place.mkdir()
    (place / "is-dark").write_text(f'#!/bin/sh\ntest "$({asked})" = 2\n')
    (place / "is-dark").chmod(0o755)
    return "command:./is-dark"


def actions(gateway: Gateway, session: str) -> list[str]:
    """What the session has done on the phone, in the one task that it has had there."""
    tasks = gateway.runs.store.runs(parent=session, graph="phone")
    assert len(tasks) <= 1
    for each in tasks:
        data = gateway.state(each).data
        assert isinstance(data, PhoneState)
        return [str(step.action["action"]) for step in data.steps]
    return []


async def test_a_session_works_on_a_phone_until_the_phone_says_so(
    connected: PhoneThread, adb: OwnAdb, tmp_path: Path
) -> None:
    assert not is_dark(connected)
    exits = [dark_by_adb(tmp_path / "w", connected, adb)]
    async with gateway_in(tmp_path / "w", connected, adb, deciding()) as gateway:
        session = await gateway.loops.start(TASK, exits=exits, options=PHONE)
        done = actions(gateway, session.run_id)
    assert (session.status, session.state.iteration, session.error) == (COMPLETED, 1, "")
    assert is_dark(connected) and done[0] == "open_app" and done[-1] == "FINISH"


async def test_an_interrupted_one_goes_on_with_the_same_task_on_the_phone(
    connected: PhoneThread, adb: OwnAdb, tmp_path: Path
) -> None:
    begun: list[Session] = []
    exits = [dark_by_adb(tmp_path / "w", connected, adb)]
    async with gateway_in(tmp_path / "w", connected, adb, deciding()) as gateway:
        starting = gateway.loops.start(TASK, exits=exits, options=PHONE, on_begin=begun.append)
        working = asyncio.create_task(starting)
        async with asyncio.timeout(60):
            while not (begun and len(actions(gateway, begun[0].run_id)) >= 2):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        working.cancel()
        await asyncio.wait([working])
        before = actions(gateway, begun[0].run_id)
        assert gateway.loops.session(begun[0].run_id).status == INTERRUPTED and not is_dark(connected)
    async with gateway_in(tmp_path / "w", connected, adb, deciding()) as gateway:
        session = await gateway.loops.resume(begun[0].run_id)
        after = actions(gateway, session.run_id)
    assert (session.status, session.state.iteration) == (COMPLETED, 1)
    assert is_dark(connected) and after[: len(before)] == before and after.count("open_app") == 1
