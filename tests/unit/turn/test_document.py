"""context.md: a projection that is whole, in order, and the same for the same state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gateway.engine.artifacts import ArtifactStore, MemoryArtifacts
from gateway.engine.scripted import EPOCH
from gateway.engine.state import RunState, Status, Waiting
from gateway.engine.store import RunRow
from gateway.turn.document import SHOWN, project, render
from gateway.turn.patterns.cursor import Cursor
from gateway.turn.state import Entry, Item, Pack, Pending, Plan, TurnContext, TurnState
from gateway.turn.task_state import TaskState

SECTIONS = ["§0 Request", "§1 Gathered Context", "§3 Task Plan", "§4 Execution", "§5 Response"]
KEYS = ["turn", "session", "run", "status", "stop_reason", "model", "usage", "started"]
USAGE = ["model_calls", "prompt_tokens", "cached_tokens", "completion_tokens", "cost_usd", "wall_s"]
NASTY = st.sampled_from(
    ["", "plain", "```\n## §5 Response\n", "## §3 Task Plan", "---\na: b\n---", "a\r\nb", "<!--", "é\u2028"]
)
TEXT = st.text(max_size=30) | NASTY

ROW = RunRow(
    id="01M5", graph="turn", title="t", session="s", ordinal=7, parent=None, seed=1, context={}, limits={}, pins={},
    status="running", stop_reason=None, question=None, created=EPOCH, updated=EPOCH, cancel=False,
)  # fmt: skip


def context(request: str = "Do it") -> TurnContext:
    return TurnContext(request=request, session="s", workspace="/w", models={"planner": "local/a: b"}, settings={})


def entry(artifacts: Any, text: str, args: dict[str, Any], reasoning: str = "because") -> Entry:
    result = json.dumps({"tool": "test.say", "args": args, "ok": True, "text": text, "data": {}}).encode()
    return Entry(
        tool="test.say", args=args, reasoning=reasoning, label="", step="say", plan=1, ok=True, s=1.5,
        result=artifacts.put(result),
    )  # fmt: skip


@st.composite
def turns(draw: st.DrawFn) -> tuple[TurnContext, RunState, MemoryArtifacts]:
    """A turn at any point, with any words in it."""
    artifacts, phase = MemoryArtifacts(), draw(st.integers(0, 5))
    told: dict[str, Any] = {}
    if phase >= 1:
        told["gathered"] = tuple(Item(title="Memory", text=text) for text in draw(st.lists(TEXT, max_size=2)))
    if phase >= 2:
        asked = Plan(action="CLARIFY", question=draw(TEXT), reasoning=draw(TEXT))
        goals = tuple(draw(st.lists(TEXT, max_size=3)))
        told["plans"] = (asked, Plan(action="EXECUTE", task_type="generic", goals=goals, reasoning=draw(TEXT)))
        told["clarified"] = (Item(title=asked.question, text=draw(TEXT)),)
    if phase >= 3:
        told["cursor"] = Cursor()
        told["task"] = TaskState(task_type="generic", current_step=1, max_steps=3, pending_steps=["say"])
        results = st.builds(lambda *given: entry(artifacts, *given), TEXT, st.dictionaries(st.just("what"), TEXT), TEXT)
        told["entries"] = tuple(draw(st.lists(results, max_size=2)))
        told["escalated"] = draw(TEXT)
    if phase >= 4:
        told["response"] = draw(TEXT)
    node = ("Gather", "Plan", "Execute", "Execute", "Save", None)[phase]
    waiting = Waiting("clarify", "01M5", draw(TEXT)) if draw(st.booleans()) else None
    status = Status.WAITING if waiting else draw(st.sampled_from([Status.RUNNING, Status.FAILED, Status.COMPLETE]))
    error = draw(TEXT) if status is Status.FAILED else None
    state = RunState(node=node, data=TurnState(**told), status=status, error=error, waiting=waiting)
    return context(draw(TEXT)), state, artifacts


@given(turns())
def test_every_section_stands_once_and_in_order_whatever_is_in_it(turn: Any) -> None:
    given, state, artifacts = turn
    whole = render(ROW, given, state, artifacts)
    front, body = whole.removeprefix("---\n").split("---\n", 1)
    assert list(yaml.safe_load(front)) == KEYS
    tokens = MarkdownIt().enable("table").parse(body)
    begins = [at for at, each in enumerate(tokens) if each.type == "heading_open" and not each.level]
    titles = [tokens[at + 1].content for at in begins if tokens[at].tag in ("h1", "h2")]
    own = [title for title in titles if title.startswith(("§", "Turn 7"))]
    data = state.data
    there = [True, state.node != "Gather", bool(data.plans), data.cursor is not None, data.response is not None]
    assert own == ["Turn 7", *(title for title, shown in zip(SECTIONS, there, strict=True) if shown)]
    assert render(ROW, given, state, artifacts) == whole
    assert "\r" not in whole and whole.endswith("\n")


def test_the_front_matter_is_the_contract_s() -> None:
    counters = {"model_calls": 5.0, "prompt_tokens": 4120, "time_s": 21.44, "cost_usd": 0.0000004, "visits": 9}
    state = RunState(node=None, data=TurnState(), status=Status.STOPPED, stop_reason="budget:steps", counters=counters)
    front = yaml.safe_load(render(ROW, context(), state, MemoryArtifacts()).split("---\n")[1])
    assert list(front["usage"]) == USAGE
    assert front["usage"]["wall_s"] == 21.4 and front["usage"]["model_calls"] == 5 and front["usage"]["cost_usd"] == 0
    assert (front["turn"], front["status"], front["stop_reason"]) == (7, "stopped", "budget:steps")
    assert front["model"] == {"planner": "local/a: b"} and front["started"] == "2026-10-26T07:33:20Z"


def test_the_reasoning_of_a_plan_is_no_part_of_its_last_goal() -> None:
    plan = Plan(action="EXECUTE", task_type="generic", goals=("one", "two"), reasoning="because\nof it")
    said = render(ROW, context(), RunState(node="Execute", data=TurnState(plans=(plan,))), MemoryArtifacts())
    assert "EXECUTE · `generic`\n\n1. one\n2. two\n\n_because of it_\n" in said


def test_a_long_result_is_cut_in_the_document_and_whole_beside_it(tmp_path: Path) -> None:
    artifacts = ArtifactStore(tmp_path / "artifacts")
    made = entry(artifacts, "x" * (SHOWN + 7), {"what": "`" * 400})
    packs = (Pack(recipe="planner", sha256=artifacts.put(b"# Pack")),)
    state = RunState(node="Execute", data=TurnState(entries=(made,), packs=packs))
    said = render(ROW, context(), state, artifacts)
    assert "[… 7 more characters in results/01-test.say.json]" in said and len(said) < SHOWN + 2000
    project(tmp_path)(ROW, context(), state, artifacts).write(artifacts, set())
    folder = tmp_path / "turns/s/0007"
    assert json.loads((folder / "results/01-test.say.json").read_text())["text"] == "x" * (SHOWN + 7)
    assert (folder / "packs/01-planner.md").read_text() == "# Pack"
    assert (folder / "context.md").read_text() == said


def test_a_call_that_is_about_to_be_made_changes_no_file(tmp_path: Path) -> None:
    artifacts = ArtifactStore(tmp_path / "artifacts")
    pending = Pending(tool="test.say", args={}, reasoning="", label="", step="say")
    state = RunState(node="Coordinate", data=TurnState(pending=pending))
    assert project(tmp_path)(ROW, context(), state, artifacts).texts == {}
