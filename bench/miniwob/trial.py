"""One try of a task, by an agent whose actions the gateway carries out."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel

from bench.miniwob.episode import Episodes
from bench.miniwob.oracle import Oracle
from gateway import Gateway
from gateway.phone.task.news import PhoneEvent, StepTaken, TaskStarted
from gateway.phone.task.state import TaskOptions
from gateway.phones import PhoneTask

ORACLE = "oracle"
MAX_STEPS = {ORACLE: 60}
MAX_STEPS_OTHERS, MAX_TIME_S = 15, 1200.0


class Trial(BaseModel):
    """`reward` is None where the episode did not end; `actions` are those of the phone, by kind; `questions` were
    answered with yes."""

    task: str
    seed: int
    agent: str
    asked: str
    reward: float | None
    actions: tuple[str, ...]
    questions: int
    model_calls: int
    seconds: float
    ended: str
    run_id: str

    @property
    def solved(self) -> bool:
        return self.reward == 1.0


async def attempt(
    gateway: Gateway, episodes: Episodes, serial: str, adb_server: str, task: str, seed: int, agent: str
) -> Trial:
    """Until the episode ends, or the agent does. `agent` is `oracle`, `builtin`, or `package.module:Class`."""
    asked = episodes.begin(task, seed)
    own = Oracle(task) if agent == ORACLE else None
    options = TaskOptions(
        agent="builtin" if own else agent, serial=serial, adb_server=adb_server, tree=own is not None, step_delay=0
    )
    began = time.monotonic()
    run_id, kinds, questions = "", [], 0
    working: asyncio.Future[PhoneTask]

    def told(event: PhoneEvent) -> None:
        nonlocal run_id
        if isinstance(event, TaskStarted):
            run_id = event.run_id
        if isinstance(event, StepTaken):
            kinds.append(str(event.step.action.get("action")))
            if episodes.reward() is not None:
                working.cancel()

    limits = {"max_steps": MAX_STEPS.get(agent, MAX_STEPS_OTHERS), "max_taps": 100, "max_time_s": MAX_TIME_S}
    working = asyncio.ensure_future(gateway.phones.run(asked, options, agent=own, on_event=told, **limits))
    ended = "scored"
    with suppress(asyncio.CancelledError):
        done = await working
        while done.waiting is not None:
            questions += 1
            await gateway.runs.answer(done.run_id, "yes")
            working = asyncio.ensure_future(gateway.phones.resume(done.run_id, agent=own, on_event=told))
            done = await working
        ended = done.stop_reason or ""
        ended += f": {done.error or done.answer}" if done.error or done.answer else ""
    task_done = gateway.phones.task(run_id)
    return Trial(
        task=task,
        seed=seed,
        agent=agent,
        asked=asked,
        reward=episodes.reward(),
        actions=tuple(kinds),
        questions=questions,
        model_calls=int(task_done.usage.get("model_calls", 0)),
        seconds=round(time.monotonic() - began, 1),
        ended=ended,
        run_id=run_id,
    )


def read(path: Path) -> list[Trial]:
    """The tries that a file has, one a line."""
    if not path.exists():
        return []
    return [Trial.model_validate_json(line) for line in path.read_text("utf-8").splitlines()]
