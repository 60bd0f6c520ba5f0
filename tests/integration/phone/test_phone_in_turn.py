"""A request that looks something up and then does it on the phone: one turn, with a task on a phone in it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from phone_lab import OwnAdb

from gateway import Gateway, Settings, Turn
from gateway.engine.ports import Effect, Json
from gateway.engine.state import Status
from gateway.llm.model import ModelRequest
from gateway.llm.scripted import ScriptedModel
from gateway.phone.task.state import PhoneState
from gateway.phone.tools.acts import open_app, screen, tap
from gateway.phone.tools.navigate import navigate
from gateway.stream import PhaseStarted, ToolProgressed, TurnEvent
from gateway.tools.registry import Registry, ToolContext, ToolResult, Touches, tool
from simphone.background import PhoneThread

REQUEST = "Look up what saves battery on an OLED screen, and switch that on on my phone"
TASK = "Switch dark theme on"
FOUND = "A dark theme saves battery on OLED screens."


@tool("internet.research", effect=Effect.READ, touches=(Touches.NETWORK,))
async def research(query: str, ctx: ToolContext) -> ToolResult:
    """Look something up."""
    return ToolResult(text=FOUND)


class Deciding:
    """A model that knows what to say to each kind of question, whatever its number."""

    def __init__(self, **answers: Json) -> None:
        self.answers: dict[str, Any] = answers
        self.asked: list[str] = []

    async def complete(self, request: Json) -> Json:
        asked = ModelRequest.model_validate(request)
        name = asked.schema_name if asked.output_schema else asked.role
        self.asked.append(name)
        answer = self.answers[name]
        if callable(answer):
            answer = answer(asked.output_schema)
        return await ScriptedModel([{"answer": answer, "repeat": 99}]).complete(request)


def to_display(schema: dict[str, Any]) -> Json:
    """The move that leads to the display's settings."""
    names = schema["properties"]["move"]["enum"]
    return {"move": next(each for each in names if "Display" in each)}


def deciding() -> Deciding:
    then = [{"task_type": "phone_navigation", "goals": ["switch what saves battery on on the phone"]}]
    plan = {"action": "EXECUTE", "task_type": "research", "goals": ["find out what saves battery on an OLED screen"]}
    return Deciding(
        PLANNER_DECISION={"decision": {**plan, "then": then, "reasoning": "first look it up"}},
        TOOL_ARGUMENTS={"reasoning": "as was found", "task": TASK},
        PHONE_ERRAND={"goal": "switch on", "about": "dark theme", "things": [], "app": "Settings"},
        PHONE_MOVE=to_display,
        responder="The dark theme is on.",
    )


def gateway_in(home: Path, phone: PhoneThread, adb: OwnAdb, model: Any, **settings: Any) -> Gateway:
    home.mkdir(exist_ok=True)
    device = {"serial": phone.serial, "adb_server": adb.server.address}
    values = {"model": "scripted", "validate": False, "workspace": str(home), "device": device, **settings}
    loaded = Settings.load(values, cwd=home, environ={"ECHELON_HOME": str(home / "home")})
    return Gateway(loaded, model=model, registry=lambda: Registry([research, navigate, screen, open_app, tap]))


def is_dark(phone: PhoneThread) -> bool:
    return bool(phone.state()["settings"]["secure"]["ui_night_mode"] == "2")


def steps_of(result: dict[str, Any]) -> int:
    return int(json.loads(Path(result["data"]["trajectory"]).read_text())["total_steps"])


def told(gateway: Gateway, turn: Turn) -> tuple[PhoneState, dict[str, Any]]:
    """What the child did, and what the turn got of it."""
    [child] = gateway.runs.store.runs(parent=turn.run_id)
    state = gateway.state(child).data
    assert isinstance(state, PhoneState)
    return state, dict(gateway.results(turn)[-1])


async def test_one_request_looks_something_up_and_does_it_on_the_phone(
    connected: PhoneThread, adb: OwnAdb, tmp_path: Path
) -> None:
    news: list[TurnEvent] = []
    async with gateway_in(tmp_path / "w", connected, adb, deciding()) as gateway:
        turn = await gateway.run(REQUEST, on_event=news.append)
        assert (turn.status, turn.error) == (Status.COMPLETE, None)
        state, result = told(gateway, turn)
        page = turn.context.read_text()
        replayed = await gateway.replay(turn.run_id)
    assert is_dark(connected)
    assert result["ok"] and result["data"]["status"] == "complete" and result["args"] == {"task": TASK}
    assert result["data"]["steps"][0] == 'open "Settings": ok'
    assert "### 1. internet.research · ok" in page and "### 2. phone.navigate · ok" in page
    assert FOUND in page and '1. open "Settings": ok\n' in page
    run_id = result["data"]["run_id"]
    assert f"Trajectory: [phone/{run_id}](phone/{run_id}/trajectory.json)" in page
    assert result["data"]["trajectory"] == str(turn.context.parent / "phone" / run_id / "trajectory.json")
    assert steps_of(result) == len(state.steps)
    assert "on the phone: " in turn.response
    assert turn.usage["taps"] >= 2 and turn.usage["model_calls"] >= 4
    assert any("Display" in each.line for each in news if isinstance(each, ToolProgressed))
    assert {each.phase for each in news if isinstance(each, PhaseStarted)} <= {
        *("Gather", "Plan", "Execute", "Coordinate", "Respond", "Save")
    }
    assert replayed.finished and not replayed.differing
    assert [(each.finished, each.differing) for each in replayed.children] == [(True, [])]


