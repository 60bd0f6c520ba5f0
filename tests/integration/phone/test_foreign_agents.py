"""Agents that others wrote, on the real engine: in a thread, within a deadline, with their history, and quiet."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from maiui_double import SCRIPTS, Hanging, MaiUiDouble, Raising, answer
from phone_lab import until
from PIL import Image

from gateway.engine.artifacts import ArtifactStore
from gateway.engine.events import CALL_ENDED
from gateway.engine.graph import Graph
from gateway.engine.journal import Visit
from gateway.engine.nodes import Node, OnFailure, Retry, Route
from gateway.engine.ports import Json
from gateway.engine.runs import GraphType, Runs
from gateway.engine.scripted import ScriptedClock, ScriptedRandom
from gateway.engine.state import RunState, Status
from gateway.engine.store import Store
from gateway.errors import ConfigError
from gateway.phone.agents import loading
from gateway.phone.agents.agent import Chosen, Moment, Unusable
from gateway.phone.agents.extensions import Extensions
from gateway.phone.agents.foreign import ForeignAgent, predict_operation
from gateway.phone.element import Bounds, Element
from gateway.phone.task.state import PhoneContext, Plain, Seen, TaskOptions, elements_json, load_elements

TASK = "Turn Wi-Fi off, and say so"  # the scripts of all tests are in one table
SIZE = (108, 240)
ELEMENTS = (Element(1, "switch", "Wi-Fi", Bounds(0, 0, 108, 24)), Element(2, "button", "Pay", Bounds(0, 200, 54, 240)))
SCRIPTS[TASK] = [
    {"action": "click", "on": "Wi-Fi"},
    {"tool": "weather.now", "args": {"city": "Zürich"}},
    {"action": "ask_user", "text": "Really?"},
    {"action": "terminate", "status": "success"},
]
ANSWERS: dict[str, Json] = {"mcp_call": {"tool": "weather.now", "result": "rain"}, "ask_user": "yes"}
SERVER = "http://localhost:8000/v1"


class Choices(Plain):
    chosen: tuple[dict[str, Json], ...] = ()
    problems: tuple[str, ...] = ()
    thinking: tuple[str, ...] = ()
    memory: Json = None
    answer: Json = None
    note: str = ""


class Choose(Node[Choices, PhoneContext, Choices, Any]):
    """Asks the agent until it finishes."""

    name = "Choose"
    on_failure = OnFailure(Retry(base_delay_ms=1, max_delay_ms=1))
    on_success = Route[Choices](
        lambda state: None if ended(state) else "Choose",
        ("Choose", None),
    )

    def __init__(self, decisions: int | None = None) -> None:
        self._stop_after = decisions

    def build_input(self, state: Choices, context: PhoneContext) -> Choices:
        return state

    async def execute(self, given: Choices, visit: Visit) -> Chosen | str:
        if self._stop_after is not None and len(given.chosen) >= self._stop_after:
            raise KeyboardInterrupt
        png, elements = (visit.artifacts.put(each) for each in (picture(), elements_json(ELEMENTS)))
        seen = Seen(look="", state_id="", package="p", activity="a", size=SIZE, png=png, elements=elements)
        moment = Moment(
            task=TASK,
            step=len(given.chosen) + 1,
            max_steps=9,
            seen=seen,
            elements=load_elements(visit.artifacts, elements),
            picture=picture,
            note=given.note,
            tool_result=given.answer,
            tools=("weather.now",),
            memory=given.memory,
        )
        try:
            return await ForeignAgent().choose(moment, visit)
        except Unusable as error:
            return str(error)

    def apply_output(self, state: Choices, output: Chosen | str) -> Choices:
        if isinstance(output, str):
            return state.with_(problems=(*state.problems, output), note=output)
        return state.with_(
            chosen=(*state.chosen, *output.actions),
            thinking=(*state.thinking, output.thinking),
            memory=output.memory,
            answer=ANSWERS.get(str(output.actions[-1]["action"])),
            note="",
        )


def ended(state: Choices) -> bool:
    return len(state.problems) == 3 or (bool(state.chosen) and state.chosen[-1]["action"] == "FINISH")


def picture() -> bytes:
    data = io.BytesIO()
    Image.new("RGBA", SIZE, "white").save(data, "PNG")
    return data.getvalue()


class Clock(ScriptedClock):
    """Does something before the retry of that number."""

    def __init__(self) -> None:
        super().__init__()
        self.before_retry: dict[int, Callable[[], None]] = {}

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds)
        self.before_retry.pop(len(self.slept), lambda: None)()


class Lab:
    """One home, in which an agent is asked; `process` is another process in the same home."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.store = Store(home / "echelon.db")
        self.artifacts = ArtifactStore(home / "artifacts")
        self.random = ScriptedRandom()
        self.clock = Clock()
        self.id = ""

    def process(self, spec: object, decisions: int | None = None, **more: Any) -> Runs:
        settings = {"api_base": more.pop("api_base", SERVER)}
        model = more.pop("model", "openai/MAI-UI-8B")
        extensions = more.pop("extensions", None)
        tools = more.pop("tools", ())
        self.context = PhoneContext(
            task=TASK,
            options=TaskOptions(**{"tree": True, "predict_timeout": 20, **more}),
            folder="",
            workspace="",
            models={"phone": model},
            settings=settings,
            run_id="r",
        )
        runs = Runs(self.store, self.artifacts, clock=self.clock, random=self.random)
        runs.register(
            GraphType(
                "choosing",
                PhoneContext,
                Choices,
                lambda context, pins: Graph("choosing", [Choose(decisions)], "Choose"),
                lambda row, context, pins: {
                    "agent.predict": predict_operation(spec, context, row.id, extensions, tools=tools, api_key="k-1")
                },
            )
        )
        return runs

    async def ask(self, spec: object, decisions: int | None = None, **more: Any) -> RunState:
        runs = self.process(spec, decisions, **more)
        row, owned = await runs.create("choosing", self.context, Choices(), title="t", limits={"steps": 9}, pins={})
        self.id = row.id
        return await runs.drive(row, owned)


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    MaiUiDouble.told.clear()
    Raising.raised = Hanging.hung = 0
    Hanging.let_go.clear()
    opened = Lab(tmp_path)
    yield opened
    Hanging.let_go.set()
    opened.store.close()


