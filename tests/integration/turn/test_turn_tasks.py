"""Requests that need several task types in a row, and what goes back to the Planner."""

from __future__ import annotations

import pytest
from workbench import Bench, answer, call, complete, done, give_up, plan

from gateway.engine.ports import Json
from gateway.engine.state import Status

FIRST = "---\ntask_type: look\ndescription: d\n---\n1. CALL test.say with {what: {{ 'a heron' }}}\n"
SECOND = "---\ntask_type: tell\ndescription: d\n---\n1. CALL test.say with {what: {{ context.results[0].text }}}\n"
REFUSED = """---
task_type: look
description: d
---
1. CALL test.refuse
2. CHECK: is it so?
   - YES → DONE
   - NO → ESCALATE
"""
READING = "---\ntask_type: read\ndescription: d\n---\n1. CALL file.read\n2. CALL file.read\n3. CALL file.read\n"
REQUEST = "Look what bird that is, then tell it to Ada"


@pytest.fixture
def two(bench: Bench) -> Bench:
    bench.pattern("look", FIRST)
    bench.pattern("tell", SECOND)
    return bench


def both(then: str = "tell it to Ada") -> Json:
    decided = plan("look what bird that is", task_type="look")
    decided["answer"]["decision"]["then"] = [{"task_type": "tell", "goals": [then]}]
    return decided


async def test_what_follows_is_done_without_planning_again(two: Bench) -> None:
    turn = await two.open(both(), answer()).run(REQUEST)
    assert (turn.status, turn.usage["model_calls"], turn.usage["plans"]) == (Status.COMPLETE, 2, 2)
    said = turn.context.read_text()
    assert "Then `tell`: tell it to Ada" in said and "### Iteration 2\n\nEXECUTE · `tell`\n\n1. tell it to Ada" in said
    assert said.count("```\na heron\n```") == 2  # the second task has what the first one found


@pytest.mark.parametrize("then", ["look what bird", "remember a word of nobody's"])
async def test_what_the_request_does_not_ask_for_is_left_out(two: Bench, then: str) -> None:
    turn = await two.open(both(then), answer()).run(REQUEST)
    assert turn.status is Status.COMPLETE and "Iteration 2" not in turn.context.read_text()


async def test_a_goal_that_stands_in_both_tasks_is_the_later_ones(two: Bench) -> None:
    decided = both()
    decided["answer"]["decision"]["goals"].append("tell it to Ada")
    turn = await two.open(decided, answer()).run(REQUEST)
    assert "1. look what bird that is\n\nThen `tell`" in turn.context.read_text()


async def test_a_task_that_is_given_up_goes_back_to_the_planner_with_what_was_done(two: Bench) -> None:
    two.pattern("look", REFUSED)
    turn = await two.open(both(), give_up(), complete("It cannot be told.")).run(REQUEST)
    assert turn.response == "It cannot be told." and turn.status is Status.FAILED
    assert [each["messages"][-1]["content"] for each in two.model.asked][-1].count("Error: not today") == 1
    assert "Iteration 3" not in turn.context.read_text()  # what would have followed does not


async def test_three_plans_are_the_most(bench: Bench) -> None:
    failing = (plan(), call("test.refuse"), give_up())
    turn = await bench.open(*failing, *failing, *failing, answer("It did not work.")).run("Do it")
    assert turn.status is Status.FAILED and turn.usage["plans"] == 4  # three tasks, and the end of them
    assert "3 plans were made" in turn.context.read_text() and turn.response == "It did not work."


async def test_no_more_tasks_can_be_planned_than_there_are_plans_left(two: Bench) -> None:
    two.pattern("look", REFUSED)
    failing = (plan(task_type="look"), give_up())
    await two.open(*failing, *failing, complete("It cannot be told.")).run(REQUEST)
    schemas = [each["output_schema"] for each in two.model.asked if each["schema_name"] == "PLANNER_DECISION"]
    most = [
        [
            each["properties"]["then"]["maxItems"]
            for each in schema["properties"]["decision"]["anyOf"]
            if "then" in each["properties"]
        ]
        for schema in schemas
    ]
    assert most == [[2], [1], []]


async def test_small_talk_is_one_model_call(bench: Bench) -> None:
    turn = await bench.open(complete("Hello!"), validate=True).run("Hi")
    assert (turn.response, turn.usage["model_calls"]) == ("Hello!", 1)


async def test_a_task_of_n_calls_takes_at_most_n_and_three_model_calls(bench: Bench) -> None:
    bench.pattern("read", READING)
    for name in ("a.txt", "b.txt"):
        (bench.workspace / name).write_text(name)
    read = [{"answer": {"reasoning": "so", "path": name}} for name in ("a.txt", "b.txt", "a.txt")]
    approved = {"answer": {"verdict": "APPROVE", "issues": []}}
    turn = await bench.open(plan(task_type="read"), *read, answer(), approved, validate=True).run("Read them")
    assert (turn.status, turn.usage["model_calls"]) == (Status.COMPLETE, 3 + 3)
    chosen = (plan(), call("test.say", what="a"), done(), answer())
    assert (await bench.open(*chosen).run("Say it")).usage["model_calls"] == 1 + 3


async def test_a_goal_that_is_one_types_example_goes_to_that_type(bench: Bench) -> None:
    front = "task_type: {0}\ndescription: to {0}\nmax_steps: 2\nexamples:\n  - request: Please {0}.\n    goals: [{1}]\n"
    for name, goal in (("whisper", "say it softly"), ("shout", "say it loudly")):
        bench.pattern(name, f"---\n{front.format(name, goal)}---\n1. CALL test.say with {{what: {name}}}\n")
    gateway = bench.open(plan("tell them", "say it loudly", task_type="whisper"), answer())
    turn = await gateway.run("Tell them, loudly")
    assert "EXECUTE · `shout`" in turn.context.read_text()
    gateway = bench.open(plan("say it softly", "say it loudly", task_type="whisper"), answer())
    turn = await gateway.run("Tell them twice")
    assert "EXECUTE · `whisper`" in turn.context.read_text()
