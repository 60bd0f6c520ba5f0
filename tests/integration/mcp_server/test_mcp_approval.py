"""Calls that have to be approved: asked through the client where it can ask, never made without a yes."""

from __future__ import annotations

import json
import re

import pytest
from served_tools import LEGACY, MODERN, MODES, Person, Served, text

from gateway import Gateway, Settings

MEMORY = {"text": "the boiler is new"}
QUESTION = 'Run memory.save {"text": "the boiler is new"}?'


@pytest.fixture
def asking(served: Served) -> Served:
    served.environment["ECHELON_TOOLS__APPROVE"] = '["memory.save"]'
    return served


@pytest.mark.parametrize("mode", MODES)
async def test_a_call_is_made_once_the_person_has_said_yes(asking: Served, mode: str) -> None:
    person = Person()
    async with asking.client(mode, elicitation_callback=person) as client:
        saved = await client.call_tool("memory_save", MEMORY)
    assert (saved.is_error, text(saved)) == (False, "remembered: the boiler is new")
    [asked] = person.asked
    assert asked.message == QUESTION
    assert asked.requested_schema["properties"]["answer"]["enum"] == ["yes", "no"]
    assert [turn[:2] for turn in asking.turns()] == [("mcp", "complete")]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("person", "said", "status"),
    [
        (Person(answer="no"), "did not allow", "failed"),
        (Person("decline"), "did not allow", "failed"),
        (Person("cancel"), QUESTION, "waiting_for_user"),
        (Person(answer="YES, whatever it is"), QUESTION, "waiting_for_user"),
        (Person(answer=True), QUESTION, "waiting_for_user"),
    ],
    ids=["no", "decline", "cancel", "another", "true"],
)
async def test_anything_but_yes_makes_no_call(
    asking: Served, mode: str, person: Person, said: str, status: str
) -> None:
    async with asking.inside(mode, elicitation_callback=person) as client:
        refused = await client.call_tool("memory_save", MEMORY)
        found = await client.call_tool("memory_search", {"query": "boiler"})
    assert refused.is_error and said in text(refused)
    assert "boiler" not in text(found)
    assert asking.turns()[0][1] == status


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_that_cannot_ask_is_told_the_command_that_answers(asking: Served, mode: str) -> None:
    async with asking.inside(mode) as client:
        refused = await client.call_tool("memory_save", MEMORY)
    assert refused.is_error and QUESTION in text(refused)
    command = re.search(r"ECHELON_HOME=(\S+) echelon runs answer (\w+) yes", text(refused))
    assert command is not None and command[1] == str(asking.home)
    assert asking.turns()[0][1] == "waiting_for_user"
    async with Gateway(Settings.load({}, environ=asking.environment, cwd=asking.workspace)) as gateway:
        assert (await gateway.answer(command[2], "yes")).response == "remembered: the boiler is new"


async def test_an_answer_counts_for_the_question_that_was_put_and_for_no_other(asking: Served) -> None:
    """What a client sends along as the question that it answers was made by the server, for this call."""
    async with asking.inside(MODERN, elicitation_callback=Person()) as client:
        asked = await client.session.call_tool("memory_save", MEMORY, allow_input_required=True)
        state = asked.request_state
        said = {"answer": await Person()(None, asked.input_requests["answer"].params)}
        for name, arguments, given in (
            ("memory_save", {"text": "another"}, state),
            ("memory_search", {"query": "boiler"}, state),
            ("memory_save", MEMORY, state[:-4] + "AAAA"),
        ):
            with pytest.raises(Exception, match="requestState"):
                await client.call_tool(name, arguments, input_responses=said, request_state=given)
        assert asking.turns()[0][1] == "waiting_for_user"
        silent = await client.call_tool("memory_save", MEMORY, input_responses={}, request_state=state)
        assert silent.is_error and QUESTION in text(silent)
        saved = await client.call_tool("memory_save", MEMORY, input_responses=said, request_state=state)
        again = await client.call_tool("memory_save", MEMORY, input_responses=said, request_state=state)
    assert text(saved) == text(again) == "remembered: the boiler is new"
    assert len(asking.turns()) == 1


async def test_what_was_answered_in_a_terminal_meanwhile_is_not_answered_again(asking: Served) -> None:
    """The person says no there, and the yes that the client brings comes too late."""
    person = Person()
    async with Gateway(Settings.load({}, environ=asking.environment, cwd=asking.workspace)) as gateway:

        async def elsewhere(context: object, params: object) -> object:
            await gateway.answer(gateway.turns()[0].id, "no")
            return await person(context, params)

        async with asking.inside(LEGACY, elicitation_callback=elsewhere) as client:
            refused = await client.call_tool("memory_save", MEMORY)
    assert refused.is_error and "did not allow" in text(refused)
    assert asking.turns()[0][1] == "failed"


async def test_a_question_of_a_whole_turn_is_put_and_gone_on_with(served: Served) -> None:
    decisions = [
        {"action": "CLARIFY", "question": "Which server?"},
        {"action": "COMPLETE", "response": "The heron is well."},
    ]
    entries = [{"answer": {"decision": {"reasoning": "because", **each}}} for each in decisions]
    (served.workspace / "model.yaml").write_text(json.dumps(entries))
    served.environment["ECHELON_MODEL"] = f"scripted:{served.workspace / 'model.yaml'}"
    person = Person(answer="the heron")
    async with served.inside(MODERN, elicitation_callback=person) as client:
        ran = await client.call_tool("echelon_run", {"request": "How is my server?"})
    assert (ran.is_error, text(ran)) == (False, "The heron is well.")
    assert [each.message for each in person.asked] == ["Which server?"]
    assert "enum" not in person.asked[0].requested_schema["properties"]["answer"]