def names(state: RunState) -> list[str]:
    return [str(each["action"]) for each in state.data.chosen]  # type: ignore[attr-defined]


DONE = ["tap", "mcp_call", "ask_user", "FINISH"]


async def test_an_unmodified_class_is_asked_until_it_ends(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    state = await lab.ask("maiui_double:MaiUiDouble")
    assert state.status is Status.COMPLETE
    tap, tool, question, _ = state.data.chosen  # type: ignore[attr-defined]
    assert tap["coordinate"] == [pytest.approx(0.5, abs=0.01), pytest.approx(0.05, abs=0.01)]
    assert tool == {"action": "mcp_call", "tool": "weather.now", "args": {"city": "Zürich"}}
    assert question == {"action": "ask_user", "question": "Really?", "takeover": False}
    assert state.data.thinking[0] == "line click"  # type: ignore[attr-defined]
    assert capsys.readouterr() == ("", ""), "what it prints is its own affair"


async def test_what_a_tool_and_the_user_answer_reaches_an_agent_that_ignores_it(lab: Lab) -> None:
    await lab.ask("maiui_double:MaiUiDouble")
    instructions = [each["instruction"] for each in MaiUiDouble.told]
    assert instructions[0] == instructions[1] == TASK
    assert TASK in instructions[2] and "rain" in instructions[2]
    assert TASK in instructions[3] and "yes" in instructions[3] and "rain" not in instructions[3]
    answers = [answer for _, answer in MaiUiDouble.told[3]["history"]]
    assert answers[0] is None and "rain" in answers[1] and answers[2] == "yes", "as its class keeps them, too"


async def test_what_it_is_asked_and_says_is_replayed_without_it(lab: Lab) -> None:
    await lab.ask("maiui_double:MaiUiDouble")
    MaiUiDouble.told.clear()
    replayed = await lab.process("maiui_double:MaiUiDouble").replay(lab.id)
    assert replayed.differing == []
    assert MaiUiDouble.told == []


@pytest.mark.parametrize("given", ["class", "object"])
async def test_its_history_is_rebuilt_where_a_run_is_resumed(lab: Lab, given: str) -> None:
    def spec() -> object:
        return "maiui_double:MaiUiDouble" if given == "class" else MaiUiDouble(SERVER, "m")

    with pytest.raises(KeyboardInterrupt):
        await lab.ask(spec(), decisions=2)
    state = await lab.process(spec()).resume(lab.id)
    assert names(state) == DONE
    history = MaiUiDouble.told[-1]["history"]
    assert [thought for thought, _ in history] == ["line click", "call a tool", "line ask_user"]
    assert "rain" in history[1][1] and history[2][1] == "yes"


async def test_an_agent_that_raises_is_made_anew_with_its_history(lab: Lab) -> None:
    state = await lab.ask("maiui_double:Raising")
    assert names(state) == DONE and Raising.raised == 1
    failures = [each.data for each in lab.store.events(lab.id) if each.kind == CALL_ENDED and "error" in each.data]
    kind, message, retryable, *_ = failures[0]["error"]
    assert (kind, retryable) == ("prediction_failed", True)
    assert "ConnectionError: Connection refused" in message


async def test_an_agent_that_hangs_is_left_behind(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    state = await lab.ask("maiui_double:Hanging", predict_timeout=1.0)
    assert names(state) == DONE and Hanging.hung == 1
    threads = threading.active_count()
    Hanging.let_go.set()
    assert until(lambda: threading.active_count() < threads)
    assert "too late" not in capsys.readouterr().out, "also what it prints long after"


async def test_an_object_that_hangs_is_waited_for(lab: Lab) -> None:
    class Slow(MaiUiDouble):
        inside, together, asked = 0, 0, 0

        def predict(self, instruction: str, obs: dict[str, Any], **kwargs: Any) -> tuple[str, dict[str, Any]]:
            self.asked += 1
            self.inside += 1
            self.together = max(self.together, self.inside)
            try:
                if self.asked == 1:
                    Hanging.let_go.wait()
                return super().predict(instruction, obs, **kwargs)
            finally:
                self.inside -= 1

    agent = Slow(SERVER, "m")
    lab.clock.before_retry = {2: Hanging.let_go.set}
    state = await lab.ask(agent, predict_timeout=1.0)
    assert names(state) == DONE
    assert (agent.together, agent.asked) == (1, 5), "not asked again before it has come back"


async def test_three_failures_end_it_with_the_agents_own_words(lab: Lab) -> None:
    class Offline(MaiUiDouble):
        def complete(self, instruction: str, obs: dict[str, Any]) -> str:
            raise TimeoutError("Request timed out.")

    state = await lab.ask(Offline(SERVER, "m"))
    problems = state.data.problems  # type: ignore[attr-defined]
    assert len(problems) == 3
    assert "no action was given" in problems[0] and "Request timed out." in problems[0]


async def test_what_was_unusable_goes_back_to_it(lab: Lab) -> None:
    class Astray(MaiUiDouble):
        def complete(self, instruction: str, obs: dict[str, Any]) -> str:
            if "Note:" not in instruction:
                return answer("hm", "mobile_use", {"action": "fly"})
            MaiUiDouble.told.append({"instruction": instruction})
            return answer("hm", "mobile_use", {"action": "terminate"})

    state = await lab.ask(Astray(SERVER, "m"))
    assert names(state) == ["FINISH"]
    assert 'there is no action "fly"' in MaiUiDouble.told[-1]["instruction"]


async def test_its_answer_ends_the_task(lab: Lab) -> None:
    class Answering(MaiUiDouble):
        def complete(self, instruction: str, obs: dict[str, Any]) -> str:
            return answer("I see it", "mobile_use", {"action": "answer", "text": "14"})

    state = await lab.ask(Answering(SERVER, "m"))
    assert names(state) == ["answer", "FINISH"]


class Plainest:
    """Anything with `predict`."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, dict[str, Any]]] = []

    def predict(self, instruction: str, obs: dict[str, Any]) -> tuple[str, Any]:
        self.seen.append((instruction, obs))
        return "", {"action": "FINISH"}


async def test_an_observation_is_what_was_asked_for(lab: Lab) -> None:
    agent = Plainest()
    await lab.ask(agent, tree=False)
    assert set(agent.seen[-1][1]) == {"screenshot"}
    assert isinstance(agent.seen[-1][1]["screenshot"], Image.Image)
    await lab.ask(agent, tree=True, step_info=True)
    instruction, obs = agent.seen[-1]
    assert instruction == TASK
    assert set(obs) == {"screenshot", "accessibility_tree", "step_count", "max_steps"}
    assert (obs["step_count"], obs["max_steps"]) == (1, 9)
    assert obs["accessibility_tree"]["elements"][0]["text"] == "Wi-Fi"


@pytest.mark.parametrize("how", ["says so", "takes nothing else"])
async def test_an_agent_that_wants_bytes_gets_them(lab: Lab, how: str) -> None:
    class Wanting(Plainest):
        wants_bytes = how == "says so"

        def predict(self, instruction: str, obs: dict[str, Any]) -> tuple[str, Any]:
            Image.open(io.BytesIO(obs["screenshot"]))  # TypeError for a picture
            return super().predict(instruction, obs)

    agent = Wanting()
    assert names(await lab.ask(agent)) == ["FINISH"]
    assert agent.seen[-1][1]["screenshot"].startswith(b"\x89PNG")


async def test_a_coroutine_is_awaited(lab: Lab) -> None:
    class Async:
        async def predict(self, instruction: str, obs: dict[str, Any]) -> tuple[str, Any]:
            return "", {"action": "FINISH"}

    assert names(await lab.ask(Async())) == ["FINISH"]


async def test_an_agent_that_exits_does_not_end_the_program(lab: Lab) -> None:
    class Exiting:
        def predict(self, instruction: str, obs: dict[str, Any]) -> tuple[str, Any]:
            sys.exit("no licence")

    state = await lab.ask(Exiting())
    assert state.stop_reason == "error:prediction_failed"
    assert "no licence" in str(state.error)


async def test_a_declared_scale_is_divided_by(lab: Lab) -> None:
    class Pixels:
        coordinate_scale = "pixels"
        said = iter([{"action": "tap", "coordinate": [54, 120]}, {"action": "FINISH"}])

        def predict(self, instruction: str, obs: dict[str, Any]) -> tuple[str, Any]:
            return "", next(self.said)

    state = await lab.ask(Pixels())
    assert state.data.chosen[0]["coordinate"] == [0.5, 0.5]  # type: ignore[attr-defined]


async def test_middleware_sees_observations_and_actions(lab: Lab) -> None:
    class Blurring:
        def before_predict(self, obs: dict[str, Any]) -> dict[str, Any]:
            return {**obs, "screenshot": "blurred"}

        def after_predict(self, action: dict[str, Json], obs: dict[str, Any]) -> dict[str, Json]:
            return {**action, "reason": f"{obs['screenshot']} {action['action']}"}

    agent = Plainest()
    state = await lab.ask(agent, extensions=Extensions.of(middleware=[Blurring()]))
    assert agent.seen[-1][1]["screenshot"] == "blurred"
    assert state.data.chosen[0]["reason"] == "blurred FINISH"  # type: ignore[attr-defined]


async def test_an_agent_does_not_keep_every_screen_it_has_looked_at(lab: Lab) -> None:
    agent = MaiUiDouble(SERVER, "m")
    await lab.ask(agent)
    assert len(agent.traj_memory.steps) == 4
    assert all(step.screenshot.fp is not None for step in agent.traj_memory.steps), "not decoded"  # type: ignore[attr-defined]


async def test_an_object_begins_each_task_anew(lab: Lab) -> None:
    agent = MaiUiDouble(SERVER, "m")
    for _ in range(2):
        assert names(await lab.ask(agent)) == DONE


async def test_its_constructor_gets_what_is_configured(lab: Lab) -> None:
    made: list[Any] = []

    class Kept(MaiUiDouble):
        def __init__(self, llm_base_url: str, model_name: str, api_key: str, **more: Any) -> None:
            super().__init__(llm_base_url, model_name, more.get("runtime_conf"))
            made.append((llm_base_url, model_name, api_key, more))

    tools = [{"name": "weather.now", "description": "d", "parameters": {}}]
    lab.process("x:y", history=5, temperature=0.2)
    loading.make(Kept, lab.context, tools, "k-1")
    assert made == [(SERVER, "MAI-UI-8B", "k-1", {})]
    agent = loading.make(MaiUiDouble, lab.context, tools)
    assert agent.runtime_conf == {"history_n": 5, "temperature": 0.2}
    assert agent.mcp_tools == tools


@pytest.mark.parametrize(
    ("spec", "more", "message", "hint"),
    [
        ("nonsense", {}, "expected builtin, or package.module:Class", "in that program only"),
        ("no_such_package.agent:A", {}, "there is no module no_such_package", "PYTHONPATH"),
        ("maiui_double:Nobody", {}, "there is no Nobody", ""),
        ("maiui_double:SCALE_FACTOR", {}, "no class", ""),
        ("maiui_double:TrajMemory", {}, "needs task_goal", "TaskExecutor"),
        ("maiui_double:MaiUiDouble", {"api_base": None}, "needs llm_base_url", "--api-base"),
        ("maiui_double:MaiUiDouble", {"model": ""}, "needs model_name", "--model"),
        ("pathlib:Path", {}, "no method predict", ""),
    ],
)
def test_a_wrong_name_is_said_with_what_to_do(
    lab: Lab, spec: str, more: dict[str, Any], message: str, hint: str
) -> None:
    lab.process(spec, **more)
    with pytest.raises(ConfigError, match=message) as raised:
        loading.make(loading.find(spec), lab.context)
    assert hint in raised.value.hint


def test_a_predict_of_another_shape_is_said() -> None:
    class Other:
        def predict(self, observation: dict[str, Any]) -> None: ...

    with pytest.raises(ConfigError, match="instruction and obs"):
        loading.make(Other(), None)  # type: ignore[arg-type]
