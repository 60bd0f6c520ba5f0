"""A turn's events as MCP progress: a line for each thing that came about, and a sign of life where nothing does."""

from __future__ import annotations

from collections.abc import Iterator

from mcp.server.session import ServerSession

from echelon.event_text import call_line
from echelon.server.account import REASONING, Account
from gateway.stream import ToolStarted, TurnEvent


class Progress:
    """Of one request. Nothing is sent to a client that did not ask for it."""

    def __init__(self, session: ServerSession) -> None:
        self._session = session
        self._account = Account(live=False)
        self._told = 0
        self._last = "working"

    async def tell(self, event: TurnEvent | None) -> None:
        """None repeats the last line: many clients give up on a call that shows no progress for a while."""
        for line in (self._last,) if event is None else _lines(event, self._account):
            self._last = line
            self._told += 1
            await self._session.report_progress(self._told, message=line)


def _lines(event: TurnEvent, account: Account) -> Iterator[str]:
    if isinstance(event, ToolStarted):
        yield f"Execute: {call_line(event.tool, event.args)}"
    yield from (text.rstrip("\n") for kind, text in account.of(event) if kind == REASONING)
