"""Actions of one's own, and middleware: from Python, and from installed packages."""

from __future__ import annotations

import importlib.metadata
from importlib.metadata import EntryPoint
from typing import Any

import pytest
from pydantic import BaseModel, Field

from gateway.engine.ports import Effect
from gateway.errors import ConfigError
from gateway.phone.agents import extensions
from gateway.phone.agents.extensions import ACTIONS, MIDDLEWARE, CustomAction, Extensions, installed


class Angle(BaseModel):
    degrees: int


class Confusing(BaseModel):
    what: str = Field(alias="action")


def action(name: str, args: type[BaseModel] = Angle) -> CustomAction:
    return CustomAction(name, "turns it", args, lambda bridge, given: "turned", Effect.IDEMPOTENT)


class Noting:
    """Middleware with some of the methods."""

    def before_predict(self, obs: dict[str, Any]) -> dict[str, Any]:
        return {**obs, "seen": True}

    def before_act(self, action: dict[str, Any]) -> dict[str, Any] | None:
        return None if action["action"] == "home" else {**action, "noted": 1 + action.get("noted", 0)}


class Counting:
    def __init__(self) -> None:
        self.results: list[dict[str, Any]] = []

    def after_act(self, action: dict[str, Any], result: dict[str, Any]) -> None:
        self.results.append(result)


ROTATE = action("rotate")
PINCH = [action("pinch"), action("spread")]
NOTHING = object()


def raises() -> None:
    raise RuntimeError("bad package")


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    """What is installed, for a test."""
    there: list[EntryPoint] = []
    monkeypatch.setattr(
        importlib.metadata, "entry_points", lambda group: [each for each in there if each.group == group]
    )
    return there


def entry(group: str, name: str) -> EntryPoint:
    return EntryPoint(name, f"{__name__}:{name}", group)


def test_without_packages_there_is_nothing() -> None:
    assert installed() == Extensions()


def test_packages_add_actions_and_middleware(packages: list[EntryPoint]) -> None:
    packages += [entry(ACTIONS, "ROTATE"), entry(ACTIONS, "PINCH"), entry(MIDDLEWARE, "Noting")]
    found = installed()
    assert list(found.actions) == ["pinch", "spread", "rotate"]
    assert isinstance(found.middleware[0], Noting), "a class is made one"
    assert found.left_out == ()


@pytest.mark.parametrize(
    ("group", "name", "why"),
    [
        (ACTIONS, "not_there", "AttributeError"),
        (ACTIONS, "NOTHING", "TypeError"),
        (ACTIONS, "raises", "TypeError"),
        (MIDDLEWARE, "NOTHING", "is no middleware"),
    ],
)
def test_a_broken_package_costs_what_it_adds_only(packages: list[EntryPoint], group: str, name: str, why: str) -> None:
    packages += [entry(group, name), entry(ACTIONS, "ROTATE")]
    found = installed()
    assert list(found.actions) == ["rotate"]
    assert len(found.left_out) == 1 and name in found.left_out[0] and why in found.left_out[0]


def test_two_packages_with_one_name_for_an_action(packages: list[EntryPoint]) -> None:
    packages += [entry(ACTIONS, "PINCH"), EntryPoint("Z", f"{__name__}:PINCH", ACTIONS)]
    found = installed()
    assert list(found.actions) == ["pinch", "spread"]
    assert "two custom actions are called pinch" in found.left_out[0]


@pytest.mark.parametrize("name", ["tap", "FINISH", "mcp_call", ""])
def test_an_action_of_the_phones_own_cannot_be_replaced(name: str) -> None:
    with pytest.raises(ConfigError):
        action(name)


def test_an_action_needs_its_name_for_itself() -> None:
    with pytest.raises(ConfigError, match="no field called `action`"):
        action("rotate", Confusing)


def test_what_has_no_hook_is_no_middleware() -> None:
    with pytest.raises(ConfigError, match="it has none of before_predict"):
        Extensions.of(middleware=[object()])


def test_middleware_is_called_in_its_order_where_it_has_the_method() -> None:
    counting = Counting()
    both = Extensions.of(middleware=[Noting()]).with_(Extensions.of([ROTATE], [Noting(), counting]))
    assert both.before_predict({"screenshot": 1}) == {"screenshot": 1, "seen": True}
    assert both.after_predict({"action": "tap"}, {}) == {"action": "tap"}
    assert both.before_act({"action": "back"}) == {"action": "back", "noted": 2}
    assert both.before_act({"action": "home"}) is None, "it is not to be done"
    both.after_act({"action": "back"}, {"ok": True})
    assert counting.results == [{"ok": True}]


def test_the_names_of_the_phones_own_actions_are_known() -> None:
    assert {"tap", "swipe", "FINISH", "mcp_call", "ask_user", "answer", "open_app", "wait"} <= set(extensions.KNOWN)
