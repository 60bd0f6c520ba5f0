"""The history that MAI-UI's agents keep in `traj_memory`: rebuilt after an interruption, told answers, kept small."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from io import BytesIO
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from gateway.engine.ports import Artifacts, Json

if TYPE_CHECKING:
    from PIL.Image import Image


def remember(artifacts: Artifacts, before: str | None, **decision: Json) -> str:
    """A decision as an artifact that names the one before it; its sha256."""
    return artifacts.put(json.dumps({"before": before, **decision}, ensure_ascii=False).encode())


def recall(artifacts: Artifacts, last: str | None) -> list[dict[str, Json]]:
    """The decisions up to the last one, the oldest first."""
    found: list[dict[str, Json]] = []
    while last is not None:
        found.append(json.loads(artifacts.get(last)))
        last = found[-1]["before"]
    return found[::-1]


def keeps(agent: Any) -> bool:
    return isinstance(getattr(getattr(agent, "traj_memory", None), "steps", None), list)


def restore(agent: Any, task: str, artifacts: Artifacts, last: str | None) -> None:
    """Give the agent the history that it would have, had it made these decisions."""
    if last is None or not keeps(agent):
        return
    memory = copy.copy(agent.traj_memory)
    memory.task_goal = task
    memory.steps = []
    for decision in recall(artifacts, last):
        if memory.steps:
            _answer(memory.steps[-1], decision["told"])
        memory.steps.append(_step(agent, decision, artifacts, len(memory.steps)))
    if callable(load := getattr(agent, "load_traj", None)):
        load(memory)
    else:
        agent.traj_memory = memory


def answered(agent: Any, answer: Json) -> None:
    """Note with the last decision what a tool, or the user, said to it, where the agent has room for that."""
    if answer is not None and keeps(agent) and agent.traj_memory.steps:
        _answer(agent.traj_memory.steps[-1], answer)


def lighten(agent: Any, picture: Image, png: bytes) -> None:
    """Agents keep the picture that they were given: 10 MB as soon as it was looked at. One that was not takes its
    place."""
    for step in agent.traj_memory.steps[-1:] if keeps(agent) else ():
        if getattr(step, "screenshot", None) is picture:
            with suppress(AttributeError):
                step.screenshot = opened(png)


def opened(png: bytes) -> Image:
    from PIL import Image

    return Image.open(BytesIO(png))


def words(answer: Json) -> str:
    """An answer as a text."""
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


def _answer(step: Any, answer: Json) -> None:
    name = "ask_user_response" if isinstance(answer, str) else "mcp_response"
    if answer is not None and hasattr(step, name):
        setattr(step, name, words(answer))


def _step(agent: Any, decision: dict[str, Json], artifacts: Artifacts, index: int) -> Any:
    """With all that a TrajStep of any version has."""
    png = None if decision["screenshot"] is None else artifacts.get(decision["screenshot"])
    return SimpleNamespace(
        screenshot=None if png is None else opened(png),
        screenshot_bytes=png,
        accessibility_tree=None,
        prediction=decision["text"],
        action=decision["said"],
        structured_action={"action_json": decision["said"]},
        conclusion="",
        thought=decision["thinking"],
        step_index=index,
        agent_type=type(agent).__name__,
        model_name=str(getattr(agent, "model_name", "")),
        ask_user_response=None,
        mcp_response=None,
    )