async def test_a_turn_that_is_interrupted_in_the_middle_of_the_task_goes_on_there(
    connected: PhoneThread, adb: OwnAdb, tmp_path: Path
) -> None:
    async with gateway_in(tmp_path / "w", connected, adb, deciding()) as gateway:

        def watch(event: TurnEvent) -> None:
            if isinstance(event, ToolProgressed) and event.line.startswith("2/"):  # its second decision
                working.cancel()

        working = asyncio.create_task(gateway.run(REQUEST, on_event=watch))
        await asyncio.wait([working])
        turn = gateway.turn()
        assert turn.status is Status.STOPPED and not is_dark(connected)
    again = deciding()
    async with gateway_in(tmp_path / "w", connected, adb, again) as gateway:
        turn = await gateway.resume(turn.run_id)
        assert (turn.status, turn.error) == (Status.COMPLETE, None)
        state, result = told(gateway, turn)
        assert (await gateway.replay(turn.run_id)).finished
    assert is_dark(connected) and result["ok"]
    assert not {"PLANNER_DECISION", "TOOL_ARGUMENTS", "PHONE_ERRAND"} & set(again.asked)  # nor done again
    assert [each.action["action"] for each in state.steps].count("open_app") == 1


def names_in(schema: Any) -> Iterator[str]:
    """Every choice that a schema leaves."""
    if isinstance(schema, dict):
        yield from (each for each in schema.get("enum", ()) if isinstance(each, str))
        for each in schema.values():
            yield from names_in(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from names_in(each)


async def test_single_acts_are_chosen_among_what_the_last_one_has_shown(
    connected: PhoneThread, adb: OwnAdb, tmp_path: Path
) -> None:
    choices: list[list[str]] = []

    def next_call(schema: dict[str, Any]) -> Json:
        names = list(names_in(schema))
        choices.append(names)
        wanted = next((each for each in names if "Display" in each), None)
        tool = {"name": "phone.open_app", "args": {"app": "Settings"}}
        if wanted is not None:
            tool = {"name": "phone.tap", "args": {"element": wanted}}
        decision = {"action": "CALL_TOOL", "tool": tool} if len(choices) < 3 else {"action": "DONE"}
        return {"decision": {**decision, "reasoning": "next"}}

    plan = {"action": "EXECUTE", "task_type": "generic", "goals": ["show the display settings of the phone"]}
    model = deciding()
    model.answers |= {"PLANNER_DECISION": {"decision": {**plan, "reasoning": "on the phone"}}}
    model.answers |= {"EXECUTOR_DECISION": next_call}
    async with gateway_in(tmp_path / "w", connected, adb, model) as gateway:
        turn = await gateway.run("Show me the display settings of my phone")
        assert (turn.status, turn.error) == (Status.COMPLETE, None)
        opened, tapped = gateway.results(turn)
        replayed = await gateway.replay(turn.run_id)
    assert not any("Display" in each for each in choices[0])  # nobody had looked
    assert opened["ok"] and tapped["ok"] and "Dark theme" in tapped["text"]
    assert "on the phone: tap" in turn.response and replayed.finished


async def test_without_a_phone_the_result_says_what_to_do(adb: OwnAdb, connected: PhoneThread, tmp_path: Path) -> None:
    plan = {"action": "EXECUTE", "task_type": "phone_navigation", "goals": ["switch Wi-Fi off on the phone"]}
    model = deciding()
    plans = iter([{"decision": {**plan, "reasoning": "on the phone"}}])
    over = {"decision": {"action": "COMPLETE", "response": "There is no phone.", "reasoning": "no phone"}}
    model.answers["PLANNER_DECISION"] = lambda schema: next(plans, over)
    device = {"serial": "127.0.0.1:1", "adb_server": adb.server.address}
    async with gateway_in(tmp_path / "w", connected, adb, model, device=device) as gateway:
        turn = await gateway.run("Switch Wi-Fi off on my phone")
        result = gateway.results(turn)[0]
    assert (result["ok"], result["args"]) == (False, {"task": "Switch Wi-Fi off on my phone"})
    assert result["text"].startswith("Not done on the phone: ") and result["data"]["acted"] is False
    assert "(" in result["text"] and turn.response == "There is no phone."
