"""What the phone refused to do, in words for the agent."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.engine.ports import Json
from gateway.phone.task.state import Result
from gateway.phone.text_input import INSTALL

WORDS = 25
CAUSES = {
    "text_not_typed": "not_typed",
    "app_not_found": "no_such_app",
    "device_denied": "denied",
    "usage": "unusable",
    "moved": "moved",
}
NO_INPUT_METHOD = "This phone cannot type these characters. Type plain letters and digits, or ask the user."


def refused(outcome: Mapping[str, Json]) -> Result:
    """Of an outcome whose `ok` is False: it was not done."""
    message, hint = str(outcome.get("message") or ""), str(outcome.get("hint") or "")
    if INSTALL in hint:
        return Result(ok=False, cause="no_input_method", note=NO_INPUT_METHOD, output=f"{message}: {hint}")
    cause = CAUSES.get(str(outcome.get("error")), "failed")
    return Result(ok=False, cause=cause, note=in_short(message, hint) or "The phone refused it.", output=message)


def in_short(message: str, hint: str = "") -> str:
    """Both on one line, the hint whole as long as it leaves room."""
    advice = hint.split()
    told = message.split()
    if advice and len(advice) < WORDS - 5:
        room = WORDS - len(advice)
        told = told if len(told) <= room else [*told[: room - 1], "…"]
        return f"{' '.join(told).rstrip(':;,')}: {' '.join(advice)}".lstrip(": ")
    return " ".join(told if len(told) <= WORDS else [*told[: WORDS - 1], "…"])
