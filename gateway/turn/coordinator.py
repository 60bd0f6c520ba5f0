"""The Coordinator, operational: no model. It asks for permission, runs the tool, and writes down what came back."""

from __future__ import annotations

import json
from dataclasses import dataclass

from gateway.engine.journal import Visit
from gateway.engine.nodes import Node, Route
from gateway.tools.calling import ToolCaller
from gateway.turn.operations import load_result
from gateway.turn.parts import Parts
from gateway.turn.state import Entry, Pending, TurnContext, TurnState
from gateway.turn.task_state import TaskState


@dataclass(frozen=True)
class Ran:
    ok: bool
    result: str
    s: float


@dataclass(frozen=True)
class Due:
    """A call that is due; `repeats` where an earlier attempt of the turn has made the very same one, `strangers` where
    the turn has read what others wrote. `begun` are results of earlier calls that may have done a part of it: a run
    that such a call was may have failed half way."""

    call: Pending
    repeats: bool
    strangers: bool
    begun: tuple[str, ...] = ()


class Coordinate(Node[TurnState, TurnContext, Due, Ran]):
    """Runs the pending call. A tool's error is a result that the Task Executor sees."""

    name = "Coordinate"
    on_success = Route[TurnState](lambda state: "Execute" if state.cursor else "Respond", ("Execute", "Respond"))

    def __init__(self, parts: Parts, context: TurnContext) -> None:
        self._programs = parts.programs
        self._registry = parts.registry
        self._assume_yes = context.assume_yes
        self._caller = ToolCaller(parts.registry, context.settings.get("tools", {}))

    def build_input(self, state: TurnState, context: TurnContext) -> Due:
        call = state.pending
        assert call is not None
        made = any((each.tool, each.args, each.ok) == (call.tool, call.args, True) for each in state.entries)
        strangers = any(self._reads_strangers(each.tool) for each in state.entries)
        begun: tuple[str, ...] = ()
        if call.tool in self._registry and self._registry.get(call.tool).child is not None:
            mine = (each for each in state.entries if each.tool == call.tool)
            begun = tuple(each.result for each in mine if state.verdicts or not each.ok)
        return Due(call, made and bool(state.verdicts), strangers, begun)

    async def execute(self, due: Due, visit: Visit) -> Ran:
        given = due.call
        visit.progress("tool", tool=given.tool, args=given.args)
        begun = any(load_result(visit.artifacts, each)["data"].get("acted") for each in due.begun)
        called = await self._caller.call(
            visit,
            given.tool,
            given.args,
            repeats=due.repeats or begun,
            strangers=due.strangers,
            assume_yes=self._assume_yes,
        )
        data = json.dumps({"tool": given.tool, "args": given.args, **called.result}, ensure_ascii=False)
        return Ran(called.result["ok"], visit.artifacts.put(data.encode()), called.s)

    def apply_output(self, state: TurnState, output: Ran) -> TurnState:
        pending = state.pending
        assert pending is not None
        entry = Entry(
            tool=pending.tool,
            args=pending.args,
            reasoning=pending.reasoning,
            label=pending.label,
            step=pending.step,
            plan=len(state.plans),
            ok=output.ok,
            result=output.result,
            s=output.s,
            candidate=pending.candidate,
        )
        state = state.with_(entries=(*state.entries, entry), pending=None)
        if state.cursor is None:  # a person's own call
            return state
        program = self._programs[state.plan.task_type]
        cursor = program.ran(state.cursor, output.ok)
        return state.with_(cursor=cursor, task=TaskState.of(program, cursor))

    def _reads_strangers(self, name: str) -> bool:
        return name in self._registry and self._registry.get(name).reads_strangers


class Undo(Node[TurnState, TurnContext, Entry, None]):
    """Takes back a candidate that failed, with the tool's own undo."""

    name = "Undo"
    on_success = "Execute"

    def __init__(self, parts: Parts) -> None:
        self._programs = parts.programs

    def build_input(self, state: TurnState, context: TurnContext) -> Entry:
        assert state.cursor is not None
        return state.mine()[-state.cursor.undo]

    async def execute(self, given: Entry, visit: Visit) -> None:
        if given.ok:  # an edit that failed changed nothing
            await visit.call(f"undo.{given.tool}", {"result": given.result})

    def apply_output(self, state: TurnState, output: None) -> TurnState:
        assert state.cursor is not None
        at = len(state.entries) - state.cursor.undo
        entry = state.entries[at].model_copy(update={"undone": True})
        cursor = self._programs[state.plan.task_type].undone(state.cursor)
        return state.with_(entries=(*state.entries[:at], entry, *state.entries[at + 1 :]), cursor=cursor)
