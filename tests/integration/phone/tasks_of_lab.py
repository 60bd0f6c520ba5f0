"""Tasks on the simulated phone, one after the other in one home, and what they leave behind."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from phone_lab import LAB, OwnAdb
from pydantic import BaseModel
from task_lab import Follower, quick

from gateway import Gateway, Settings
from gateway.engine.events import CALL_ENDED, CALL_INTENDED, NODE_DECIDED, Event
from gateway.engine.scripted import ScriptedClock
from gateway.phone.agents.extensions import CustomAction, Extensions
from gateway.phone.bridge import Bridge
from gateway.phone.task.state import TaskOptions
from gateway.phones import PhoneTask
from gateway.tools.registry import Registry
from simphone.background import PhoneThread

Json = dict[str, Any]

OPEN: Json = {"action": "open_app", "app": "Settings"}
LABORATORY: Json = {"action": "open_app", "app": LAB}
INTO_DISPLAY: Json = {"action": "tap", "on": "Display"}
BACK: Json = {"action": "back"}
WAIT: Json = {"action": "wait", "seconds": 0}
SHAKE: Json = {"action": "shake"}
FINISH: Json = {"action": "FINISH", "reason": "done"}

LONGEST_S = 30.0


class Held(Follower):
    """Makes no decision after so many until `go_on` is set; `reached` is, once it is asked for that one."""

    def __init__(self, script: Sequence[Json], after: int) -> None:
        super().__init__(script)
        self.after = after
        self.reached = asyncio.Event()
        self.go_on = threading.Event()
        self._loop = asyncio.get_running_loop()

    def predict(self, instruction: str, obs: Json) -> tuple[str, Json]:
        if self.asked == self.after:
            self._loop.call_soon_threadsafe(self.reached.set)
            self.go_on.wait(LONGEST_S)
        return super().predict(instruction, obs)


class Nothing(BaseModel):
    """What an action is given that needs nothing."""


def shaking(run: Callable[[Bridge], str], **more: Any) -> Extensions:
    """With an action `shake`, which does what `run` does."""
    return Extensions.of([CustomAction("shake", "Shake the phone.", Nothing, lambda bridge, _: run(bridge), **more)])


class Tasks:
    """A gateway whose pauses before retries take no time. `asked` is the agent of the last task that was begun by a
    script."""

    def __init__(self, home: Path, phone: PhoneThread, adb: OwnAdb) -> None:
        self.home = home
        self.phone = phone
        self.adb = adb
        self.clock = ScriptedClock()
        self.asked = Follower([])
        self.gateway = self.another()

    def another(self, registry: Callable[[], Registry] = lambda: Registry([]), **values: Any) -> Gateway:
        """A gateway in the same home, as another process has one."""
        values = {"workspace": str(self.home), **values}
        settings = Settings.load(values, environ={"ECHELON_HOME": str(self.home)}, cwd=self.home)
        self.gateway = Gateway(settings, registry=registry, clock=self.clock)
        return self.gateway

    def options(self, **more: Any) -> TaskOptions:
        return quick(self.phone.serial, self.adb.server.address).with_(**more)

    async def run(
        self, script: Sequence[Json] | object, *, limits: Mapping[str, Any] | None = None, **more: Any
    ) -> Ran:
        """A task, whose agent follows the script unless it is one itself."""
        on_event, extensions = more.pop("on_event", None), more.pop("extensions", None)
        agent = script
        if isinstance(script, list):
            agent = self.asked = Follower(script)
        given = {"agent": agent, "on_event": on_event, "extensions": extensions, **(limits or {})}
        return Ran(self, await self.gateway.phones.run("Look around", self.options(**more), **given))

    async def answered(self, ran: Ran, answer: str, agent: object | None = None) -> Ran:
        """Gone on with, with the answer to its question."""
        await self.gateway.runs.answer(ran.task.run_id, answer)
        return await self.resumed(ran, agent)

    async def resumed(self, ran: Ran, agent: object | None = None, **more: Any) -> Ran:
        return Ran(self, await self.gateway.phones.resume(ran.task.run_id, agent=agent, **more))

    def last(self) -> Ran:
        """The one that was begun last."""
        phones = self.gateway.phones
        return Ran(self, phones.task(self.gateway.runs.store.runs()[0].id))


class Ran:
    """A task that was run, and its record."""

    def __init__(self, tasks: Tasks, task: PhoneTask) -> None:
        self._tasks = tasks
        self.task = task

    @property
    def ended(self) -> tuple[str, str | None]:
        return self.task.status.value, self.task.stop_reason

    @property
    def trajectory(self) -> Json:
        found: Json = json.loads((self.task.folder / "trajectory.json").read_text())
        return found

    @property
    def actions(self) -> list[str]:
        return [str(each.action.get("action")) for each in self.task.steps]

    @property
    def results(self) -> list[tuple[bool | None, str]]:
        return [(each.result.ok, each.result.cause) for each in self.task.steps]

    @property
    def events(self) -> list[Event]:
        return self._tasks.gateway.runs.store.events(self.task.run_id)

    def visited(self) -> list[str]:
        """The nodes, in the order of their attempts."""
        return [each.data["node"] for each in self.events if each.kind == NODE_DECIDED]

    def decided(self, node: str) -> list[Json]:
        return [each.data for each in self.events if each.kind == NODE_DECIDED and each.data["node"] == node]

    def begun(self, op: str) -> int:
        """How many calls of that operation were begun."""
        return sum(each.kind == CALL_INTENDED and each.data["op"] == op for each in self.events)

    def failures(self, op: str) -> list[list[Any]]:
        """Kind, message, … of each of the operation's calls that failed."""
        ended = [each.data for each in self.events if each.kind == CALL_ENDED and each.data["op"] == op]
        return [each["error"] for each in ended if "error" in each]

    def has_pictures(self) -> bool:
        """Whether there is a file for every screenshot that the trajectory names."""
        named = [each["screenshot"] for each in self.trajectory["steps"]]
        named += [each["error_screenshot"] for each in self.trajectory["steps"] if each["error_screenshot"]]
        return all((self.task.folder / each).read_bytes().startswith(b"\x89PNG") for each in named)
