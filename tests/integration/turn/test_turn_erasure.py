"""What was forgotten is gone from every file of the home, and the turns that had it can still be replayed."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from workbench import Bench, answer, clarify, complete, plan

from gateway import Gateway
from gateway.engine.state import Status
from gateway.errors import Erased, StoreError
from gateway.tools.builtin.memory import memory_forget, memory_save, memory_search, memory_update
from gateway.tools.memories import Memories

FACT = 'Remember that my PIN for "Häuser & Söhne" is 471199'
MEMORY = (memory_forget, memory_save, memory_search, memory_update)


@pytest.fixture
def house(bench: Bench) -> Bench:
    bench.tools = MEMORY
    return bench


def remember(fact: str = FACT) -> list[Any]:
    """A turn that saves its own request, and says so in other words."""
    return [
        plan("remember that the user's PIN is 471199", task_type="memory_op"),
        {"answer": {"decision": {"reasoning": f"to be remembered: {fact}", "action": "CALL_TOOL",
                                 "tool": {"name": "memory.save", "args": {}}}}},
        answer(f"I will remember: {fact}."),
    ]  # fmt: skip


def left(home: Path, *texts: str) -> list[str]:
    """The files that have any of the texts, in any spelling that a program would write."""
    forms = [form for text in texts for form in (text, unicodedata.normalize("NFD", text))]
    spelled = {json.dumps(form, ensure_ascii=ascii)[1:-1] for form in forms for ascii in (True, False)} | {*forms}
    files = [path for path in home.rglob("*") if path.is_file()]
    return [
        f"{path.relative_to(home)}: {each}" for path in files for each in spelled if each.encode() in path.read_bytes()
    ]


SECRET = ("471199", 'for "Häuser', "Häuser & Söhne")


async def lived(bench: Bench) -> Gateway:
    """Turn 1 saves, turn 2 is told of it and asks for it, turn 3 of another session finds it, turn 4 knows nothing."""
    await bench.open(*remember()).run(FACT)
    gateway = bench.open(complete(f"It is 471199, since you said: {FACT.upper()}"))
    await gateway.run("What is my PIN for the Häuser?")
    gateway = bench.open(complete("471199."))
    await gateway.run("my PIN for Häuser?", session="other")
    gateway = bench.open(complete("Hello!"))
    await gateway.run("Hi", session="innocent")
    return gateway


async def test_what_was_forgotten_is_in_no_file_and_every_turn_replays(house: Bench) -> None:
    gateway = await lived(house)
    (found,) = gateway.memories()
    assert found.text == FACT and left(house.home, FACT)
    gateway = house.open(assume_yes=True)
    forgotten = await gateway.call_tool("memory.forget", {"key": found.key})
    assert forgotten.status is Status.COMPLETE
    assert "one memory is forgotten" in forgotten.response
    assert left(house.home, *SECRET, found.key) == []
    assert gateway.memories() == [] and gateway.memories("PIN") == []
    for row in gateway.turns():
        replayed = await gateway.replay(row.id)
        assert (replayed.finished, replayed.differing) == (True, [])
    document = gateway.turn(1, "default").context.read_text()
    assert "## §0 Request\n\n```\n[erased]\n```" in document and "remembered: [erased]" in document
    told = gateway.turn(2, "default").context.read_text()
    assert "User: [erased]" in told
    assert "Hello!" in gateway.turn(1, "innocent").response
    assert not gateway.runs.store.read(
        "SELECT 1 FROM erased JOIN runs ON id = run_id WHERE session = 'innocent' OR NOT replayable OR NOT shown"
    )


async def test_the_session_goes_on_after_an_erasure(house: Bench) -> None:
    gateway = await lived(house)
    await gateway.forget_memory(gateway.memories()[0].key)
    after = await house.open(complete("Gladly.")).run("And now?")
    assert "User: [erased]" in after.context.read_text() and "471199" not in after.context.read_text()


async def test_a_turn_that_waits_is_erased_from_and_goes_on(house: Bench) -> None:
    gateway = house.open(*remember())
    await gateway.run(FACT)
    script = (clarify(f"Which PIN, {FACT}?"), complete("Done."))
    waiting = await house.open(*script).run(f"Change it. {FACT}", session="w")
    gateway = house.open(*script)
    await gateway.forget_memory(gateway.memories()[0].key)
    assert left(house.home, *SECRET) == []
    row = gateway.runs.store.run(waiting.run_id)
    assert row.question == "Which PIN, [erased]?" and row.title == "Change it. [erased]"
    turn = await gateway.answer(waiting.run_id, "The first")
    assert (turn.status, turn.response) == (Status.COMPLETE, "Done.")
    assert (await gateway.replay(turn.run_id)).differing == []


async def test_a_turn_under_way_keeps_it_pending_until_it_has_ended(house: Bench) -> None:
    gateway = await lived(house)
    store = gateway.runs.store
    row = gateway.turns("other")[0]
    lease = await store.acquire(f"run:{row.id}", gateway.runs.owner, gateway.runs.clock.now())
    assert not await gateway.forget_memory(gateway.memories()[0].key)
    assert Memories(house.home).pending() and gateway.memories() == []
    assert "471199" not in gateway.turn(1, "default").context.read_text(), "what can be done is done at once"
    assert "471199" in gateway.turn(1, "other").context.read_text()
    await store.release(lease)
    async with house.open(complete()):  # whoever opens the home next
        assert left(house.home, *SECRET) == [] and not Memories(house.home).pending()


async def test_a_turn_that_takes_another_way_without_it_says_so(house: Bench) -> None:
    """Which is brought about by hand here: a decision of its log is made one that its nodes do not make."""
    await house.open(*remember()).run(FACT)
    gateway = house.open(complete("It is 471199."))
    turn = await gateway.run("What is my PIN for the Häuser?", session="v")
    key = gateway.memories()[0].key
    store = gateway.runs.store
    log = store.events(turn.run_id)
    decided = next(each for each in log if each.data.get("node") == "Plan")
    changed = json.dumps({**decided.data, "to": "Save"})
    store._patient.execute(
        "UPDATE events SET data = ? WHERE run_id = ? AND seq = ?", (changed, turn.run_id, decided.seq)
    )
    assert await gateway.forget_memory(key)
    assert left(house.home, *SECRET) == []
    with pytest.raises(Erased, match="cannot be replayed: something it depended on was erased"):
        await gateway.replay(turn.run_id)
    assert "[erased]" in turn.context.read_text()


async def test_it_is_gone_also_where_a_process_was_killed_at_any_step_of_the_erasure(house: Bench) -> None:
    gateway = house.open(*remember())
    await gateway.run(FACT)
    key = gateway.memories()[0].key
    gateway.close()
    process = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, str(Path(__file__).with_name("erasure.py")), str(house.home), str(house.workspace), key],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert process.returncode == 0, process.stderr
    outcomes = json.loads(process.stdout)
    assert len(outcomes) > 20 and outcomes.pop() == "undisturbed"
    assert set(outcomes) == {"killed, then erased"}, outcomes


async def test_no_turn_fails_where_nothing_can_be_erased_now(house: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    await house.open(*remember()).run(FACT)
    gateway = house.open(complete(), complete())

    async def full(self: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr("gateway.engine.erasing._Erasing.do", full)
    assert not await gateway.forget_memory(gateway.memories()[0].key)
    assert (await gateway.run("Hi")).status is Status.COMPLETE
    assert Memories(house.home).pending() and left(house.home, *SECRET)
    monkeypatch.undo()
    assert await house.open().erase_forgotten() and left(house.home, *SECRET) == []


async def test_a_text_that_is_remembered_twice_is_forgotten_once(house: Bench) -> None:
    """Only that entry goes; the record of the turns is erased of it all the same."""
    gateway = await lived(house)
    memories = Memories(house.home)
    memories.save("mine", FACT, session="s", turn=1, now=0.0, otherwise="")
    (key,) = {each.key for each in gateway.memories()} - {"mine"}
    assert await gateway.forget_memory(key)
    assert [each.key for each in gateway.memories()] == ["mine"]
    assert {each.split(":")[0] for each in left(house.home, "471199")} == {"memory.db"}


async def test_a_short_word_is_forgotten_without_a_trace_in_others(house: Bench) -> None:
    gateway = house.open(complete("yes, and yes"))
    turn = await gateway.run("Say yes")
    Memories(house.home).save("k", "yes", session="s", turn=1, now=0.0, otherwise="")
    assert await gateway.forget_memory("k")
    assert gateway.memories() == [] and "yes, and yes" in turn.context.read_text()


async def test_who_asks_to_forget_is_asked_and_no_model_is(house: Bench) -> None:
    await house.open(*remember()).run(FACT)
    gateway = house.open(plan("forget the PIN", task_type="memory_op"), answer("It is forgotten."))
    turn = await gateway.run("Please forget my PIN for the Häuser")
    assert turn.waiting is not None and turn.waiting.question.startswith("Run memory.forget ")
    assert len(house.model.asked) == 1  # the plan: what was found is the only one that can be meant
    turn = await gateway.answer(turn.run_id, "yes")
    assert turn.status is Status.COMPLETE and not left(house.home, "471199")


@pytest.mark.parametrize(
    ("request_", "goal", "saves"),
    [
        ("Forget my shoe size", "forget the user's shoe size", False),
        ("Don't forget that the boat leaves at nine", "don't forget the boat", True),
        ("I always forget my boat's name: remember Heron", "remember that the boat is called Heron", True),
    ],
)
async def test_nothing_is_forgotten_where_nothing_is_known_or_nobody_asks(
    house: Bench, request_: str, goal: str, saves: bool
) -> None:
    saving = remember()[1]
    script = [saving] if saves else []
    gateway = house.open(plan(goal, task_type="memory_op"), *script, answer("Yes."))
    turn = await gateway.run(request_)
    assert turn.status is Status.COMPLETE
    assert [each.text for each in gateway.memories()] == [request_] * saves


async def test_nobody_is_asked_whether_to_forget_what_there_is_not(house: Bench) -> None:
    turn = await house.open().call_tool("memory.forget", {"key": "nothing"})
    assert turn.waiting is None and "nothing is remembered under the key 'nothing'" in turn.response
