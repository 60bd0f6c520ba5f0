"""A model that is not there, refuses, babbles or vanishes, through each door: said alike, and gone on with alike."""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass

import pytest

from .door import Door
from .house import House
from .stub import Entry, Stub, call, complete, done, floods, plan, refuses, vanishes

ANSWER = json.dumps(complete("Guten Tag!"))


@dataclass(frozen=True)
class Trouble:
    """What a model's server does, and what is to be told of it."""

    answers: list[Entry]
    kind: str
    exit: int
    http: int
    says: tuple[str, ...]


TROUBLES = {
    "refuses the key": Trouble(
        [refuses(401, "wrong key")], "model_refused", 5, 500, ("refused the key: wrong key", "ECHELON_API_KEY")
    ),
    "does not have the model": Trouble(
        [refuses(404, "no such model")], "model_refused", 5, 500, ("does not serve hosted_vllm/stub", "models list")
    ),
    "has too short a context": Trouble(
        [refuses(400, "This model's maximum context length is 2048 tokens")],
        *("context_too_long", 1, 500, ("does not fit the context window", "serve the model with a larger context")),
    ),
    "answers garbage": Trouble(["garbage"], "decision_invalid", 1, 500, ("no valid PLANNER_DECISION in 3 answers",)),
    "answers something else": Trouble(
        [lambda exchange: exchange.send(200, b"<html>It works!</html>", "text/html")],
        *("model", 5, 500, ("did not answer with a chat completion", "/v1")),
    ),
    "vanishes in the middle": Trouble(
        [vanishes(ANSWER)], "model_unavailable", 5, 503, ("cannot be reached", "echelon doctor")
    ),
    "babbles": Trouble([floods(20_000)], "decision_invalid", 1, 500, ("no valid PLANNER_DECISION",)),
}


@pytest.mark.parametrize("name", TROUBLES)
def test_a_model_that_fails_is_said_so_and_the_turn_goes_on_later(door: Door, model: Stub, name: str) -> None:
    trouble = TROUBLES[name]
    model.answers = list(trouble.answers)
    ended = door.ask()
    assert (ended.status, ended.reason) == ("failed", f"error:{trouble.kind}")
    assert ended.code == door.code(trouble.exit, trouble.http)
    assert all(each in ended.said for each in trouble.says) and len(ended.said) < 700, ended.said
    model.answers = [complete("Back again.")]
    resumed = door.resume("Hi", ended)
    assert (resumed.status, resumed.response, resumed.turn) == ("complete", "Back again.", 1)
    assert (door.ask("And now?").turn, door.ask("Elsewhere", session="other").turn) == (2, 1)


def test_a_model_whose_port_is_closed_is_said_so(door: Door, house: House, model: Stub) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        place = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        house.configure(api_base=place)
        ended = door.ask()
    assert (ended.status, ended.reason) == ("failed", "error:model_unavailable")
    assert ended.code == door.code(5, 503)
    assert place in ended.said and "Connection refused" in ended.said and "echelon doctor" in ended.said
    house.configure(api_base=model.base)
    door.reopen()
    model.answers = [complete()]
    assert door.resume("Hi", ended).response == "Hello!"


def test_a_server_that_vanishes_once_is_asked_again(door: Door, model: Stub) -> None:
    model.answers = [vanishes(ANSWER), complete("Guten Tag!")]
    assert door.ask().response == "Guten Tag!" and len(model.asked) == 2


@pytest.mark.parametrize(
    "text",
    [
        f"Natürlich! Hier ist die Entscheidung:\n\n```json\n{ANSWER}\n```\n\nIch hoffe, das hilft.",
        f"好的，我来回答。{ANSWER} 就是这样。",
        f"**Decision** (see {{braces}} below):\n\n> because\n\n{ANSWER}\n",
        f"<think>Is {{this}} JSON?</think>\n{ANSWER}",
    ],
)
def test_an_answer_with_words_around_it_is_understood(door: Door, model: Stub, text: str) -> None:
    model.answers = [text]
    ended = door.ask()
    assert (ended.status, ended.response, len(model.asked)) == ("complete", "Guten Tag!", 1)


def test_a_response_without_end_is_kept_within_bounds(door: Door, house: House, model: Stub) -> None:
    model.answers = [plan(), call("file.list"), done(), floods(20_000)]
    ended = door.ask("Which files are here?")
    assert ended.status == "complete" and ended.code == door.code(0, 200)
    assert all(0 < asked["max_tokens"] <= 4096 for asked in model.asked)
    model.answers = [complete("Next.")]
    assert door.ask("And now?").response == "Next."
    assert len(json.dumps(model.asked[-1])) < 40_000  # what was said is not said over again


def test_a_decision_without_end_does_not_fill_the_next_question(door: Door, model: Stub) -> None:
    model.answers = [floods(20_000, before="{"), complete()]
    assert door.ask().response == "Hello!"
    first, again = (sum(len(each["content"]) for each in asked["messages"]) for asked in model.asked)
    assert again - first < 4000
