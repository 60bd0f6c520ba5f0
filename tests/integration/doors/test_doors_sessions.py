"""What a request finds in its session: a turn that waits, failed, was killed, is under way, or was given up."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading

import pytest

from gateway import Gateway
from gateway.engine.state import Status
from gateway.stream import ModelAsked

from .door import WAIT_S, Door, Library, meanwhile
from .house import House
from .stub import MODEL, Stub, clarify, complete, held, refuses


def test_after_a_question_a_client_of_http_answers_and_others_begin_anew(door: Door, house: House, model: Stub) -> None:
    model.answers = [clarify()]
    asked = door.ask("Deploy")
    assert (asked.status, asked.response, asked.code) == ("waiting_for_user", "Which server?", door.code(6, 200))
    model.answers = [complete("Heron it is.")]
    ended = door.ask("heron")
    assert (ended.status, ended.response) == ("complete", "Heron it is.")
    assert ended.turn == door.code(2, 1)
    if not door.http:  # the question still waits
        answered = house.cli("runs", "answer", asked.run, "heron", "--json")
        assert answered.returncode == 0 and '"turn": 1' in answered.stdout
    assert door.ask("And now?").turn == door.code(3, 2)


def test_after_a_failure_the_session_goes_on_and_the_failed_turn_can_too(door: Door, model: Stub) -> None:
    model.answers = [refuses(401, "wrong key")]
    failed = door.ask("First")
    model.answers = [complete("Second.")]
    assert (door.ask("Then").turn, failed.turn) == (2, 1)
    model.answers = [complete("First.")]
    resumed = door.resume("First", failed)
    assert (resumed.turn, resumed.response) == (1, "First.")
    model.answers = [complete("Third.")]
    assert door.ask("At last").turn == 3


def test_after_a_kill_the_session_goes_on_and_the_killed_turn_can_too(door: Door, house: House, model: Stub) -> None:
    released = threading.Event()
    model.answers = [held(released, complete("Too late.")), complete("Second.")]
    process = house.cli.start("run", "First", "--session", "work", "--model", MODEL)
    assert model.reached.wait(WAIT_S)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    released.set()
    ended = door.ask("Then")
    assert (ended.status, ended.response, ended.turn) == ("complete", "Second.", 2)
    assert '"status": "interrupted"' in house.cli("turns", "list", "--json").stdout
    model.answers = [complete("First.")]
    resumed = house.cli("runs", "resume", _first(house), "--json")
    assert resumed.returncode == 0 and '"response": "First."' in resumed.stdout


def test_the_same_request_twice_at_once_is_two_turns_one_after_the_other(door: Door, house: House, model: Stub) -> None:
    """From two processes; of two of one server's clients see `test_server_repeats.py`."""
    released = threading.Event()
    model.answers = [held(released, complete("One.")), complete("Two.")]
    other = Library(house)
    first = meanwhile(other, "Hi")
    assert model.reached.wait(WAIT_S)
    threading.Timer(0.3, released.set).start()
    second = door.ask("Hi")
    assert (first.result(WAIT_S).response, second.response) == ("One.", "Two.")
    assert (first.result().turn, second.turn) == (1, 2)
    assert "Answer: One." in str(model.asked[1]["messages"])
    other.close()


@pytest.mark.parametrize("streamed", [False, True])
def test_who_gives_up_waiting_leaves_the_turn_to_be_resumed(house: House, model: Stub, streamed: bool) -> None:
    released = threading.Event()
    model.answers = [held(released, complete("Too late.")), complete("Next.")]

    async def give_up() -> None:
        async with Gateway(house.load()) as gateway:
            if streamed:
                async with contextlib.aclosing(gateway.stream("First", session="work")) as events:  # type: ignore[type-var]
                    async for event in events:
                        if isinstance(event, ModelAsked):
                            break
                    await asyncio.to_thread(model.reached.wait, WAIT_S)
            else:
                task = asyncio.create_task(gateway.run("First", session="work"))
                await asyncio.to_thread(model.reached.wait, WAIT_S)
                task.cancel()
                await asyncio.wait([task])
                assert task.cancelled()
            left = gateway.turns("work")[0]
            assert (left.status, left.stop_reason) == ("stopped", "user_cancelled")
            released.set()
            assert (await gateway.run("Then", session="work")).response == "Next."
            model.answers = [complete("First.")]
            turn = await gateway.resume(left.id)
            assert (turn.status, turn.response) == (Status.COMPLETE, "First.")

    asyncio.run(give_up())


def _first(house: House) -> str:
    async def run_id() -> str:
        async with Gateway(house.load()) as gateway:
            return gateway.turn(1, "work").run_id

    return asyncio.run(run_id())
