"""Sessions for calls that are made at once: turns of one session follow each other."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator

from gateway.engine.runs import Runs

AT_ONCE = 16  # calls of one gateway; more of them wait


class Lanes:
    """The session `name`, and `name-2`, `name-3`, … for calls that would have to wait for it."""

    def __init__(self, runs: Runs, name: str) -> None:
        self.first = name
        self._runs = runs
        self._taken: set[str] = set()
        self._room = asyncio.Semaphore(AT_ONCE)

    @contextlib.asynccontextmanager
    async def free(self) -> AsyncIterator[str]:
        """The first of them that nobody works in, in this process or another."""
        async with self._room:
            now = self._runs.clock.now()
            names = (self.first if number == 1 else f"{self.first}-{number}" for number in itertools.count(1))
            name = next(
                each for each in names if each not in self._taken and not self._runs.store.held(f"session:{each}", now)
            )
            self._taken.add(name)
            try:
                yield name
            finally:
                self._taken.discard(name)
