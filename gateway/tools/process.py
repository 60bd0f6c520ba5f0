"""Starting programs from the event loop."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import Process
from typing import Any


async def create_process(*command: str, **options: Any) -> Process:
    """`asyncio.create_subprocess_exec`, with the same arguments and errors, that a cancellation does not cut off.

    Cut off, that one may wait for ever, and leave running what the program has started meanwhile
    (https://github.com/python/cpython/issues/103847). Here the caller gets the process, and is cancelled where it waits
    next, so that it can end it.
    """
    creation = asyncio.ensure_future(asyncio.create_subprocess_exec(*command, **options))
    heard: list[asyncio.CancelledError] = []
    while not creation.done():
        try:
            await asyncio.wait({creation})
        except asyncio.CancelledError as error:
            heard.append(error)
    if task := asyncio.current_task():
        for each in heard:
            task.uncancel()  # as often as before, for whoever counts
            task.cancel(*each.args)
    return creation.result()
