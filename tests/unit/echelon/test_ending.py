"""The exit code and the usage line follow from how a turn ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from echelon.ending import exit_code, usage, usage_line
from gateway import Turn
from gateway.engine.state import Status


def turn(status: Status, reason: str | None = None, **usage: float) -> Turn:
    given: dict[str, Any] = {"run_id": "01", "session": "default", "number": 1, "response": "", "error": None}
    return Turn(**given, status=status, stop_reason=reason, context=Path("context.md"), usage=usage)


@pytest.mark.parametrize(
    ("status", "reason", "code"),
    [
        (Status.COMPLETE, "success", 0),
        (Status.WAITING, None, 6),
        (Status.STOPPED, "user_cancelled", 130),
        (Status.STOPPED, "budget:steps", 3),
        (Status.STOPPED, "budget:a_new_one", 3),
        (Status.FAILED, "error:model_unavailable", 5),
        (Status.FAILED, "error:model_timeout", 5),
        (Status.FAILED, "error:model_overloaded", 5),
        (Status.FAILED, "error:model_refused", 5),
        (Status.FAILED, "error:context_too_long", 1),
        (Status.FAILED, "error:config", 2),
        (Status.FAILED, "error:tool", 1),
        (Status.FAILED, "error:internal", 1),
        (Status.FAILED, "no_progress", 1),
    ],
)
def test_exit_codes(status: Status, reason: str | None, code: int) -> None:
    assert exit_code(turn(status, reason)) == code


def test_the_usage_line_leaves_out_what_is_nothing() -> None:
    free = turn(Status.COMPLETE, model_calls=1, prompt_tokens=1200, completion_tokens=30, time_s=2.04)
    assert usage_line(free) == "1 model call · 1,200 tokens read · 30 written · 2.0 s"
    paid = turn(Status.COMPLETE, model_calls=2, prompt_tokens=9, cached_tokens=4, cost_usd=0.01234)
    assert usage_line(paid) == "2 model calls · 9 tokens read (4 cached) · 0 written · 0.0 s · $0.0123"


def test_usage_has_the_names_of_context_md() -> None:
    assert list(usage(turn(Status.COMPLETE)).model_dump()) == [
        *("model_calls", "prompt_tokens", "cached_tokens", "completion_tokens", "cost_usd", "wall_s")
    ]
