"""Validate: the response is judged before the user gets it, and a second attempt knows what was wrong."""

from __future__ import annotations

import asyncio

import pytest
from workbench import Bench, answer, call, done, plan

from gateway import Turn
from gateway.engine.ports import Json
from gateway.engine.state import Status

DOING = (plan(), call("test.say", what="the heron is grey"), done())


def verdict(word: str, *issues: str) -> Json:
    return {"answer": {"verdict": word, "issues": list(issues)}}


async def carried_out(bench: Bench, *script: Json) -> Turn:
    return await bench.open(*DOING, *script, validate=True).run("What colour is it?")


async def test_an_approved_response_is_given(bench: Bench) -> None:
    turn = await carried_out(bench, answer("It is grey."), verdict("APPROVE"))
    assert (turn.status, turn.response, turn.usage["model_calls"]) == (Status.COMPLETE, "It is grey.", 5)
    assert turn.context.read_text().endswith("## §6 Validation\n\nAttempt 1: APPROVE (by model)\n")


async def test_after_an_objection_the_response_is_written_again_knowing_it(bench: Bench) -> None:
    script = (answer("It is blue."), verdict("RETRY", "§4 says grey"), answer("It is grey."), verdict("APPROVE"))
    turn = await carried_out(bench, *script)
    assert (turn.status, turn.response) == (Status.COMPLETE, "It is grey.")
    written_with = bench.model.asked[5]["messages"][-1]["content"]
    assert "## §2 Reflection" in written_with and "- §4 says grey" in written_with
    said = turn.context.read_text()
    assert said.index("## §2 Reflection") < said.index("## §3 Task Plan")
    assert "Attempt 1: RETRY (by model)\n- §4 says grey\n\nAttempt 2: APPROVE (by model)" in said


async def test_where_the_last_call_failed_the_planner_decides_anew(bench: Bench) -> None:
    failing = (plan(), call("test.refuse"), done())
    script = (answer("It is blue."), verdict("RETRY", "nothing was found"), *DOING, answer("Grey."), verdict("APPROVE"))
    turn = await bench.open(*failing, *script, validate=True).run("What colour is it?")
    assert (turn.status, turn.response, turn.usage["plans"]) == (Status.COMPLETE, "Grey.", 2)
    assert "- nothing was found" in bench.model.asked[5]["messages"][-1]["content"]


async def test_where_something_was_changed_no_model_is_asked(bench: Bench) -> None:
    writing = (plan(), call("file.write", path="a.txt"), answer("the text"), done(), answer("It is written."))
    turn = await bench.open(*writing, validate=True).run("Write it")
    assert turn.status is Status.COMPLETE and turn.response.endswith("- created a.txt, 1 line")
    assert turn.context.read_text().endswith("Attempt 1: APPROVE (by code)\n")


async def test_names_and_numbers_out_of_nowhere_are_found_by_code_and_written_once_more(bench: Bench) -> None:
    script = (answer("`ardea.cinerea()` is grey, see birds.md, page 1234."), answer("It is grey."), verdict("APPROVE"))
    turn = await carried_out(bench, *script)
    assert (turn.status, turn.response, turn.usage["model_calls"]) == (Status.COMPLETE, "It is grey.", 6)
    said = turn.context.read_text()
    for issue in ("the file birds.md", "the name ardea.cinerea", "the number 1234"):
        assert f"- {issue} stands nowhere in the results" in said
    assert "Attempt 1: RETRY (by code)" in said


async def test_a_response_that_is_refused_twice_is_kept_and_the_turn_fails(bench: Bench) -> None:
    script = (answer("Blue."), verdict("RETRY", "§4 says grey"), answer("Green."), verdict("FAIL", "still not grey"))
    turn = await carried_out(bench, *script)
    assert (turn.status, turn.stop_reason, turn.response) == (Status.FAILED, "error:unfinished", "Green.")
    assert turn.error == "the response was not approved: still not grey"


async def test_the_first_attempt_cannot_be_refused_nor_the_second_tried_again(bench: Bench) -> None:
    script = (answer("Blue."), verdict("RETRY", "no"), answer("Grey."), verdict("APPROVE"))
    await carried_out(bench, *script)
    schemas = [each["output_schema"] for each in bench.model.asked if each["schema_name"] == "VALIDATION"]
    assert [each["properties"]["verdict"]["enum"] for each in schemas] == [["APPROVE", "RETRY"], ["APPROVE", "FAIL"]]


async def test_an_objection_without_a_reason_is_asked_for_again(bench: Bench) -> None:
    turn = await carried_out(bench, answer("Grey."), verdict("RETRY"), verdict("APPROVE"))
    assert turn.status is Status.COMPLETE and "Attempt 2" not in turn.context.read_text()


async def test_nothing_happens_twice_in_a_second_attempt_unasked(bench: Bench) -> None:
    first = (plan(), call("test.spend", what="all"), call("test.refuse"), done(), answer("Not yet."))
    again = (verdict("RETRY", "it was not done"), plan(), call("test.spend", what="all"), done(), answer("Spent."))
    gateway = bench.open(*first, *again, verdict("APPROVE"), validate=True, assume_yes=True)
    turn = await gateway.run("Spend it")
    assert turn.waiting is not None and "done in the first attempt already" in turn.waiting.question
    assert (bench.workspace / "spent").read_text() == "x"
    turn = await gateway.answer(turn.run_id, "no")
    assert turn.status is Status.COMPLETE and (bench.workspace / "spent").read_text() == "x"


@pytest.mark.parametrize("validate", [True, False])
async def test_what_is_validated_replays(bench: Bench, validate: bool) -> None:
    script = (answer("Blue."), verdict("RETRY", "no"), answer("Grey."), verdict("APPROVE"))
    gateway = bench.open(*DOING, *script, validate=validate)
    turn = await gateway.run("What colour is it?")
    assert (await gateway.replay(turn.run_id)).differing == []
    assert ("## §6" in turn.context.read_text()) is validate


async def test_turns_that_are_told_at_once_stay_apart(bench: Bench) -> None:
    gateway = bench.open(*DOING, answer("It is grey."), verdict("APPROVE"), validate=True)
    turns = await asyncio.gather(*(gateway.run("What colour is it?", session=name) for name in ("a", "b", "c")))
    assert [turn.response for turn in turns] == ["It is grey."] * 3
