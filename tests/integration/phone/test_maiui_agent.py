"""A class as MAI-UI has it, unmodified, carries out tasks on the simulated phone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from maiui_double import SCRIPTS
from phone_lab import OwnAdb
from task_lab import NOTES, SETTINGS, quick

from gateway import Gateway, Settings
from gateway.engine.state import Status
from gateway.phone.bridge import Bridge
from gateway.phone.task.state import TaskOptions
from simphone.background import PhoneThread

WIFI, NOTE, VERSION = "Turn Wi-Fi off", "Write a note about the cake", "Which Android version is this?"
SCRIPTS |= {
    WIFI: [
        {"action": "open", "text": "Settings"},
        {"action": "click", "on": "Network & internet"},
        {"action": "click", "on": "Internet"},
        {"action": "click", "on": "Wi-Fi"},
        {"action": "terminate", "status": "success"},
    ],
    NOTE: [
        {"action": "open", "text": "Notes"},
        {"action": "click", "on": "new_note"},
        {"action": "click", "on": "title"},
        {"action": "type", "text": "Käsekuchen"},
        {"action": "click", "on": "body"},
        {"action": "type", "text": "500 g Quark 🧀"},
        {"action": "system_button", "button": "back"},
        {"action": "terminate", "status": "success"},
    ],
    VERSION: [
        {"action": "open", "text": "Settings"},
        {"action": "click", "on": "About phone"},
        {"action": "wait"},
        {"action": "answer", "text": "14"},
    ],
}


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    said = {"ECHELON_MODEL": "openai/MAI-UI-8B", "ECHELON_API_BASE": "http://localhost:8000/v1"}
    settings = Settings.load(environ={"ECHELON_HOME": str(tmp_path / "home"), **said}, cwd=tmp_path)
    async with Gateway(settings) as opened:
        yield opened


@pytest.fixture
def options(phone: PhoneThread, bridge: Bridge, adb: OwnAdb) -> TaskOptions:
    return quick(phone.serial, f"127.0.0.1:{adb.port}", agent="maiui_double:MaiUiDouble")


async def test_it_switches_wifi_off(
    gateway: Gateway, options: TaskOptions, phone: PhoneThread, capsys: pytest.CaptureFixture[str]
) -> None:
    done = await gateway.phones.run(WIFI, options)
    assert (done.status, done.error) == (Status.COMPLETE, None)
    assert phone.phone.system.settings.get("global", "wifi_on") == "0"
    assert capsys.readouterr().out == ""


async def test_it_writes_a_note(gateway: Gateway, options: TaskOptions, phone: PhoneThread) -> None:
    done = await gateway.phones.run(NOTE, options)
    assert (done.status, done.error) == (Status.COMPLETE, None)
    notes = phone.app_state(NOTES)["notes"]
    assert [each["body"] for each in notes if each["title"] == "Käsekuchen"] == ["500 g Quark 🧀"]


async def test_it_answers_a_question(gateway: Gateway, options: TaskOptions) -> None:
    done = await gateway.phones.run(VERSION, options)
    assert (done.status, done.answer) == (Status.COMPLETE, "14")
    assert done.steps[-1].package == SETTINGS
    assert any(step.thinking == "look further" for step in done.steps), "it had to scroll"
