"""A turn under way, and those who follow it."""

from __future__ import annotations

import asyncio

import pytest

from echelon.server.problem import Problem
from echelon.server.reply import Reply
from echelon.server.work import Work
from gateway.stream import Notice, OnEvent, TurnEvent

REPLY = Reply("s", 1, "01", "complete", "Hi")


class Turn:
    """Tells one event, and ends when it may."""

    def __init__(self) -> None:
        self.may_end = asyncio.Event()

    async def __call__(self, tell: OnEvent) -> Reply:
        tell(Notice("one"))
        await self.may_end.wait()
        tell(Notice("two"))
        return REPLY


async def all_of(work: Work) -> list[TurnEvent | None]:
    with work.followed():
        return [event async for event in work.events(60)]


async def test_who_comes_later_is_told_everything() -> None:
    turn = Turn()
    work = Work(turn)
    first = asyncio.create_task(all_of(work))
    await asyncio.sleep(0)
    second = asyncio.create_task(all_of(work))
    await asyncio.sleep(0)
    turn.may_end.set()
    assert await first == await second == [Notice("one"), Notice("two")]
    assert await work.reply() == REPLY and not work.abandoned


async def test_silence_has_a_beat() -> None:
    turn = Turn()
    work = Work(turn)
    with work.followed():
        told = []
        async for event in work.events(0.001):
            told.append(event)
            if told.count(None) == 2:
                turn.may_end.set()
    assert told[:3] == [Notice("one"), None, None] and told[-1] == Notice("two")


async def test_it_is_left_when_the_last_follower_goes() -> None:
    work = Work(Turn())
    with work.followed():
        with work.followed():
            await asyncio.sleep(0)
        assert not work.abandoned
    assert work.abandoned
    with pytest.raises(Problem) as ended:
        await work.reply()
    assert (ended.value.status, ended.value.code) == (503, "interrupted")


async def test_what_it_raises_is_raised_to_each() -> None:
    async def fail(tell: OnEvent) -> Reply:
        raise Problem(400, "no")

    work = Work(fail)
    with work.followed():
        assert [event async for event in work.events(60)] == []
        for _ in range(2):
            with pytest.raises(Problem, match="no"):
                await work.reply()
