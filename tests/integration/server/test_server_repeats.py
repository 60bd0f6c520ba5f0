"""Clients that vanish, retry, or ask the same twice: nothing is done twice, and nothing is lost."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest
from service import clarify, complete, plan, served, spending

RETRY = {"x-stainless-retry-count": "1"}


async def vanish(task: asyncio.Task[object]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("stream", [False, True])
async def test_the_same_request_goes_on_where_a_client_left_it(tmp_path: Path, stream: bool) -> None:
    async with served(tmp_path, complete("Done.")) as service:
        asked = asyncio.create_task(service.ask("Do it", stream=stream))
        await service.model.held()
        await vanish(asked)
        await service.left()
        assert service.gateway.turns()[0].status == "stopped"
    async with served(tmp_path, complete("Done.")) as service:
        got = await service.ask("Do it", stream=stream)
        assert got.content == "Done." and len(service.turns()) == 1
        later = await service.ask("Do it")
        assert later.place[0] != got.place[0]  # it had its answer: asked again, it is done again


async def test_the_same_words_long_after_are_a_new_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("echelon.server.talks.LEFT_S", -1.0)
    async with served(tmp_path, complete("Hello!")) as service:
        asked = asyncio.create_task(service.ask("Hello"))
        await service.model.held()
        await vanish(asked)
        await service.left()
        service.model.open.set()
        assert (await service.ask("Hello")).content == "Hello!" and len(service.turns()) == 2


async def test_an_answer_goes_on_where_a_client_left_it(tmp_path: Path) -> None:
    async with served(tmp_path, *spending()) as service:
        asked = await service.ask("Spend")
        said = ("Spend", ("assistant", asked.content), "yes")
        answered = asyncio.create_task(service.ask(*said))
        await service.model.held()
        await vanish(answered)
        await service.left()
        service.model.open.set()
        got = await service.ask(*said)
        assert got.content.startswith("I have spent") and got.place == asked.place
        assert (tmp_path / "workspace/spent").read_text() == "x"


async def test_an_answer_is_never_taken_for_another_question_s(tmp_path: Path) -> None:
    script = [clarify("Which server?"), clarify("Which port?"), complete("Fine.")]
    async with served(tmp_path, *script) as service:
        named = {"X-Echelon-Session": "work"}
        await service.ask("Deploy", headers=named)
        first = await service.ask("heron", headers=named)
        again = await service.ask("heron", headers={**named, **RETRY})
        assert first.content == again.content == "Which port?"


async def test_two_who_ask_the_same_at_once_get_the_same_turn(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace/a.txt").write_text("a")
    async with served(tmp_path, complete("Once.")) as service:
        first = asyncio.create_task(service.ask("Do it"))
        await service.model.held()
        second = asyncio.create_task(service.ask("Do it", stream=True, headers=RETRY))
        leaving = asyncio.create_task(service.ask("Do it"))
        await service.followed(by=3)
        await vanish(leaving)
        await vanish(first)
        service.model.open.set()
        got = await second
        assert got.content == "Once." and "Gather" in got.deltas[1]["reasoning_content"]
        assert len(service.turns()) == 1 and len(service.model.asked) == 1


async def test_who_retries_at_once_goes_on_with_what_was_left(tmp_path: Path) -> None:
    async with served(tmp_path, complete("Once.")) as service:
        asked = asyncio.create_task(service.ask("Do it"))
        await service.model.held()
        asked.cancel()
        retried = asyncio.create_task(service.ask("Do it", headers=RETRY))
        await asyncio.sleep(0.05)
        service.model.open.set()
        assert (await retried).content == "Once." and len(service.turns()) == 1


async def test_a_retry_is_sent_the_reply_that_it_missed(tmp_path: Path) -> None:
    async with served(tmp_path, complete("Once.")) as service:
        first = await service.ask("Do it")
        again = await service.ask("Do it", headers=RETRY)
        assert (again.content, again.place) == ("Once.", first.place) and len(service.turns()) == 1
        key = {"Idempotency-Key": "a-key"}
        keyed = await service.ask("Do it", headers=key)
        assert keyed.place != first.place
        assert (await service.ask("Do it", headers=key)).place == keyed.place
        refused = await service.ask("Do something else", headers=key)
        assert (refused.status, refused.body["error"]["code"]) == (400, "idempotency_key_reused")


async def test_a_retry_of_a_failed_turn_goes_on_with_it(tmp_path: Path) -> None:
    async with served(tmp_path, plan("x"), {"error": "ModelRefused", "repeat": 9}) as service:
        assert (await service.ask("Do it")).status == 500
        service.model.script = spending()
        got = await service.ask("Do it", headers=RETRY)
        assert got.content.startswith("Run test.spend") and len(service.turns()) == 1


async def test_a_session_that_was_forgotten_leaves_nothing_to_repeat(tmp_path: Path) -> None:
    async with served(tmp_path, complete("Once.")) as service:
        first = await service.ask("Do it")
        await service.gateway.forget_session(first.place[0])
        assert (await service.ask("Do it", headers=RETRY)).place[0] != first.place[0]
        text = (service.gateway.home / "chats.db").read_bytes()
        assert b"Do it" not in text and b"Once." not in text
