"""What a turn came to, as the result of an MCP tool call: `{ok, text, data}`, its text also as content."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

import mcp_types as types

from gateway import Gateway, Turn
from gateway.config import HOME, home_of
from gateway.engine.state import Status
from gateway.errors import EchelonError


def of_call(gateway: Gateway, turn: Turn) -> types.CallToolResult:
    """The result of the turn's one tool; what stopped the turn where it did not come to that."""
    results = gateway.results(turn)
    if not results:
        return stopped(turn)
    found = results[-1]
    return result(found["text"], ok=found["ok"], data=found["data"])


def of_run(turn: Turn) -> types.CallToolResult:
    """The response of a whole turn. data: {session, turn, run, context: the path of its context.md}."""
    if turn.status is not Status.COMPLETE and not turn.response:
        return stopped(turn)
    data = {"session": turn.session, "turn": turn.number, "run": turn.run_id, "context": str(turn.context)}
    return result(turn.response, ok=turn.status is Status.COMPLETE, data=data)


def stopped(turn: Turn) -> types.CallToolResult:
    """A turn that ended before it came to anything."""
    why = turn.error or f"stopped: {turn.stop_reason}"
    return failed(f"{why}; {turn.hint}" if turn.hint else why)


def unanswered(gateway: Gateway, turn: Turn) -> types.CallToolResult:
    """A turn that waits for a person, whom this client cannot ask, or who did not say."""
    waiting = turn.waiting
    assert waiting is not None
    home = "" if gateway.home == home_of({}) else f"{HOME}={shlex.quote(str(gateway.home))} "
    answer = "yes" if "yes" in waiting.options else '"…"'
    return failed(
        f"This waits for the user, and nothing was done yet: {waiting.question}\n"
        f"The user can answer it in a terminal: {home}echelon runs answer {turn.run_id} {answer}"
    )


def of_error(error: EchelonError) -> types.CallToolResult:
    return failed(f"{error} ({error.hint})" if error.hint else str(error))


def failed(text: str) -> types.CallToolResult:
    return result(text, ok=False)


def result(text: str, *, ok: bool, data: Mapping[str, Any] | None = None) -> types.CallToolResult:
    """The text stands in the structured content, too: there are clients that show models nothing else."""
    text, data = _writable(text), json.loads(_writable(json.dumps(data or {}, ensure_ascii=False)))
    return types.CallToolResult(
        content=[types.TextContent(text=text)],
        structured_content={"ok": ok, "text": text, "data": data},
        is_error=not ok,
    )


def _writable(text: str) -> str:
    """Without half surrogate pairs, which cannot be sent."""
    return text.encode("utf-8", "replace").decode()
