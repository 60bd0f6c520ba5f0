"""Which session a request belongs to, and what answers a question."""

from __future__ import annotations

import asyncio
from pathlib import Path

from service import clarify, complete, served, spending

from gateway.stream import SessionBusy

TITLE = """### Task:
Generate a concise title.
### Output:
JSON format: { "title": "your concise title here" }
### Chat History:
<chat_history>
USER: How do I deploy to heron?
ASSISTANT: With care.
</chat_history>"""


async def test_a_conversation_is_a_session_also_over_restarts(tmp_path: Path) -> None:
    async with served(tmp_path, complete("First.\n\n  - a list")) as service:
        first = await service.ask("One")
    async with served(tmp_path, complete("Second.")) as service:
        shown = {"role": "assistant", "content": " First.\n- a list\n", "reasoning_content": "Plan: …"}
        messages = [{"role": "user", "content": [{"type": "text", "text": "One"}]}, shown]
        body = {"model": "echelon", "messages": [*messages, {"role": "user", "content": "Two"}]}
        second = await service.send("POST", "/chat/completions", json=body)
        assert second.place == (first.place[0], "2")
        assert "First." in service.model.asked[0]["messages"][-1]["content"]  # what the session knows


async def test_an_edited_or_unknown_beginning_starts_a_session_that_knows_it(tmp_path: Path) -> None:
    async with served(tmp_path, complete("Hello!")) as service:
        first = await service.ask("Hi")
        second = await service.ask("Hi", ("assistant", "Hello!"), "Two")
        regenerated = await service.ask("Hi", ("assistant", "Hello!"), "Two")
        edited = await service.ask("Hi", ("assistant", "Hello!"), "Three")
        unknown = await service.ask("I am Ada", ("assistant", "Good to know."), "Who am I?")
        other = await service.ask("Hi")
        assert second.place == (first.place[0], "2")
        sessions = {each.place[0] for each in (first, regenerated, edited, unknown, other)}
        assert len(sessions) == 5
        assert all(each.place[1] == "1" for each in (regenerated, edited, unknown, other))
        prompt = service.model.asked[4]["messages"][-1]["content"]
        assert "I am Ada" in prompt and "Good to know." in prompt


async def test_a_session_can_be_named(tmp_path: Path) -> None:
    async with served(tmp_path, complete()) as service:
        named = await service.ask("Hi", headers={"X-Echelon-Session": "work"})
        meta = await service.ask("Two", metadata={"session_id": "work"})
        assert [named.place, meta.place] == [("work", "1"), ("work", "2")]


async def test_a_question_is_the_answer_and_the_next_request_answers_it(tmp_path: Path) -> None:
    async with served(tmp_path, clarify("Which server?"), complete("Heron it is.")) as service:
        asked = await service.ask("Deploy")
        assert asked.content == "Which server?" and asked.body["choices"][0]["finish_reason"] == "stop"
        assert asked.body["echelon"]["status"] == "waiting_for_user"
        got = await service.ask("Deploy", ("assistant", "Which server?"), "heron")
        assert (got.content, got.place) == ("Heron it is.", asked.place)
        spent = [each.body["usage"]["total_tokens"] for each in (asked, got)]
        assert sum(spent) == sum(service.gateway.turn().usage[f"{kind}_tokens"] for kind in ("prompt", "completion"))
        again = await service.ask("Deploy", ("assistant", "Which server?"), "kestrel")
        assert again.place[0] != got.place[0]  # the question has its answer


async def test_an_approval_takes_its_options_and_nothing_else(tmp_path: Path) -> None:
    async with served(tmp_path, *spending()) as service:
        spent = tmp_path / "workspace/spent"
        asked = await service.ask("Spend a coin")
        assert asked.content.startswith("Run test.spend") and asked.content.endswith("(yes / no)")
        said = [("user", "Spend a coin"), ("assistant", asked.content)]
        for unclear in ("yes please", "y", "sure"):
            repeated = await service.ask(*said, unclear)
            assert (repeated.content, repeated.place, spent.exists()) == (asked.content, asked.place, False)
            assert repeated.body["usage"]["total_tokens"] == 0
        said += [("user", "sure"), ("assistant", asked.content)]
        got = await service.ask(*said, " Yes ")
        assert got.place == asked.place and got.content.startswith("I have spent a coin.")
        assert spent.read_text() == "x" and len(service.turns()) == 1


async def test_a_failed_turn_leaves_the_conversation_in_its_session(tmp_path: Path) -> None:
    async with served(tmp_path, complete("Hello!")) as service:
        first = await service.ask("Hi")
        service.model.script = [{"error": "ModelRefused"}]
        assert (await service.ask("Hi", ("assistant", "Hello!"), "Two")).status == 500
        service.model.script = [complete("Better.")]
        got = await service.ask("Hi", ("assistant", "Hello!"), "Two")
        assert got.place == (first.place[0], "3")


async def test_requests_of_a_session_wait_for_each_other(tmp_path: Path) -> None:
    async with served(tmp_path, clarify("Which?"), complete("That.")) as service:
        named = {"X-Echelon-Session": "work"}
        first = asyncio.create_task(service.ask("One", headers=named))
        await service.model.held()
        second = asyncio.create_task(service.ask("Two", headers=named, stream=True))
        await service.told(SessionBusy)
        assert len(service.model.asked) == 1
        service.model.open.set()
        assert (await first).content == "Which?"
        got = await second
        assert got.content == "That." and len(service.turns()) == 1  # the second one is the answer to the first
        assert "another request" in got.deltas[1]["reasoning_content"]


async def test_what_a_client_asks_by_itself_is_no_turn(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        whole = await service.ask(TITLE)
        streamed = await service.ask(TITLE, stream=True)
        assert whole.content == streamed.content == '{"title": "How do I deploy to heron?"}'
        assert streamed.done and service.turns() == [] and service.model.asked == []
