"""What is said of a task on a phone that has ended, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from echelon.phone_ending import as_data, report
from gateway.engine.state import Status, Waiting
from gateway.phone.task.state import Device, Result, Step
from gateway.phones import PhoneTask

FINISH = Step(number=1, decision=1, action={"action": "FINISH", "reason": "It is off."}, result=Result(ok=True))


def task(status: Status, reason: str | None = None, **more: Any) -> PhoneTask:
    given: dict[str, Any] = {
        "run_id": "01K",
        "task": "Switch Wi-Fi off",
        "error": None,
        "hint": "",
        "answer": "",
        "folder": Path("/somewhere/01K"),
        "steps": (FINISH,),
        "decisions": 1,
        "usage": {"time_s": 4.2},
        "waiting": None,
        "device": Device(serial="S1", model="Pixel 6", android="14", size=(1080, 2400)),
    }
    return PhoneTask(**{**given, "status": status, "stop_reason": reason, **more})


@pytest.mark.parametrize(
    ("status", "reason", "code"),
    [
        (Status.COMPLETE, "success", 0),
        (Status.FAILED, "error:unfinished", 1),
        (Status.FAILED, "error:config", 2),
        (Status.STOPPED, "budget:steps", 3),
        (Status.STOPPED, "budget:taps", 3),
        (Status.FAILED, "error:no_device", 4),
        (Status.FAILED, "error:device_lost", 4),
        (Status.FAILED, "error:device_busy", 4),
        (Status.FAILED, "error:model_unavailable", 5),
        (Status.WAITING, None, 6),
        (Status.STOPPED, "user_cancelled", 130),
    ],
)
def test_exit_codes(status: Status, reason: str | None, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    waiting = Waiting("1:user", "01K", "Which one?") if status is Status.WAITING else None
    assert report(task(status, reason, waiting=waiting), as_json=False) == code


def test_the_answer_goes_to_stdout_and_the_rest_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    report(task(Status.COMPLETE, "success", answer="Android 14"), as_json=False)
    out, err = capsys.readouterr()
    assert out == "Android 14\n"
    assert "complete · 1 step · 4.2 s" in err
    assert "trajectory: /somewhere/01K/trajectory.json" in err


def test_a_used_up_budget_says_what_raises_it(capsys: pytest.CaptureFixture[str]) -> None:
    report(task(Status.STOPPED, "budget:steps"), as_json=False)
    report(task(Status.STOPPED, "budget:taps"), as_json=False)
    err = capsys.readouterr().err
    assert "echelon runs resume 01K --limit steps=TOTAL" in err
    assert "limits.max_steps" in err and "ECHELON_LIMITS__MAX_TAPS" in err
    report(task(Status.STOPPED, "budget:steps"), as_json=False, simulated=True)
    err = capsys.readouterr().err
    assert "mai-phone --max-steps N" in err and "runs resume" not in err, "the phone is gone"


def test_a_failed_task_can_be_gone_on_with_unless_the_agent_gave_up(capsys: pytest.CaptureFixture[str]) -> None:
    report(task(Status.FAILED, "error:device_lost", error="S1 was lost", hint="plug it in again"), as_json=False)
    err = capsys.readouterr().err
    assert "error: S1 was lost\n  plug it in again\n" in err and "echelon runs resume 01K" in err
    report(task(Status.FAILED, "error:unfinished", error="no such contact"), as_json=False)
    assert "resume" not in capsys.readouterr().err


def test_what_a_person_has_cancelled_is_not_gone_on_with(capsys: pytest.CaptureFixture[str]) -> None:
    report(task(Status.STOPPED, "user_cancelled"), as_json=False)
    assert "resume" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("status", "reason"), [(Status.FAILED, "error:model"), (Status.STOPPED, None), (Status.WAITING, None)]
)
def test_after_a_simulated_phone_nothing_is_offered_that_cannot_be_done(
    status: Status, reason: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    waiting = Waiting("1:user", "01K", "Which one?") if status is Status.WAITING else None
    report(task(status, reason, waiting=waiting), as_json=False, simulated=True)
    err = capsys.readouterr().err
    assert "echelon runs" not in err
    assert "echelon simphone start" in err


def test_a_question_says_until_when_it_can_be_answered(capsys: pytest.CaptureFixture[str]) -> None:
    waiting = Waiting("1:user", "01K", "Which one?", deadline=0.0, on_timeout="")
    report(task(Status.WAITING, waiting=waiting), as_json=False)
    err = capsys.readouterr().err
    assert "Which one?\n(until " in err and 'echelon runs answer 01K "…"' in err


def test_a_program_gets_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    done = task(Status.COMPLETE, "success", answer="It is off.")
    report(done, as_json=True)
    out, err = capsys.readouterr()
    assert err == ""
    assert json.loads(out) == json.loads(as_data(done).model_dump_json())
    assert json.loads(out)["device"] == {"serial": "S1", "model": "Pixel 6", "android": "14"}
    assert as_data(task(Status.FAILED, "error:no_device", device=None)).device is None
