"""What the ground under a turn can do: the model, the disk, the database, the user's files, budgets."""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from workbench import Bench, Recording, answer, call, complete, done, give_up, plan

from echelon.ending import exit_code
from gateway import Gateway
from gateway.engine import files
from gateway.engine.ports import Json
from gateway.engine.scripted import ScriptedClock
from gateway.engine.state import Status
from gateway.errors import ConfigError, PatternError, StoreError, UsageError
from gateway.llm.client import ModelClient
from gateway.llm.endpoint import Endpoint
from gateway.tools.builtin.file import WriteArgs

# A turn with a call that happens once
SPENDING = (plan(), call("test.spend", what="all"), done(), answer())


@pytest.mark.parametrize(
    ("entry", "kind", "code"),
    [
        ({"error": "ModelUnavailable"}, "model_unavailable", 5),
        ({"error": "ModelRefused"}, "model_refused", 5),
        ({"error": "ContextTooLong"}, "context_too_long", 1),
        ({"answer": "garbage", "repeat": 3}, "decision_invalid", 1),
    ],
)
async def test_a_turn_whose_model_failed_goes_on_where_it_was(bench: Bench, entry: Json, kind: str, code: int) -> None:
    gateway = bench.open(*SPENDING[:2], entry, assume_yes=True)
    turn = await gateway.run("Spend it")
    assert (turn.status, turn.stop_reason, exit_code(turn)) == (Status.FAILED, f"error:{kind}", code)
    assert f"**Failed:** {turn.error}" in turn.context.read_text()
    gateway = bench.open(*SPENDING, assume_yes=True)
    turn = await gateway.resume(turn.run_id)
    assert (turn.status, turn.response) == (Status.COMPLETE, "It is done.")
    assert "**Failed:**" not in turn.context.read_text()
    assert (bench.workspace / "spent").read_text() == "x"


PATH = WriteArgs.model_fields["path"].description


async def test_a_server_that_cannot_be_reached_is_no_model(bench: Bench) -> None:
    async def nowhere(model: str) -> Endpoint:
        return Endpoint("openai/any", "http://127.0.0.1:9/v1", "key")

    gateway = bench.open(port=ModelClient(nowhere, clock=bench.clock))
    turn = await gateway.run("Hi")
    assert (turn.status, turn.stop_reason) == (Status.FAILED, "error:model_unavailable")
    assert "127.0.0.1:9" in str(turn.error) and "echelon doctor" in turn.hint
    turn = await bench.open(complete()).resume(turn.run_id)
    assert (turn.status, turn.response) == (Status.COMPLETE, "Hello!")


async def test_a_task_that_was_given_up_fails_the_turn_and_keeps_its_response(bench: Bench) -> None:
    script = (plan(), call("test.refuse"), give_up(), complete("I could not do it."))
    turn = await bench.open(*script).run("Do it")
    assert (turn.status, turn.stop_reason, exit_code(turn)) == (Status.FAILED, "error:unfinished", 1)
    assert turn.response == "I could not do it." and str(turn.error).startswith("the task could not be completed: ")
    said = turn.context.read_text()
    assert "status: failed\nstop_reason: error:unfinished" in said and "## §5 Response\n\nI could not do it." in said
    after = bench.open(complete("Yes."))
    assert "I could not do it." in (await after.run("And now?")).context.read_text()  # what was said is remembered
    assert (await after.replay(turn.run_id)).differing == []


async def test_a_task_that_was_given_up_without_a_reason_fails_the_turn_too(bench: Bench) -> None:
    silent = {"answer": {"decision": {"action": "ESCALATE", "reasoning": ""}}}
    turn = await bench.open(plan(), call("test.refuse"), silent, complete("Well."), answer()).run("Do it")
    assert (turn.status, turn.error) == (
        Status.FAILED,
        "the task could not be completed: the Task Executor gave no reason",
    )


@pytest.mark.parametrize("response", ["Your server is called heron.", "The server: called HERON"])
async def test_an_answer_that_only_repeats_the_request_is_refused(bench: Bench, response: str) -> None:
    script = (complete(response), plan(), call("test.say", what="kept"), done(), answer())
    turn = await bench.open(*script).run("Remember that my server is called heron.")
    assert (turn.status, turn.usage["model_calls"]) == (Status.COMPLETE, 5)
    assert "only repeats the request" in bench.model.asked[1]["messages"][-1]["content"]


async def test_an_answer_that_repeats_the_request_twice_is_meant(bench: Bench) -> None:
    said = complete("The sky is blue")
    turn = await bench.open(said, said).run("Say after me: the sky is blue")
    assert (turn.status, turn.response) == (Status.COMPLETE, "The sky is blue")


@pytest.mark.parametrize("response", ["Hello!", "Your server is called heron, as you said in May.", "Yes."])
async def test_an_answer_that_says_more_or_hardly_anything_is_taken(bench: Bench, response: str) -> None:
    turn = await bench.open(complete(response)).run("Hello, is my server called heron?")
    assert (turn.response, turn.usage["model_calls"]) == (response, 1)


