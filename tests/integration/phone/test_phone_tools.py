"""Single looks and acts on the phone, as tools: called by a person here, each call a turn of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from phone_lab import OwnAdb
from task_lab import BUYING, SETTINGS, SHOP

from gateway import Gateway, Settings, Turn
from gateway.engine.state import Status
from gateway.phone import devices
from gateway.phone.deadline import Deadline
from gateway.phone.task import beginning
from gateway.phone.task.beginning import options_of
from gateway.phone.tools.acts import open_app, press, screen, swipe, tap, type_text
from gateway.tools.registry import Registry
from simphone.background import PhoneThread
from simphone.faults import Fault


class Desk:
    """Calls one tool after the other."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self.turn: Turn | None = None

    async def __call__(self, name: str, **args: Any) -> dict[str, Any]:
        self.turn = await self.gateway.call_tool(name, args)
        return dict(self.gateway.results(self.turn)[0]) if self.turn.waiting is None else {}

    async def answer(self, text: str) -> dict[str, Any]:
        assert self.turn is not None
        self.turn = await self.gateway.answer(self.turn.run_id, text)
        return dict(self.gateway.results(self.turn)[0]) if self.turn.waiting is None else {}

    @property
    def question(self) -> str:
        return self.turn.waiting.question if self.turn is not None and self.turn.waiting is not None else ""


@pytest.fixture
def desk(phone: PhoneThread, adb: OwnAdb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """Without the pauses that people's phones need."""
    quick = {"step_delay": 0.0, "retry_delay": 0.02, "patience": 3.0}
    monkeypatch.setattr(beginning, "options_of", lambda settings, made=options_of: made(settings).with_(**quick))
    devices.connect(adb.server, phone.serial, Deadline(30))
    device = {"serial": phone.serial, "adb_server": adb.server.address}
    loaded = Settings.load(
        {"workspace": str(tmp_path), "device": device}, cwd=tmp_path, environ={"ECHELON_HOME": str(tmp_path / "home")}
    )
    tools = (screen, tap, type_text, swipe, press, open_app)
    gateway = Gateway(loaded, registry=lambda: Registry(tools))
    yield Desk(gateway)
    gateway.close()


def named(result: dict[str, Any], text: str, kind: str = "elements") -> str:
    return next(each for each in result["data"][kind] if text in each)


def orders(phone: PhoneThread) -> int:
    return sum(each["kind"] == "order" for each in phone.app_log(SHOP))


async def test_a_screen_is_looked_at_and_what_it_shows_is_tapped(desk: Desk, phone: PhoneThread) -> None:
    shown = await desk("phone.screen")
    assert shown["ok"] and "Settings" in shown["data"]["apps"] and "In front: " in shown["text"]
    opened = await desk("phone.open_app", app="Settings")
    assert opened["data"]["package"] == SETTINGS
    tapped = await desk("phone.tap", element=named(opened, "Display"))
    assert tapped["ok"] and tapped["data"]["changed"].startswith("on the phone: tap ")
    switched = await desk("phone.tap", element=named(tapped, "Dark theme"))
    assert switched["ok"] and phone.state()["settings"]["secure"]["ui_night_mode"] == "2"
    back = await desk("phone.press", button="back")
    assert back["ok"] and named(back, "Display")
    assert desk.turn is not None and desk.turn.usage["taps"] == 1


async def test_a_text_is_typed_into_the_field_that_is_named(desk: Desk) -> None:
    opened = await desk("phone.open_app", app="Notes")
    new = await desk("phone.tap", element=named(opened, "ote"))
    field = new["data"]["fields"][0]
    typed = await desk("phone.type", element=field, text="Käse 🧀")
    assert typed["ok"], typed["text"]
    assert "Käse 🧀" in typed["text"].partition("\n")[2]


async def test_what_is_not_on_the_screen_is_a_result_that_says_what_is(desk: Desk) -> None:
    await desk("phone.open_app", app="Settings")
    result = await desk("phone.tap", element='99 button "Launch rocket"')
    assert not result["ok"] and result["text"].startswith('99 button "Launch rocket" is not on the screen now')
    assert named(result, "Display") and desk.turn is not None and desk.turn.waiting is None


@pytest.fixture
def checkout(phone: PhoneThread) -> PhoneThread:
    phone.set_app_state(SHOP, phone.app_state(SHOP) | BUYING)
    return phone


async def to_the_order(desk: Desk) -> str:
    """The name of the button that places it."""
    shown = await desk("phone.open_app", app="Shop")
    for text in ("Basket", "Go to checkout", "Pay on delivery", "Place order"):
        while not any(text in each for each in shown["data"]["elements"]):
            shown = await desk("phone.swipe", direction="up")
        if text != "Place order":
            shown = await desk("phone.tap", element=named(shown, text)) or await desk.answer("yes")
    return named(shown, "Place order")


async def test_what_cannot_be_taken_back_is_asked_about_and_done_once_though_its_answer_is_lost(
    desk: Desk, checkout: PhoneThread
) -> None:
    button = await to_the_order(desk)
    assert await desk("phone.tap", element=button) == {} and orders(checkout) == 0
    assert desk.question.startswith("Run phone.tap") and "Place order" in desk.question
    refused = await desk.answer("no")
    assert refused["data"] == {"denied": True} and orders(checkout) == 0
    await desk("phone.tap", element=button)
    checkout.faults.add(Fault("answer_lost", at="*input tap*"))
    result = await desk.answer("yes")
    if not result:
        assert "Did it happen?" in desk.question
        result = await desk.answer("yes" if orders(checkout) else "no")
    assert desk.turn is not None and desk.turn.status is Status.COMPLETE
    assert result["ok"] and orders(checkout) == 1 and checkout.faults.acted[-1].startswith("answer_lost")
