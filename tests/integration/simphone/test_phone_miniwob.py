"""Pages that nobody here wrote, as an app: MiniWoB's tasks, with their reward on the test channel."""

from __future__ import annotations

import importlib.util
import json
import re
import urllib.request
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simphone.background import PhoneThread
from simphone.phone import Phone, PhoneOptions
from simphone.system.component import Component
from simphone.system.intent import Intent

PACKAGE = "org.simphone.app.html"


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PhoneThread]:
    found = importlib.util.find_spec("miniwob")
    assert found is not None and found.submodule_search_locations, "miniwob is not installed"
    pages = Path(found.submodule_search_locations[0]) / "html"
    with PhoneThread(PhoneOptions(tmp_path_factory.mktemp("phone"), apps=(str(pages),))) as phone:
        yield phone


def reward(phone: PhoneThread) -> dict[str, Any]:
    with urllib.request.urlopen(f"{phone.test_url}/reward") as answer:
        told: dict[str, Any] = json.load(answer)
    return told


def open_task(phone: PhoneThread, activity: str) -> None:
    component = Component(PACKAGE, PACKAGE + activity)

    async def start(phone: Phone) -> None:
        await phone.system.activities.stop_all()
        await phone.system.activities.start(component, Intent(component=component))

    phone.call(start)
    tap(phone, "START")


def tap(phone: PhoneThread, text: str) -> None:
    xml = phone.call(lambda phone: phone.display.hierarchy())
    node = next(each for each in ElementTree.fromstring(xml.encode()).iter("node") if each.get("text") == text)
    left, top, right, bottom = map(int, re.findall(r"\d+", node.get("bounds", "")))
    phone.call(lambda phone: phone.display.tap((left + right) / 2, (top + bottom) / 2))


def test_a_task_is_done_by_touch_and_its_reward_can_be_read(tasks: PhoneThread) -> None:
    open_task(tasks, ".MiniwobClickTestActivity")
    before = reward(tasks)
    assert before["done"] is False and "Click the button" in before["query"]
    tap(tasks, "Click Me!")
    after = reward(tasks)
    assert after["done"] is True and after["raw_reward"] == 1


def test_a_task_is_done_by_typing(tasks: PhoneThread) -> None:
    open_task(tasks, ".MiniwobEnterTextActivity")
    (wanted,) = re.findall(r'"(.+)"', reward(tasks)["query"])
    xml = tasks.call(lambda phone: phone.display.hierarchy())
    field = next(
        each for each in ElementTree.fromstring(xml.encode()).iter("node") if each.get("class", "").endswith("EditText")
    )
    left, top, right, bottom = map(int, re.findall(r"\d+", field.get("bounds", "")))
    tasks.call(lambda phone: phone.display.tap((left + right) / 2, (top + bottom) / 2))
    tasks.call(lambda phone: phone.display.insert_text(wanted, keys=True))
    tap(tasks, "Submit")
    assert reward(tasks)["raw_reward"] == 1