async def test_an_argument_that_repeats_its_description_is_asked_for_again(bench: Bench) -> None:
    copied, named = ({"answer": {"reasoning": "so", "path": path}} for path in (PATH, "a.txt"))
    bench.pattern("note", "---\ntask_type: note\ndescription: d\n---\n1. CALL file.write\n")
    turn = await bench.open(plan(task_type="note"), copied, named, answer("a"), answer()).run("Write it")
    assert turn.status is Status.COMPLETE and (bench.workspace / "a.txt").read_text() == "a\n"
    assert "path only repeats what it is to be" in bench.model.asked[2]["messages"][-1]["content"]


async def test_a_task_that_a_second_plan_completes_is_completed(bench: Bench) -> None:
    script = (plan(), call("test.refuse"), give_up(), plan("otherwise"), call("test.say", what="hi"), done(), answer())
    turn = await bench.open(*script).run("Do it")
    assert (turn.status, turn.response) == (Status.COMPLETE, "It is done.")


@pytest.mark.parametrize("which", range(1, 25, 2))
async def test_a_full_disk_stops_the_turn_and_it_resumes(
    bench: Bench, which: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Artifacts, context.md, summary: the disk is full from the n-th of these files on."""
    written, fdopen = 0, os.fdopen

    def until_full(handle: int, mode: str) -> Any:
        nonlocal written
        written += 1
        file = fdopen(handle, mode)
        if written > which:
            file.write(b"a part")
            file.close()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a file")
        return file

    monkeypatch.setattr(files.os, "fdopen", until_full)
    gateway = bench.open(*SPENDING, assume_yes=True)
    try:
        turn = await gateway.run("Spend it")
        assert which >= written > 15 and turn.status is Status.COMPLETE
    except StoreError as error:
        assert "No space left" in str(error) and "free some disk space" in error.hint
    monkeypatch.undo()
    assert not [path for path in bench.home.rglob(".*") if path.is_file()]
    gateway = bench.open(*SPENDING, assume_yes=True)
    runs = gateway.turns()
    turn = await (gateway.resume(runs[0].id) if runs else gateway.run("Spend it"))
    assert (turn.status, turn.response) == (Status.COMPLETE, "It is done.")
    assert (bench.workspace / "spent").read_text() == "x"
    assert (await gateway.replay(turn.run_id)).differing == []


async def test_a_full_disk_under_the_database_stops_the_turn_and_it_resumes(bench: Bench) -> None:
    gateway = bench.open(*SPENDING)
    turn = await gateway.run("Spend it")
    await gateway.runs.answer(turn.run_id, "yes")
    for db in (gateway.runs.store._quick, gateway.runs.store._patient):
        db.execute("CREATE TABLE IF NOT EXISTS filler (text)")
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match="database or disk is full"):
        for _ in range(100):
            await gateway.resume(turn.run_id)
            turn = await gateway.run("Spend it")
            await gateway.runs.answer(turn.run_id, "yes")
    gateway.close()
    gateway = bench.open(*SPENDING, assume_yes=True)
    for row in gateway.turns():
        assert (await gateway.resume(row.id)).status in (Status.COMPLETE, Status.WAITING)


async def test_turns_of_one_session_follow_each_other(bench: Bench) -> None:
    """Two gateways with connections of their own, as two processes have them."""
    first = bench.open(port=Slow(complete("one")))
    second = bench.open(complete("two"))
    turns = await asyncio.gather(first.run("Hi", session="s"), second.run("Ho", session="s"))
    assert sorted((turn.number, turn.response) for turn in turns) == [(1, "one"), (2, "two")]
    assert all(turn.status is Status.COMPLETE for turn in turns)
    assert "Answer: one" in turns[1].context.read_text()


class Slow(Recording):
    """Answers after a moment of real time."""

    def __init__(self, *script: Json) -> None:
        super().__init__(*script, clock=ScriptedClock())

    async def complete(self, request: Json) -> Json:
        await asyncio.sleep(0.1)
        return await super().complete(request)


async def test_a_corrupt_database_is_said_to_be_one(bench: Bench) -> None:
    bench.home.mkdir()
    (bench.home / "echelon.db").write_bytes(b"no database at all " * 1000)
    with pytest.raises(StoreError, match=r"echelon.db cannot be used") as caught:
        await bench.open(complete()).run("Hi")
    assert "move it away" in caught.value.hint


async def test_a_locked_database_is_said_to_be_one(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    gateway = bench.open(complete())
    other = sqlite3.connect(bench.home / "echelon.db" if gateway.runs else "", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    gateway.runs.store._patient.execute("PRAGMA busy_timeout = 50")  # instead of half a minute
    with pytest.raises(StoreError, match="locked by another process"):
        await gateway.run("Hi")
    other.execute("ROLLBACK")
    other.close()
    assert (await gateway.run("Hi")).status is Status.COMPLETE


@pytest.mark.parametrize(
    "text",
    [
        b"---\ntask_type: generic\n---\n1. GO TO step 9\n",
        b"\xff\xfe",
        b"---\ntask_type: other\n---\n1. CALL test.say\n",
    ],
)
async def test_a_broken_pattern_is_unavailable_and_says_why(bench: Bench, text: bytes) -> None:
    bench.pattern("generic", "").write_bytes(text)
    gateway = bench.open(complete())
    assert (await gateway.run("Hi")).status is Status.COMPLETE
    asked = bench.model.asked[0]
    types = asked["output_schema"]["properties"]["decision"]["anyOf"][0]["properties"]["task_type"]["enum"]
    assert "memory_op" in types and "generic" not in types and "other" not in types
    with pytest.raises(PatternError) as caught:
        await gateway.run("Hi", task_type="generic")
    assert "there is no task type" not in str(caught.value)
    with pytest.raises(PatternError, match="there is no task type 'memory_po'"):
        await gateway.run("Hi", task_type="memory_po")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("role: planner", "role: [planner"), r".echelon/recipes/planner\.yaml:\d+: not YAML"),
        (("phase: plan", "face: plan"), r".echelon/recipes/planner\.yaml: (phase|face)"),
        (("prompts/planner/planner.md", "prompts/planner/missing.md"), r"recipe planner: there is no prompts/planner/"),
        (("name: planner", "name: schemer"), "no recipe is called planner"),
    ],
)
async def test_a_broken_recipe_stops_the_turn_before_it_begins(
    bench: Bench, change: tuple[str, str], said: str
) -> None:
    recipe(bench, *change)
    with pytest.raises(ConfigError, match=said):
        await bench.open(complete()).run("Hi")
    assert bench.open().turns() == []


async def test_a_recipe_for_a_role_that_no_turn_has_fails_with_its_name(bench: Bench) -> None:
    recipe(bench, "role: planner", "role: phone")
    turn = await bench.open(complete()).run("Hi")
    assert (turn.status, turn.stop_reason) == (Status.FAILED, "error:config")
    assert turn.error == "recipe planner: role: expected one of planner, executor, responder, not 'phone'"


def recipe(bench: Bench, old: str, new: str) -> None:
    """The shipped planner's recipe with a change, as the workspace's own."""
    from gateway.resources import shipped

    text = (shipped("recipes") / "planner.yaml").read_text()
    assert old in text
    folder = bench.workspace / ".echelon/recipes"
    folder.mkdir(parents=True)
    (folder / "planner.yaml").write_text(text.replace(old, new))


async def test_a_run_goes_on_with_the_pattern_that_it_began_with(bench: Bench) -> None:
    path = bench.pattern("two", "---\ntask_type: two\ndescription: d\n---\n1. CALL test.spend\n2. CALL test.refuse\n")
    spend = call("test.spend", what="all")
    gateway = bench.open(spend, answer())
    turn = await gateway.run("Spend it", task_type="two")
    assert turn.status is Status.WAITING
    path.write_text("broken since")
    turn = await gateway.answer(turn.run_id, "yes")
    assert "test.refuse · failed" in turn.context.read_text()


async def test_a_damaged_summary_of_an_earlier_turn_costs_only_what_it_said(bench: Bench) -> None:
    gateway = bench.open(complete("one"))
    first = await gateway.run("Hi")
    (first.context.parent / "summary.json").write_text("{")
    second = await bench.open(complete("two")).run("Ho")
    assert second.status is Status.COMPLETE
    assert "its summary cannot be read" in second.context.read_text()


@pytest.mark.parametrize(
    ("limits", "budget"),
    [({"max_steps": 2}, "steps"), ({"max_tokens": 10}, "tokens"), ({"max_time_s": 5}, "time_s")],
)
async def test_a_used_up_budget_stops_the_turn_with_what_there_is(
    bench: Bench, limits: dict[str, float], budget: str
) -> None:
    script = [{**each, "delay_s": 3} for each in (plan("first"), call("test.refuse"), give_up())]
    script = [{**each, "usage": {"prompt_tokens": 9, "completion_tokens": 1}} for each in script]
    turn = await bench.open(*script, limits=limits).run("Do it")
    assert (turn.status, turn.stop_reason) == (Status.STOPPED, f"budget:{budget}")
    assert f"stop_reason: budget:{budget}" in turn.context.read_text() and "1. first" in turn.context.read_text()


async def test_a_request_that_is_no_text_is_wrong_usage(bench: Bench) -> None:
    gateway = bench.open(complete())
    for request in ("", " \n", "half \udcff"):
        with pytest.raises(UsageError):
            await gateway.run(request)
    assert gateway.turns() == []


async def test_a_home_that_cannot_be_made_is_said_so(bench: Bench, tmp_path: Path) -> None:
    bench.home = tmp_path / "file"
    bench.home.write_text("")
    with pytest.raises(StoreError, match="cannot open"):
        await bench.open(complete()).run("Hi")


def test_a_gateway_that_was_never_used_can_be_closed(bench: Bench) -> None:
    gateway: Gateway = bench.open()
    gateway.close()
    assert not bench.home.exists()
