"""What a client is shown of a turn's events, and how the objects look that it is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from echelon.server.account import CONTENT, REASONING, Account
from echelon.server.reply import Reply
from echelon.server.wire import Completion, usage
from gateway import Turn
from gateway.engine.state import Status, Waiting
from gateway.stream import ModelAsked, ModelDelta, Notice, PhaseFailed, PhaseStarted, SessionBusy, TurnEvent


def told(account: Account, *events: TurnEvent) -> list[tuple[str, str]]:
    return [piece for event in events for piece in account.of(event)]


def written(*texts: str, role: str = "responder") -> list[TurnEvent]:
    return [ModelAsked(), *(ModelDelta(role, text) for text in texts)]


RESPOND = PhaseStarted("Respond", 1)


def test_the_response_is_told_as_it_is_written_without_white_space_at_its_ends() -> None:
    account = Account(live=True)
    assert told(account, RESPOND, *written("\n He", "llo ", "you", " \n")) == [
        (CONTENT, "He"),
        (CONTENT, "llo"),
        (CONTENT, " you"),
    ]
    assert account.rest("Hello you\n\n- a fact") == "\n\n- a fact"


@pytest.mark.parametrize(
    ("live", "events"),
    [
        (False, [RESPOND, *written("Hello")]),
        (True, [PhaseStarted("Execute", 1), *written("Hello")]),
        (True, [RESPOND, *written("Hello", role="planner")]),
    ],
)
def test_nothing_else_is_taken_for_the_response(live: bool, events: list[TurnEvent]) -> None:
    account = Account(live=live)
    assert told(account, *events) == []
    assert account.rest("Hello") == "Hello"


def test_an_answer_that_is_written_again_goes_on_where_it_can() -> None:
    account = Account(live=True)
    assert told(account, RESPOND, *written("Hello y")) == [(CONTENT, "Hello y")]
    failed = PhaseFailed("Respond", 1, "gone", 0.5)
    assert told(account, failed, RESPOND, *written("Hello", " you")) == [(CONTENT, "ou")]
    assert account.rest("Hello you") == ""
    assert Account.rest(account, "Something else") == "\n\nSomething else"


def test_progress_is_reasoning_until_the_response_begins() -> None:
    account = Account(live=True)
    events = [SessionBusy("s", "busy"), PhaseFailed("Plan", 1, "no", 0.5), Notice("hm")]
    assert told(account, *events) == [
        (REASONING, "Waiting: session s: busy\n"),
        (REASONING, "Plan: attempt 1 failed: no; again in 0.5 s\n"),
        (REASONING, "Notice: hm\n"),
    ]
    assert told(account, RESPOND, *written("Hi"), Notice("late")) == [(CONTENT, "Hi")]


def turn(status: Status = Status.COMPLETE, response: str = "", **more: Any) -> Turn:
    given: dict[str, Any] = {"run_id": "01", "session": "s", "number": 2, "stop_reason": None, "error": None, **more}
    usage = {"prompt_tokens": 10.0, "cached_tokens": 4.0, "completion_tokens": 3.0}
    return Turn(status=status, response=response, context=Path("context.md"), usage=usage, **given)


@pytest.mark.parametrize(
    ("ended", "content", "finish", "error"),
    [
        (turn(response="Hi"), "Hi", "stop", ""),
        (turn(Status.WAITING, waiting=Waiting("q", "01", "Sure?", ("yes", "no"))), "Sure? (yes / no)", "stop", ""),
        (turn(Status.STOPPED, "Half", stop_reason="budget:steps"), "Half", "length", ""),
        (turn(Status.FAILED, "No.", stop_reason="error:unfinished", error="given up"), "No.", "stop", ""),
        (
            turn(Status.FAILED, "Not approved", stop_reason="error:model", error="gone", hint="wait"),
            "",
            "stop",
            "gone; wait",
        ),
        (turn(Status.STOPPED, stop_reason="user_cancelled"), "", "stop", "the turn was cancelled"),
    ],
)
def test_what_a_turn_came_to(ended: Turn, content: str, finish: str, error: str) -> None:
    reply = Reply.of(ended)
    assert (reply.content, reply.finish_reason, reply.error) == (content, finish, error)


def test_only_what_a_request_took_is_counted() -> None:
    spent = Reply.of(turn(response="Hi"), {"prompt_tokens": 8.0, "cached_tokens": 4.0}).spent
    assert usage(spent) == {
        "prompt_tokens": 2,
        "completion_tokens": 3,
        "total_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 0},
    }


def test_an_answer_without_a_turn_has_no_place() -> None:
    whole = Completion("echelon").whole("Hi")
    assert "echelon" not in whole and "reasoning_content" not in whole["choices"][0]["message"]
    assert whole["usage"]["total_tokens"] == 0 and whole["choices"][0]["finish_reason"] == "stop"
