"""One try of a task, by an agent whose actions the gateway carries out."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from pydantic import BaseModel

from bench.miniwob.episode import PACKAGE, Episodes
from bench.miniwob.oracle import Oracle
from gateway import Gateway, Settings
from gateway.errors import ModelUnavailable
from gateway.phone.task.news import PhoneEvent, StepTaken, TaskStarted
from gateway.phone.task.state import TaskOptions

ORACLE, BUILTIN = "oracle", "builtin"
MAX_STEPS = {ORACLE: 60}
MAX_STEPS_OF_OTHERS, MAX_TAPS, MAX_TIME_S = 20, 100, 1200.0


Key = tuple[str, int, str, str]
"""Task, seed, agent, model."""


class Trial(BaseModel):
    """`reward` is None where the episode did not end; `actions` are the kinds of the trajectory's steps, `questions`
    those that were answered with yes, `ended` says why there were no more steps."""

    task: str
    seed: int
    agent: str
    model: str
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

    @property
    def key(self) -> Key:
        return self.task, self.seed, self.agent, self.model


async def attempt(gateway: Gateway, episodes: Episodes, options: TaskOptions, task: str, seed: int) -> Trial:
    """Until the episode ends, or the agent does. `options.agent` is `oracle`, `builtin`, or `package.module:Class`.
    Raises ModelUnavailable where there is no model to try with."""
    agent = options.agent
    asked = episodes.begin(task, seed)
    oracle = Oracle(task) if agent == ORACLE else None
    began = time.monotonic()
    run_id, kinds, questions = "", [], 0

    def told(event: PhoneEvent) -> None:
        nonlocal run_id
        if isinstance(event, TaskStarted):
            run_id = event.run_id
        if isinstance(event, StepTaken):
            kinds.append(str(event.step.action.get("action")))
            if episodes.reward() is not None:
                working.cancel()  # whatever came then would belong to the next episode

    running = gateway.phones.run(
        asked,
        options.with_(agent=BUILTIN if oracle else agent, tree=agent != BUILTIN, app=PACKAGE),
        agent=oracle,
        max_steps=MAX_STEPS.get(agent, MAX_STEPS_OF_OTHERS),
        max_taps=MAX_TAPS,
        max_time_s=MAX_TIME_S,
        on_event=told,
    )
    working = asyncio.ensure_future(running)
    ended = "the episode"
    try:
        done = await working
        while done.waiting is not None:
            questions += 1
            await gateway.runs.answer(done.run_id, "yes")
            working = asyncio.ensure_future(gateway.phones.resume(done.run_id, agent=oracle, on_event=told))
            done = await working
        if done.stop_reason == f"error:{ModelUnavailable.kind}":
            raise ModelUnavailable(done.error or "the model is not there", hint=done.hint)
        ended = ": ".join(each for each in (done.stop_reason, done.error or done.answer) if each)
    except asyncio.CancelledError:
        if episodes.reward() is None:  # it was not ended by the page, but by a person
            raise
    return Trial(
        task=task,
        seed=seed,
        agent=agent,
        model=model_of(gateway.settings, options),
        asked=asked,
        reward=episodes.reward(),
        actions=tuple(kinds),
        questions=questions,
        model_calls=int(gateway.phones.task(run_id).usage.get("model_calls", 0)),
        seconds=round(time.monotonic() - began, 1),
        ended=ended,
        run_id=run_id,
    )


def model_of(settings: Settings, options: TaskOptions) -> str:
    return str(settings.model_for("phone")) if options.agent == BUILTIN else ""


def keep(each: Trial, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(each.model_dump_json() + "\n")


def read(path: Path) -> list[Trial]:
    """Those of a file, one a line."""
    if not path.exists():
        return []
    return [Trial.model_validate_json(line) for line in path.read_text("utf-8").splitlines()]
