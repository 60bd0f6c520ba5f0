"""What a turn's operations make of tools, of earlier turns and of a full disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from gateway.engine.artifacts import MemoryArtifacts
from gateway.engine.ports import Effect, Operation, Scope
from gateway.engine.scripted import Recorder, ScriptedClock
from gateway.errors import StoreError, ToolError
from gateway.llm.model import charge_of
from gateway.llm.scripted import ScriptedModel
from gateway.tools.operations import MAX_DATA, MAX_TEXT
from gateway.tools.registry import Registry, Schema, Situation, ToolContext, ToolResult, tool
from gateway.turn.operations import SHOWN, Place, turn_operations
from gateway.turn.state import TurnContext


class Args(BaseModel):
    size: int


def no_choice(schema: Schema, ctx: ToolContext, situation: Situation) -> Schema:
    raise ToolError("there is nothing to choose from")


@tool("test.give", effect=Effect.READ)
async def give(args: Args, ctx: ToolContext) -> ToolResult:
    """Give text and data of a size."""
    return ToolResult(text="a" + "x" * args.size + "z", data={"all": "y" * args.size})


@tool("test.narrow", effect=Effect.READ, narrow=no_choice)
async def narrow(args: Args, ctx: ToolContext) -> ToolResult:
    """Has nothing to work on."""
    raise AssertionError("never called")


class Lab:
    """The operations of turn 2 of a session, called without a journal."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.recorder = Recorder()
        context = TurnContext(request="Do it", session="s", workspace=str(home), models={}, settings={})
        registry = Registry([give, narrow])
        self.operations = turn_operations(Place(home, "s", 2), context, registry, ScriptedModel([]))

    async def __call__(self, name: str, args: Any) -> Any:
        operation: Operation = self.operations[name]
        scope = Scope("run", "call", {}, MemoryArtifacts(), ScriptedClock(), self.recorder.progress)
        return await operation.run(args, scope)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


async def test_a_result_is_bounded(lab: Lab) -> None:
    small = await lab("tool.test.give", {"size": 10})
    assert small["text"] == "axxxxxxxxxxz" and small["data"] == {"all": "y" * 10}
    long = await lab("tool.test.give", {"size": MAX_TEXT})
    assert long["text"].startswith("axx") and long["text"].endswith("xz")
    assert "[… 2 characters cut …]" in long["text"] and long["data"]
    large = await lab("tool.test.give", {"size": MAX_DATA})
    assert len(large["text"]) < MAX_TEXT + 100 and large["data"] == {} and "its data, " in large["text"]


async def test_wrong_arguments_are_a_tool_error_that_names_them(lab: Lab) -> None:
    with pytest.raises(ToolError, match=r"test\.give: size: Input should be a valid integer"):
        await lab("tool.test.give", {"size": "large"})


async def test_a_tool_that_cannot_be_narrowed_or_is_not_there_is_left_out(lab: Lab) -> None:
    found = await lab("tools.schemas", {"tools": ["test.give", "test.narrow", "test.gone"], "goals": [], "results": []})
    assert list(found) == ["test.give"]
    told = [(kind, data["tool"], data["error"]) for kind, data in lab.recorder.seen]
    assert told[0] == ("tool.unavailable", "test.narrow", "there is nothing to choose from")
    assert "Did you mean test.give?" in told[1][2] and "Known tools: test.give, test.narrow" in told[1][2]


@pytest.mark.parametrize("kept", ["", "[]", "{}", '{"request": "Hi"}', "\0"])
async def test_a_damaged_summary_is_said_to_be_one(lab: Lab, kept: str) -> None:
    path = lab.home / "turns/s/0001/summary.json"
    path.parent.mkdir(parents=True)
    path.write_text(kept)
    items = await lab("turn.gather", {"request": "Do it"})
    assert items[0]["title"] == "Turn 1" and "cannot be read" in items[0]["text"]


async def test_an_earlier_turn_is_shown_in_short(lab: Lab) -> None:
    path = lab.home / "turns/s/0001/summary.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"request": "Hi", "response": "y" * (SHOWN + 1), "task_types": []}))
    items = await lab("turn.gather", {"request": "Do it"})
    assert items[0]["text"] == f"User: Hi\nAnswer: {'y' * SHOWN} […]"


async def test_a_summary_that_cannot_be_written_is_an_error_of_the_store(lab: Lab) -> None:
    (lab.home / "turns").write_text("in the way")
    with pytest.raises(StoreError) as caught:
        await lab("turn.save", {"request": "Hi", "response": "", "task_types": []})
    assert "summary.json" in str(caught.value) and "resume" in caught.value.hint


def test_a_model_call_is_charged_with_its_tokens() -> None:
    usage = {"prompt_tokens": 10, "cached_tokens": 7, "completion_tokens": 3, "cost_usd": 0.5}
    charged = charge_of({"text": "", "model": "m", "usage": usage})
    assert charged == {"model_calls": 1, "tokens": 13, **usage}


async def test_an_argument_that_there_is_not_is_the_calls_error(lab: Lab) -> None:
    with pytest.raises(ToolError, match=r"test\.give has no argument 'sise'; did you mean size\?"):
        await lab("tool.test.give", {"sise": 3})
