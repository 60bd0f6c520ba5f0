"""How a tool call by hand ended: the tool's own words, nothing about the turn that it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from echelon.ending import as_data, exit_code, how_it_ended, usage_line
from echelon.output.turn import CallResult
from echelon.terminal import put, put_json, say
from gateway import Gateway, Turn
from gateway.engine.events import CALL_ENDED
from gateway.engine.state import Status

ERROR = "Error: "  # what the text of a call that raised begins with


def is_call(gateway: Gateway, turn: Turn) -> bool:
    """Whether the turn is one tool call that a person has decided."""
    return bool(gateway.runs.store.run(turn.run_id).context.get("direct"))


def told(gateway: Gateway, turn: Turn) -> tuple[Turn, CallResult | None]:
    """The turn with the tool's own error and hint, and its result, None where it has none yet.

    A result that is not ok and no error (nothing was found, a program ended with 1) leaves the turn without one.
    """
    results = gateway.results(turn)
    if not results:
        return turn, None
    last = results[-1]
    result = CallResult(ok=last["ok"], text=last["text"], data=dict(last["data"]))
    error, hint = _error(gateway, turn, last)
    return replace(turn, error=error, hint=hint), result


def report(turn: Turn, result: CallResult | None, *, as_json: bool) -> int:
    """The result on standard output, an error on standard error; the exit code."""
    if as_json:
        put_json(as_data(turn, result))
    elif result is not None and turn.error is None:
        put(result.text)
    if turn.usage.get("model_calls"):
        say(usage_line(turn))
    if turn.status is not Status.FAILED or turn.error is not None:
        for line in how_it_ended(turn):
            say(line)
    return exit_code(turn)


def _error(gateway: Gateway, turn: Turn, result: Mapping[str, Any]) -> tuple[str | None, str]:
    """Message and hint of a call that raised: the result has them in one text, the log apart."""
    if "error" not in result["data"] or result["ok"]:
        return None, ""
    text = str(result["text"])
    for event in reversed(gateway.runs.store.events(turn.run_id)):
        if event.kind == CALL_ENDED and "error" in event.data:
            _, message, _, hint, _ = event.data["error"]
            if text == f"{ERROR}{message} ({hint})":
                return message, hint
    return text.removeprefix(ERROR), ""
