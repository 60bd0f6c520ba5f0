"""What a task on a phone adds to raw adb, on a simulated phone in a process of its own: a step without its model and
without waiting for the screen, against the round trips that it needs, made by its agent between the steps; and what
memory the steps take.

`python -m bench.phone_task [STEPS]` prints the table.
"""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

from bench.crowd import resident_mb
from bench.phone import DUMP, GOAL, MEMORY_MB, RawAdb, own_server, simulated, timed
from bench.table import Line, show
from gateway import Gateway, Settings
from gateway.engine.state import Status
from gateway.phone import devices
from gateway.phone.adb import AdbServer
from gateway.phone.bridge import Bridge
from gateway.phone.deadline import Deadline
from gateway.phone.link import Link
from gateway.phone.task.news import NodeStarted, PhoneEvent, StepTaken
from gateway.phone.task.state import Step, TaskOptions

STEPS = 60
ENDS = 10  # steps at either end that are compared: with each the state and the document grow
EARLY, LATE = 5, 50  # steps between which memory is compared
SCREENS = ("screencap -p", DUMP, "dumpsys window displays")  # what a look at the screen asks for
SETTINGS = "com.android.settings"
DONE = {"action": "FINISH", "reason": "enough"}


class Flipper:
    """Flips a switch at each step, a little further to the side each time; before that it does the same by raw adb,
    twice, so that the switch is as it was."""

    def __init__(self, raw: RawAdb, bridge: Bridge, y: float, steps: int) -> None:
        self._raw = raw
        self._bridge = bridge
        self._y = y
        self._left = steps
        self._workers = ThreadPoolExecutor(len(SCREENS))
        self.in_turn: list[float] = []
        self.at_once: list[float] = []

    def predict(self, instruction: str, obs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        if not self._left:
            return "", DONE
        self._left -= 1
        x = 0.1 + 0.01 * (self._left % 80)
        place = f"{round(x * 1080)} {round(self._y * 2400)}"
        self.at_once.append(self._step(place, lambda: [*self._workers.map(self._raw.shell, SCREENS)]))
        self.in_turn.append(self._step(place, lambda: [self._raw.shell(line) for line in SCREENS]))
        return "", {"action": "tap", "coordinate": [x, self._y]}

    def _step(self, place: str, look: Callable[[], object]) -> float:
        took = timed(lambda: self._raw.shell(f"input tap {place}"))
        self._bridge.settle()
        return took + timed(look)


class Wanderer:
    """Scrolls, opens a page and goes back, again and again; weighs the process on the way."""

    def __init__(self) -> None:
        self.asked = 0
        self.resident: dict[int, float] = {}

    def predict(self, instruction: str, obs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        self.asked += 1
        if self.asked in (EARLY, LATE):
            gc.collect()
            self.resident[self.asked] = resident_mb()
        if self.asked > LATE:
            return "", DONE
        x = 0.3 + 0.01 * (self.asked % 50)
        down, up = ([x, 0.7], [x, 0.4]), ([x, 0.4], [x, 0.7])
        start, end = down if self.asked % 4 == 1 else up
        if self.asked % 4 in (1, 2):
            return "", {"action": "swipe", "start": start, "end": end, "duration": 200}
        return "", {"action": "tap", "coordinate": [x, 0.5]} if self.asked % 4 == 3 else {"action": "back"}


class Timeline:
    """When each decision began, and the steps that followed."""

    def __init__(self) -> None:
        self.began: list[float] = []
        self.steps: list[Step] = []

    def tell(self, event: PhoneEvent) -> None:
        if isinstance(event, NodeStarted) and event.node == "ChooseAction":
            self.began.append(time.perf_counter() * 1000)
        elif isinstance(event, StepTaken):
            self.steps.append(event.step)

    def costs(self) -> list[dict[str, float]]:
        """Milliseconds of each step but the first, which makes acquaintance: as a whole, the act, the look, and the
        rest; without model and waiting."""
        costs = []
        for began, ended, step in list(zip(self.began, self.began[1:], self.steps, strict=False))[1:]:
            if not step.result.ok or step.retries:
                raise RuntimeError(f"step {step.number} did not succeed at once: {step.result}")
            took = step.timings_ms
            whole = ended - began - took["predict"] - took["settle"]
            costs.append(
                {
                    "whole": whole,
                    "act": took["act"],
                    "perceive": took["perceive"],
                    "rest": whole - took["act"] - took["perceive"],
                }
            )
        return costs


async def carry_out(serial: str, server: str, agent: object, on_event: Callable[[PhoneEvent], None] | None) -> None:
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        async with Gateway(Settings.load(environ={"ECHELON_HOME": name}, cwd=home)) as gateway:
            options = TaskOptions(serial=serial, adb_server=server, step_delay=0.0)
            task = await gateway.phones.run(
                "Use the phone", options, agent=agent, max_steps=200, max_taps=200, on_event=on_event
            )
            if task.status is not Status.COMPLETE:
                raise RuntimeError(f"the task ended with {task.status}: {task.error or task.answer or task.waiting}")


def steps(server: AdbServer, serial: str, rounds: int) -> list[Line]:
    raw, timeline = RawAdb(server.port, serial), Timeline()
    with Bridge(Link(server, serial)) as bridge:
        raw.shell(f"am start -n {SETTINGS}/.AccessibilitySettings")
        bridge.settle()
        seen = bridge.observe(screenshot=False)
        switch = next(each for each in seen.elements or () if each.role == "switch")
        agent = Flipper(raw, bridge, switch.bounds.centre[1] / seen.size[1], rounds + 1)
        asyncio.run(carry_out(serial, server.address, agent, timeline.tell))
    costs = timeline.costs()
    strict = median(each["whole"] / one for each, one in zip(costs, agent.at_once[1:], strict=True))
    loose = median(each["whole"] / one for each, one in zip(costs, agent.in_turn[1:], strict=True))
    parts = {name: median(each[name] for each in costs) for name in costs[0]}
    first, last = (median(each["rest"] for each in some) for some in (costs[:ENDS], costs[-ENDS:]))
    return [
        Line("a step's round trips, raw, its look's at once", f"{median(agent.at_once):.1f} ms"),
        Line("… one after the other", f"{median(agent.in_turn):.1f} ms"),
        Line(
            "a step without model and waiting",
            f"{parts['whole']:.1f} ms, {strict:.2f} × ({loose:.2f} ×)",
            f"≤ {GOAL} ×",
            strict <= GOAL,
        ),
        Line(
            "… of which: act, look, the rest",
            f"{parts['act']:.1f} + {parts['perceive']:.1f} + {parts['rest']:.1f} ms",
        ),
        Line(f"the rest, of the first {ENDS} steps and of the last", f"{first:.1f} ms, {last:.1f} ms"),
        Line("what cannot be taken back is looked at once more", f"+ {parts['perceive']:.1f} ms"),
    ]


def memory(server: AdbServer, serial: str) -> Line:
    command = [sys.executable, "-m", "bench.phone_task", "wander", serial, server.address]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    resident = json.loads(done.stdout)
    more = resident[str(LATE)] - resident[str(EARLY)]
    what = f"memory from step {EARLY} to step {LATE}"
    measured = f"{more:+.1f} MB ({resident[str(EARLY)]:.0f} MB at step {EARLY})"
    return Line(what, measured, f"≤ {MEMORY_MB} MB", more <= MEMORY_MB)


def wander(serial: str, server: str) -> None:
    """Be the process that is weighed."""
    with Bridge(Link(AdbServer(server, start=False), serial)) as bridge:
        bridge.start_app(SETTINGS)
    agent = Wanderer()
    asyncio.run(carry_out(serial, server, agent, None))
    print(json.dumps(agent.resident))


def measure(rounds: int = STEPS) -> list[Line]:
    with own_server() as server, simulated() as serial:
        devices.connect(server, serial, Deadline(60))
        return [*steps(server, serial, rounds), memory(server, serial)]


def main(words: Sequence[str]) -> None:
    if words[:1] == ["wander"]:
        wander(*words[1:])
    else:
        show("A task on a phone", measure(*map(int, words)))


if __name__ == "__main__":
    main(sys.argv[1:])
