"""The scripted side of the ports: time and identifiers that are the same in every run, for tests and demonstrations."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from gateway.engine.ports import Json

EPOCH = 1_793_000_000.0  # some moment in October 2026


class ScriptedClock:
    """Time that passes only by `advance`, by `sleep` (at once), and by `tick` seconds at each look."""

    def __init__(self, start: float = EPOCH, *, tick: float = 0.0) -> None:
        self.time = start
        self.tick = tick
        self.slept: list[float] = []

    def advance(self, seconds: float) -> None:
        self.time += seconds

    def now(self) -> float:
        self.time += self.tick
        return self.time

    def monotonic(self) -> float:
        return self.now()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)


class ScriptedRandom:
    """Seeds and identifiers that count upwards."""

    def __init__(self, first: int = 1) -> None:
        self._next = first

    def _count(self) -> int:
        self._next += 1
        return self._next - 1

    def seed(self) -> int:
        return self._count()

    def identifier(self, now: float) -> str:
        from ulid import ULID

        return str(ULID.from_bytes(int(now * 1000).to_bytes(6, "big") + self._count().to_bytes(10, "big")))


class Recorder:
    """Keeps the progress that people would see."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, dict[str, Json]]] = []

    def progress(self, kind: str, data: Mapping[str, Json]) -> None:
        self.seen.append((kind, dict(data)))
