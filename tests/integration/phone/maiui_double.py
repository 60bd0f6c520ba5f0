"""An agent as MAI-UI's navigation class is, for tests: its constructor, its memory, its dialect and its quirks.

It blocks, prints what it is doing, ignores `tool_result`, counts places from 0 to 999, keeps only the arguments of a
tool call, and says "llm client error" where it fails. In place of a model it has a script for each task: what is to be
touched is looked up in the accessibility tree, and where it is not there, the double scrolls.
"""

from __future__ import annotations

import json
import re
import threading
import time
import traceback
from dataclasses import dataclass, field
from typing import Any

from PIL import Image

SCALE_FACTOR = 999
UNLIKE = 3

SCRIPTS: dict[str, list[dict[str, Any]]] = {}
"""By task. `on: TEXT` in a line stands for the coordinate of the element with that text."""


@dataclass
class TrajStep:
    screenshot: Image.Image
    accessibility_tree: dict[str, Any] | None
    prediction: str
    action: dict[str, Any]
    conclusion: str
    thought: str
    step_index: int
    agent_type: str
    model_name: str
    screenshot_bytes: bytes | None = None
    structured_action: dict[str, Any] | None = None
    ask_user_response: str | None = None
    mcp_response: str | None = None


@dataclass
class TrajMemory:
    task_goal: str
    task_id: str
    steps: list[TrajStep] = field(default_factory=list)


class MaiUiDouble:
    """`told` is what models of the double were sent, over all of its objects: the last instruction and the history."""

    told: list[dict[str, Any]] = []  # noqa: RUF012

    def __init__(
        self,
        llm_base_url: str,
        model_name: str,
        runtime_conf: dict[str, Any] | None = None,
        mcp_tools: list[dict[str, Any]] | None = None,
    ) -> None:
        self.traj_memory = TrajMemory(task_goal="", task_id="", steps=[])
        self.llm_base_url = llm_base_url
        self.model_name = model_name
        self.runtime_conf = {"history_n": 3, "temperature": 0.0, **(runtime_conf or {})}
        self.mcp_tools = mcp_tools or []

    def reset(self, runtime_logger: Any = None) -> None:
        self.traj_memory = TrajMemory(task_goal="", task_id="", steps=[])

    def load_traj(self, traj_memory: TrajMemory) -> None:
        self.traj_memory = traj_memory

    def predict(self, instruction: str, obs: dict[str, Any], **kwargs: Any) -> tuple[str, dict[str, Any]]:
        if not self.traj_memory.task_goal:
            self.traj_memory.task_goal = instruction
        screenshot = obs["screenshot"]
        screenshot.load()
        for attempt in range(3):
            try:
                print(f"Messages (attempt {attempt + 1}):\n{instruction}")
                prediction = self.complete(instruction, obs)
                print(f"Raw response:\n{prediction}")
                thinking, action = parsed(prediction)
                break
            except Exception as error:
                print(f"Error on attempt {attempt + 1}: {error}")
                traceback.print_exc()
        else:
            print("Max retry attempts reached, returning error flag.")
            return "llm client error", {"action": None}
        self.traj_memory.steps.append(
            TrajStep(
                screenshot=screenshot,
                accessibility_tree=obs.get("accessibility_tree"),
                prediction=prediction,
                action=action,
                conclusion="",
                thought=thinking,
                step_index=len(self.traj_memory.steps),
                agent_type="MAIMobileAgent",
                model_name=self.model_name,
                screenshot_bytes=screenshot.tobytes()[:16],
                structured_action={"action_json": action},
            )
        )
        return prediction, action

    def complete(self, instruction: str, obs: dict[str, Any]) -> str:
        """What its model answers."""
        time.sleep(0.01)
        steps = self.traj_memory.steps
        history = [(step.thought, step.ask_user_response or step.mcp_response) for step in steps]
        MaiUiDouble.told.append({"instruction": instruction, "history": history})
        script = SCRIPTS[self.traj_memory.task_goal]
        line = dict(script[sum(step.thought != "look further" for step in steps)])
        if "tool" in line:
            return answer("call a tool", line["tool"], line["args"])
        text = line.pop("on", None)
        if text is not None:
            place = found(obs["accessibility_tree"], text)
            if place is None:
                return answer("look further", "mobile_use", {"action": "swipe", "direction": "up"})
            line["coordinate"] = place
        return answer(f"line {line['action']}", "mobile_use", line)


class Raising(MaiUiDouble):
    """Its client raises, the first time."""

    raised = 0

    def predict(self, instruction: str, obs: dict[str, Any], **kwargs: Any) -> tuple[str, dict[str, Any]]:
        if Raising.raised == 0 and self.traj_memory.steps:
            Raising.raised += 1
            self.traj_memory.steps.append("half a step")  # type: ignore[arg-type]
            raise ConnectionError("Connection refused by 127.0.0.1:8000")
        return super().predict(instruction, obs, **kwargs)


class Hanging(MaiUiDouble):
    """Never comes back, the first time; `let_go` ends that."""

    let_go = threading.Event()
    hung = 0

    def predict(self, instruction: str, obs: dict[str, Any], **kwargs: Any) -> tuple[str, dict[str, Any]]:
        if Hanging.hung == 0:
            Hanging.hung += 1
            Hanging.let_go.wait()
            print("too late")
        return super().predict(instruction, obs, **kwargs)


def answer(thinking: str, tool: str, arguments: dict[str, Any]) -> str:
    call = json.dumps({"name": tool, "arguments": arguments}, ensure_ascii=False)
    return f"<thinking>\n{thinking}\n</thinking>\n<tool_call>\n{call}\n</tool_call>"


def found(tree: dict[str, Any], text: str) -> list[int] | None:
    """Where the element is whose text is most like that, as the model counts."""
    there = [(likeness(each, text.casefold()), not each["clickable"], each["bounds"]) for each in tree["elements"]]
    likest, _, (left, top, right, bottom) = min(there)
    if likest == UNLIKE:
        return None
    width, height = tree["size"]
    return [round((left + right) / 2 / width * SCALE_FACTOR), round((top + bottom) / 2 / height * SCALE_FACTOR)]


def likeness(element: dict[str, Any], text: str) -> int:
    said = [element[name].casefold() for name in ("text", "hint", "resource_id")]
    for rank, like in enumerate((str.__eq__, str.startswith, str.__contains__)):
        if any(like(each, text) for each in said):
            return rank
    return UNLIKE


def parsed(prediction: str) -> tuple[str, dict[str, Any]]:
    """Thought and arguments, with places as fractions; the tool's name is lost."""
    match = re.search(r"<thinking>(.*?)</thinking>.*?<tool_call>(.*?)</tool_call>", prediction, re.DOTALL)
    assert match is not None, "no tool call"
    arguments = json.loads(match[2])["arguments"]
    for name in ("coordinate", "start_coordinate", "end_coordinate"):
        if name in arguments:
            arguments[name] = [each / SCALE_FACTOR for each in arguments[name]]
    return match[1].strip(), arguments
