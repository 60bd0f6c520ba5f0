"""A task keeps what it has seen on disk: fifty steps take hardly more memory than five. The phone is a double, which
shows something else at each look."""

from __future__ import annotations

import asyncio
import gc
import io
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from task_lab import gateway_in

from gateway.engine.state import Status
from gateway.phone.bridge import ActionResult
from gateway.phone.element import Bounds, Element
from gateway.phone.observation import Observation
from gateway.phone.settle import Settled
from gateway.phone.state_id import state_id
from gateway.phone.status import Display, Power
from gateway.phone.task.hands import Hand
from gateway.phone.task.state import TaskOptions

SIZE = (360, 800)
EARLY, LATE = 5, 50
PICTURE_KB, MORE_KB = 100, 4000  # what each picture has at least, and what the steps between may take


class ChangingPhone:
    """Thirty buttons that have other names at each look, and another picture."""

    serial = "a-double"

    def __init__(self) -> None:
        self.looks = 0

    def wake(self) -> Power:
        return Power(True, False, False)

    def identity(self) -> tuple[str, str]:
        return "Double", "14"

    def display(self) -> Display:
        return Display(SIZE, 0, 160)

    def apps(self) -> list[Any]:
        return []

    def settle(self, longest_s: float) -> Settled:
        return Settled(True, 0.0, 2)

    def perform(self, action: Any, seen: Observation) -> ActionResult:
        return ActionResult(((1, 1),), "did it")

    def observe(self) -> Observation:
        self.looks += 1
        shown = tuple(
            Element(number, "button", f"place {number} at look {self.looks} " * 3, Bounds(0, number, 360, number + 1))
            for number in range(1, 31)
        )
        picture = io.BytesIO()
        Image.effect_noise(SIZE, 64).save(picture, "PNG", compress_level=1)
        assert len(picture.getvalue()) > PICTURE_KB * 1000
        return Observation(SIZE, 0, "org.example", ".Main", picture.getvalue(), shown, state_id(shown, ".Main"))

    def close(self) -> None:
        pass


class Tapper:
    def __init__(self) -> None:
        self.asked = 0
        self.kilobytes: dict[int, float] = {}

    def predict(self, instruction: str, obs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        self.asked += 1
        if self.asked in (EARLY, LATE):
            gc.collect()
            self.kilobytes[self.asked] = tracemalloc.get_traced_memory()[0] / 1000
        if self.asked == LATE:
            return "", {"action": "FINISH"}
        if self.asked % 2:
            return "", {"action": "swipe", "start": [0.5, 0.7], "end": [0.5, 0.3]}
        return "", {"action": "tap", "coordinate": [0.5, 0.1]}


def test_fifty_steps_take_hardly_more_memory_than_five(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Hand, "_connected", lambda hand, serial: ChangingPhone())
    agent = Tapper()

    async def carried_out() -> Status:
        async with gateway_in(tmp_path / "home") as there:
            options = TaskOptions(step_delay=0.0, tree=True, app="")
            task = await there.phones.run("Wander about", options, agent=agent, max_taps=100)
            assert len(task.steps) == LATE and (task.folder / "screenshots" / "049.png").exists()
            return task.status

    tracemalloc.start()
    try:
        assert asyncio.run(carried_out()) is Status.COMPLETE
    finally:
        tracemalloc.stop()
    more = agent.kilobytes[LATE] - agent.kilobytes[EARLY]
    assert more < MORE_KB, more
