"""Tasks on phones from a program without an event loop."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from phone_lab import OwnAdb
from pydantic import BaseModel
from task_lab import NOTES

from gateway import Settings
from gateway.engine.ports import Effect
from gateway.engine.state import Status
from gateway.errors import ConfigError, ToolError, UsageError
from gateway.phone.agents.extensions import CustomAction
from gateway.phone.bridge import Bridge
from gateway.phone_executor import StepProgress, TaskExecutor
from simphone.background import PhoneThread

DONE = {"action": "FINISH", "reason": "done"}


class Scripted:
    """Says one thing after the other, and keeps what it was told."""

    def __init__(self, *actions: Mapping[str, Any]) -> None:
        self.actions = [*actions, DONE]
        self.told: list[Any] = []

    def predict(self, instruction: str, obs: dict[str, Any]) -> tuple[str, Any]:
        self.told.append(obs.get("tool_result", obs.get("note")))
        return f"<thinking>thought {len(self.told)}</thinking>", self.actions[
            min(len(self.told), len(self.actions)) - 1
        ]


Making = Callable[..., TaskExecutor]


@pytest.fixture
def executor(tmp_path: Path, phone: PhoneThread, bridge: Bridge, adb: OwnAdb) -> Making:
    environ = {"ECHELON_HOME": str(tmp_path), "ECHELON_DEVICE__ADB_SERVER": f"127.0.0.1:{adb.port}"}
    settings = Settings.load(environ=environ, cwd=tmp_path)

    def make(agent: object, **more: Any) -> TaskExecutor:
        return TaskExecutor(
            agent, phone.serial, **{"settings": settings, "step_delay": 0.0, "retry_delay": 0.02, **more}
        )

    return make


def test_a_task_is_carried_out_with_its_steps_told(executor: Making, bridge: Bridge, tmp_path: Path) -> None:
    steps: list[StepProgress] = []
    made = executor(
        Scripted({"action": "open", "text": "Notes"}), trajectory_dir=tmp_path / "logs", on_step=steps.append
    )
    summary = made.run("Open the notes")
    assert (summary.success, summary.reason, summary.error) == (True, "success", "")
    assert bridge.foreground().package == NOTES
    assert [each.number for each in steps] == [1, 2]
    assert steps[0].action == {"action": "open_app", "app": "Notes"} and steps[0].thinking == "thought 1"
    assert steps[-1].max_steps == 50 and steps[-1].remaining_s > steps[-1].elapsed_s
    assert summary.steps_taken == 2 and summary.duration_s > 0
    assert summary.trajectory.is_relative_to(tmp_path / "logs")
    assert json.loads(summary.trajectory.read_text())["task_goal"] == "Open the notes"


def test_its_limit_of_steps_holds(executor: Making) -> None:
    summary = executor(
        Scripted(*[{"action": "wait", "seconds": number / 1000} for number in range(9)]), max_steps=2
    ).run("x")
    assert (summary.success, summary.status, summary.reason) == (False, Status.STOPPED, "budget:steps")
    assert summary.steps_taken == 2 and summary.trajectory.exists()


def test_questions_go_to_the_handler_and_answers_to_the_agent(executor: Making) -> None:
    asked: list[str] = []
    answers = iter(["the red one", None])

    def ask(question: str) -> str | None:
        asked.append(question)
        return next(answers)

    agent = Scripted({"action": "ask_user", "question": "Which?"}, {"action": "ask_user", "text": "Sure?"})
    summary = executor(agent, user_prompt_handler=ask).run("x")
    assert summary.success
    assert ["Which?" in asked[0], "Sure?" in asked[1]] == [True, True]
    assert agent.told[1] == "the red one"
    assert "does not want to answer" in agent.told[2]


def test_the_phone_is_handed_over_and_taken_back(executor: Making, bridge: Bridge) -> None:
    asked: list[str] = []

    def log_in(question: str) -> str:
        asked.append(question)
        bridge.start_app("Notes")  # the phone is free meanwhile
        return "done"

    agent = Scripted({"action": "ask_user", "question": "Log in, please.", "takeover": True})
    summary = executor(agent, user_prompt_handler=log_in).run("x")
    assert summary.success and "The phone is yours: Log in, please." in asked[0]
    assert agent.told[1] == "done"


def test_a_handler_that_takes_too_long_is_left_behind(executor: Making) -> None:
    from threading import Event

    agent, for_ever = Scripted({"action": "ask_user", "question": "Which?"}), Event()
    summary = executor(agent, user_prompt_handler=lambda question: str(for_ever.wait()), user_prompt_timeout=0.2).run(
        "x"
    )
    for_ever.set()
    assert summary.success
    assert "did not answer within 0.2 s" in agent.told[1]


def test_without_a_handler_the_question_is_what_comes_back(executor: Making) -> None:
    agent = Scripted({"action": "ask_user", "question": "Which?"})
    made = executor(agent)
    summary = made.run("x")
    assert (summary.success, summary.status) == (False, Status.WAITING)
    assert "Which?" in summary.question
    summary = made.resume(summary.run_id, "the blue one")
    assert summary.success and agent.told[-1] == "the blue one"


def weather(city: str) -> dict[str, Any]:
    if city == "Atlantis":
        raise ToolError("there is no Atlantis")
    return {"city": city, "sky": "clear"}


class Handler:
    tools = ("weather",)

    def execute(self, tool: str, args: Mapping[str, Any]) -> Any:
        return weather(**args)


@pytest.mark.parametrize("handler", [{"weather": weather}, Handler()])
def test_tools_of_the_program_are_called(executor: Making, handler: Any) -> None:
    agent = Scripted(
        {"action": "mcp_call", "tool": "weather", "args": {"city": "Zürich"}},
        {"action": "mcp_call", "tool": "weather", "args": {"city": "Atlantis"}},
        {"action": "mcp_call", "tool": "no_such_tool", "args": {}},
    )
    assert executor(agent, mcp_handler=handler).run("x").success
    assert "clear" in json.dumps(agent.told[1])
    assert "there is no Atlantis" in json.dumps(agent.told[2])
    assert "no_such_tool" in json.dumps(agent.told[3])


def test_a_handler_without_tools_is_refused() -> None:
    with pytest.raises(ConfigError, match="needs `tools`"):
        TaskExecutor(Scripted(), mcp_handler=object())  # type: ignore[arg-type]


class Times(BaseModel):
    times: int


def test_actions_and_middleware_of_the_program_are_part_of_it(executor: Making, phone: PhoneThread) -> None:
    done: list[Any] = []

    def go_home(bridge: Bridge, args: Times) -> str:
        done.append((bridge.foreground().package, args.times))
        return f"went home {args.times} times"

    class Watching:
        def before_act(self, action: dict[str, Any]) -> dict[str, Any] | None:
            return None if action["action"] == "recent" else action

        def after_act(self, action: dict[str, Any], result: dict[str, Any]) -> None:
            done.append((action["action"], result["ok"]))

    agent = Scripted({"action": "go_home", "times": 2}, {"action": "recent"}, {"action": "go_home", "times": "x"})
    action = CustomAction("go_home", "goes home", Times, go_home, Effect.IDEMPOTENT)
    summary = executor(agent, actions=[action], middleware=[Watching()]).run("x")
    assert summary.success
    assert done == [("com.android.launcher3", 2), ("go_home", True)], "the other one was not let be done"
    assert "middleware does not let it be done" in agent.told[2]
    assert "go_home: times" in agent.told[3]


async def test_where_an_event_loop_runs_it_says_what_to_use(executor: Making) -> None:
    with pytest.raises(UsageError, match="event loop") as raised:
        executor(Scripted()).run("x")
    assert "phones.run" in raised.value.hint
