"""Turns in tasks of their own, sessions for those at once, and results that can be sent."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import anyio
import mcp_types as types
import pytest

from echelon.mcp_server import works as works_module
from echelon.mcp_server.lanes import AT_ONCE, Lanes
from echelon.mcp_server.questions import can_be_asked
from echelon.mcp_server.results import result
from echelon.mcp_server.works import Left, Works
from gateway import Gateway, Settings, Turn
from gateway.stream import Notice, OnEvent, TurnEvent

TURN = cast(Turn, object())


async def nothing(event: TurnEvent | None) -> None:
    pass


async def test_events_are_told_in_order_and_the_turn_is_given() -> None:
    told: list[TurnEvent | None] = []

    async def act(tell: OnEvent) -> Turn:
        tell(Notice("one"))
        await asyncio.sleep(0)
        tell(Notice("two"))
        return TURN

    async def tell(event: TurnEvent | None) -> None:
        told.append(event)

    assert await Works().carry_out(act, tell) is TURN
    assert told == [Notice("one"), Notice("two")]


async def test_where_nothing_happens_a_sign_of_life_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(works_module, "BEAT_S", 0.01)
    alive = asyncio.Event()

    async def act(tell: OnEvent) -> Turn:
        await alive.wait()
        return TURN

    async def tell(event: TurnEvent | None) -> None:
        assert event is None
        alive.set()

    assert await Works().carry_out(act, tell) is TURN


async def test_a_cancelled_turn_can_await_while_it_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK cancels by anyio's scopes, which would cancel each await of the leaving again."""
    monkeypatch.setattr(works_module, "LEAVE_S", 60.0)
    began, steps = asyncio.Event(), list[str]()

    async def act(tell: OnEvent) -> Turn:
        try:
            began.set()
            await asyncio.Event().wait()
        finally:
            for step in ("written", "released"):
                await asyncio.sleep(0.01)
                steps.append(step)
        return TURN

    async with anyio.create_task_group() as group:
        group.start_soon(Works().carry_out, act, nothing)
        await began.wait()
        group.cancel_scope.cancel()
    assert steps == ["written", "released"]


async def test_leaving_ends_all_and_says_so() -> None:
    works, began = Works(), asyncio.Event()

    async def act(tell: OnEvent) -> Turn:
        began.set()
        await asyncio.Event().wait()
        return TURN

    task = asyncio.create_task(works.carry_out(act, nothing))
    await began.wait()
    await works.leave()
    with pytest.raises(Left):
        await task


async def test_an_error_is_raised_to_who_waits() -> None:
    async def act(tell: OnEvent) -> Turn:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await Works().carry_out(act, nothing)


async def test_calls_at_once_have_sessions_of_their_own(tmp_path: Path) -> None:
    settings = Settings.load({}, environ={"ECHELON_HOME": str(tmp_path)}, cwd=tmp_path)
    async with Gateway(settings) as gateway:
        lanes, runs = Lanes(gateway.runs, "mcp"), gateway.runs
        async with lanes.free() as first, lanes.free() as second:
            assert (first, second) == ("mcp", "mcp-2")
        lease = await runs.store.acquire("session:mcp", f"{runs.owner}:another", runs.clock.now())
        async with lanes.free() as third:
            assert third == "mcp-2"
        await runs.store.release(lease)
        async with lanes.free() as fourth:
            assert fourth == "mcp"
        names: set[str] = set()
        full = asyncio.Event()

        async def call() -> None:
            async with lanes.free() as name:
                names.add(name)
                if len(names) == AT_ONCE:
                    full.set()
                await full.wait()

        await asyncio.gather(*(call() for _ in range(AT_ONCE + 4)))
        assert len(names) == AT_ONCE


def test_a_result_can_be_sent_whatever_it_holds() -> None:
    found = result("half \ud83d", ok=False, data={"\ud800": ["\udfff", 1]})
    assert found.model_dump_json() and found.is_error
    assert found.structured_content == {"ok": False, "text": "half ?", "data": {"?": ["?", 1]}}


@pytest.mark.parametrize(
    ("declared", "can"),
    [(None, False), ({}, False), ({"elicitation": {}}, True), ({"elicitation": {"url": {}}}, False)]
    + [({"elicitation": {"form": {}, "url": {}}}, True)],
)
def test_only_a_client_that_shows_forms_is_asked(declared: dict[str, Any] | None, can: bool) -> None:
    assert can_be_asked(types.ClientCapabilities.model_validate(declared) if declared is not None else None) is can
