"""How a server is asked to end."""

from __future__ import annotations

import asyncio
import os
import signal

from echelon.cli import INTERRUPTED


def end_asked() -> asyncio.Future[int]:
    """Done with the exit code once SIGTERM or Ctrl-C comes; where that comes once more, the process ends at once."""
    loop = asyncio.get_running_loop()
    asked: asyncio.Future[int] = loop.create_future()

    def end(code: int) -> None:
        if asked.done():
            os._exit(code)
        asked.set_result(code)

    loop.add_signal_handler(signal.SIGINT, end, INTERRUPTED)
    loop.add_signal_handler(signal.SIGTERM, end, 0)
    return asked
