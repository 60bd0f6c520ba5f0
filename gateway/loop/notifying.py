"""Notices: a program and an address are told when a session warns, asks or ends. Whether they listen is not its affair.

The program gets the notice as JSON on its standard input, the address by POST. Each may come twice, after a crash:
`id`, which is the header `Idempotency-Key` too, is then the same.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, Literal

from gateway.engine.ports import Json
from gateway.errors import ToolError
from gateway.loop.agents.agent import in_a_line
from gateway.loop.state import Plain
from gateway.tools.sandbox import run_program

PATIENCE_S = 10.0
KEPT_BYTES = 10_000  # of what the program prints
_DESKTOP = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")  # what notify-send needs


class Notice(Plain):
    """What there is to say, in words and as data. `agent` is the agent's name, `at` seconds since the epoch."""

    id: str
    kind: Literal["warning", "question", "end"]
    session: str
    agent: str
    text: str
    iteration: int
    at: float
    data: dict[str, Json]


async def notify(
    notice: Notice, *, command: Sequence[str], webhook: str, patience_s: float = PATIENCE_S
) -> tuple[str, ...]:
    """Tell both, each within `patience_s` seconds; an empty one is nobody. Gives what went wrong, in words that do not
    have the address, which may be a secret. Raises nothing."""
    body = notice.model_dump_json().encode()
    told: list[Coroutine[Any, Any, str]] = []
    if command:
        told.append(_run(command, body, patience_s))
    if webhook:
        told.append(_post(webhook, body, notice.id, patience_s))
    return tuple(filter(None, await asyncio.gather(*told)))


async def _run(command: Sequence[str], body: bytes, patience_s: float) -> str:
    name = f"the program for notices ({os.path.basename(command[0])})"
    env = {each: os.environ[each] for each in _DESKTOP if each in os.environ}
    try:
        finished = await run_program(
            command, cwd=Path.home(), deadline_s=patience_s, env=env, stdin=body, output_bytes=KEPT_BYTES
        )
    except ToolError as error:
        return f"{name}: {error}"
    except Exception as error:
        return f"{name} failed: {type(error).__name__}"
    if finished.code is None:
        return f"{name} did not end within {patience_s:g} s"
    said = in_a_line(finished.output)
    return f"{name} ended with code {finished.code}{f': {said}' if said else ''}" if finished.code else ""


async def _post(webhook: str, body: bytes, id: str, patience_s: float) -> str:
    import aiohttp

    headers = {"Content-Type": "application/json", "Idempotency-Key": id}
    try:
        async with (
            asyncio.timeout(patience_s),
            aiohttp.ClientSession(trust_env=True) as client,
            # where it redirects to is nobody whom the user has named
            client.post(webhook, data=body, headers=headers, allow_redirects=False) as response,
        ):
            status = response.status
    except TimeoutError:
        return f"the webhook for notices did not answer within {patience_s:g} s"
    except Exception as error:  # its words would have the address
        return f"the webhook for notices cannot be reached: {type(error).__name__}"
    return "" if 200 <= status < 300 else f"the webhook for notices answered {status}"
