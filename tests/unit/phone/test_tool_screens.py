"""What a screen is as the result of a tool, and what a name from it means on the next one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.engine.artifacts import MemoryArtifacts
from gateway.engine.ports import LookFailed
from gateway.errors import NoDevice, NotNow
from gateway.phone.element import Bounds, Element
from gateway.phone.judging.look import Look
from gateway.phone.task.state import Seen
from gateway.phone.tools import acts
from gateway.phone.tools.acts import open_app, swipe, tap, type_text
from gateway.phone.tools.screen import data_of, described, find, name_of
from gateway.tools.registry import Situation, Tool, ToolContext

TEXTS = st.text(max_size=120)


def element(number: int, role: str = "button", text: str = "", **more: Any) -> Element:
    return Element(number, role, text, Bounds(0, number, 10, number + 1), **{"clickable": True, **more})


SEEN = Seen(look="a", state_id="b:c", package="org.shop", activity=".Main", size=(100, 200), png=None, elements="x")
SCREEN = (
    element(1, "text", "Basket", clickable=False),
    element(2, "field", hint="Name", editable=True),
    element(3, "button", "Pay"),
    element(4, "button", "Pay"),
    element(5, "button", "Later", state=("disabled",)),
)
LOOK = Look(SEEN, SCREEN)


@given(st.lists(st.tuples(st.sampled_from(["button", "text", "field"]), TEXTS), max_size=12))
def test_every_name_of_a_screen_means_its_element_there(said: list[tuple[str, str]]) -> None:
    elements = [element(number, role, text) for number, (role, text) in enumerate(said, 1)]
    for each in elements:
        assert find(name_of(each), elements) is each


@given(TEXTS)
def test_any_name_is_one_of_the_elements_or_none(name: str) -> None:
    found = find(name, SCREEN)
    assert found is None or found in SCREEN


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ('3 button "Pay"', 3),
        ('9 button "Later"', 5),
        ('9 button "Pay"', None),
        ('3 button "Buy"', None),
        ("4", 4),
        ("later", 5),
        ("pay", None),
        ('field "Name"', 2),
    ],
)
def test_a_name_holds_where_its_number_has_changed_and_only_one_is_called_so(name: str, number: int | None) -> None:
    found = find(name, SCREEN)
    assert (found.number if found else None) == number


def test_what_can_be_tapped_and_typed_into_is_named_and_what_is_disabled_is_not() -> None:
    data = data_of(LOOK)
    assert data["elements"] == ['2 field "Name"', '3 button "Pay"', '4 button "Pay"']
    assert data["fields"] == ['2 field "Name"'] and data["package"] == "org.shop"
    assert described(LOOK).startswith("In front: org.shop .Main\n1 text ")


def test_a_screen_that_cannot_be_read_is_no_list() -> None:
    assert "cannot be read: black" in described(Look(SEEN.model_copy(update={"unreadable": "black"}), None))


def narrowed(tool: Tool, *results: dict[str, Any]) -> dict[str, Any]:
    ctx = ToolContext(Path(), Path(), artifacts=None)  # type: ignore[arg-type]  # not needed for this
    return tool.schema(ctx, Situation("go", results=results))


def result(tool: str, **data: Any) -> dict[str, Any]:
    return {"tool": tool, "args": {}, "ok": True, "text": "", "data": data}


def test_what_is_not_on_the_last_screen_cannot_be_named() -> None:
    before, now = result("phone.screen", elements=["1 a"], fields=[]), result("phone.tap", elements=["2 b"], fields=[])
    other = result("file.list", elements=["3 c"])
    assert narrowed(tap, before, now, other)["properties"]["element"]["enum"] == ["2 b"]
    with pytest.raises(NotNow):
        narrowed(type_text, before, now)


@pytest.mark.parametrize("blind", [tap, type_text, swipe])
def test_nothing_is_touched_before_somebody_has_looked(blind: Tool) -> None:
    with pytest.raises(NotNow):
        narrowed(blind, result("file.list"))


def test_apps_are_those_that_there_are_where_they_are_known() -> None:
    assert "enum" not in narrowed(open_app)["properties"]["app"]
    assert narrowed(open_app, result("phone.screen", apps=["Clock"]))["properties"]["app"]["enum"] == ["Clock"]


async def test_an_act_in_doubt_waits_for_the_phone_where_it_cannot_be_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @asynccontextmanager
    async def gone(ctx: ToolContext) -> AsyncIterator[None]:
        raise NoDevice("no device is connected")
        yield

    monkeypatch.setattr(acts, "held", gone)
    assert tap.reconcile is not None
    with pytest.raises(LookFailed) as failed:
        await tap.reconcile(tap.parse({"element": "1 x"}), ToolContext(tmp_path, tmp_path, artifacts=MemoryArtifacts()))
    assert isinstance(failed.value.cause, NoDevice)
