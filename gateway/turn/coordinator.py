"""The Coordinator, operational: no model. It asks for permission, runs the tool, and writes down what came back."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from typing import Any

from gateway.engine.journal import CallFailed, Visit
from gateway.engine.nodes import Node, Route
from gateway.engine.ports import Effect
from gateway.errors import ToolError
from gateway.tools.policy import Policy, Verdict, denied
from gateway.tools.registry import Tool, Touches
from gateway.turn.parts import Parts
from gateway.turn.sections import arguments
from gateway.turn.state import Entry, Pending, TurnContext, TurnState
from gateway.turn.task_state import TaskState

ON_LINE = 200  # characters of arguments that are read well on one line


@dataclass(frozen=True)
class Ran:
    ok: bool
    result: str
    s: float


@dataclass(frozen=True)
class Due:
    """A call that is due; `repeats` where an earlier attempt of the turn has made the very same one, `strangers` where
    the turn has read what the network gave."""

    call: Pending
    repeats: bool
    strangers: bool


class Coordinate(Node[TurnState, TurnContext, Due, Ran]):
    """Runs the pending call. A tool's error is a result that the Task Executor sees."""

    name = "Coordinate"
    on_success = Route[TurnState](lambda state: "Execute" if state.cursor else "Respond", ("Execute", "Respond"))

    def __init__(self, parts: Parts, context: TurnContext) -> None:
        self._programs = parts.programs
        self._registry = parts.registry
        self._context = context
        self._policy = Policy(context.settings.get("tools", {}))

    def build_input(self, state: TurnState, context: TurnContext) -> Due:
        call = state.pending
        assert call is not None
        made = any((each.tool, each.args, each.ok) == (call.tool, call.args, True) for each in state.entries)
        strangers = any(self._reads_strangers(each.tool) for each in state.entries)
        return Due(call, made and bool(state.verdicts), strangers)

    async def execute(self, due: Due, visit: Visit) -> Ran:
        given = due.call
        visit.progress("tool", tool=given.tool, args=given.args)
        result, began = await self._run(due, visit)
        data = json.dumps({"tool": given.tool, "args": given.args, **result}, ensure_ascii=False)
        return Ran(result["ok"], visit.artifacts.put(data.encode()), round(await visit.now() - began, 1))

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

    async def _run(self, due: Due, visit: Visit) -> tuple[dict[str, Any], float]:
        """The result, and when the call began: what a person takes to answer is not the tool's time."""
        given = due.call
        began = await visit.now()
        try:
            tool = self._registry.get(given.tool)
            effect = self._effect(given)
            verdict = await self._verdict(tool, given, visit)
            if verdict is Verdict.DENY:
                raise denied(tool, given.args)
            asks = verdict is Verdict.ASK and not (self._context.assume_yes and not due.strangers)
            again = due.repeats and effect is Effect.ONCE  # which `--yes` does not answer: nothing is done twice
            if asks or again:
                would = await visit.call("tools.preview", {"tool": tool.name, "args": given.args})
                answer = await visit.ask("approve", self._question(due, again, would), options=("yes", "no"))
                if answer != "yes":
                    return {"ok": False, "text": "The user did not allow this call.", "data": {"denied": True}}, began
                began = await visit.now()
            result = await visit.call(f"tool.{given.tool}", given.args, effect=effect)
        except (ToolError, CallFailed) as error:
            hint = f" ({error.hint})" if error.hint else ""
            return {"ok": False, "text": f"Error: {error}{hint}", "data": {"error": error.kind}}, began
        if result is None:  # a call in doubt, which a person said had happened
            return {"ok": True, "text": "It was confirmed that this has been done.", "data": {}}, began
        return dict(result), began

    def _effect(self, given: Pending) -> Effect | None:
        """The effect for these arguments; None where they are wrong, which the call itself will say."""
        tool = self._registry.get(given.tool)
        if isinstance(tool.effect, Effect):
            return tool.effect
        try:
            return tool.effect_of(tool.parse(given.args))
        except ToolError:
            return None

    async def _verdict(self, tool: Tool, given: Pending, visit: Visit) -> Verdict:
        """By name alone where that settles it; what a call's paths lead to is looked at outside."""
        general = self._policy.in_general(tool)
        if general is Verdict.DENY or not self._policy.by_arguments(tool.name):
            return general
        return Verdict(await visit.call("tools.policy", {"tool": tool.name, "args": given.args}))

    def _question(self, due: Due, again: bool, would: str) -> str:
        parts = [approval(due.call), *([visible(would)] if would else [])]
        if again:
            parts.append("It was done in the first attempt already.")
        if due.strangers and self._context.assume_yes and not again:
            parts.append(
                "This turn has read texts of others, which may be what asks for it: --yes does not answer here."
            )
        return ("\n" if would else " ").join(parts)

    def _reads_strangers(self, name: str) -> bool:
        return name in self._registry and Touches.NETWORK in self._registry.get(name).touches


def approval(call: Pending) -> str:
    """The question whether a call may be made, with exactly what it would do: short arguments on its line, long texts
    whole, each below its name."""
    short = visible(arguments(call.args, ON_LINE))
    if len(json.dumps(call.args, ensure_ascii=False)) <= ON_LINE:
        return f"Run {call.tool} {short}?"
    lines = [f"Run {call.tool} with these arguments?"]
    for key, value in call.args.items():
        text = visible(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2))
        lines += [f"{key}:", *(f"  {line}" for line in text.splitlines())] if "\n" in text else [f"{key}: {text}"]
    return "\n".join(lines)


def visible(text: str) -> str:
    """The text with what a terminal would obey or hide (control characters, marks of direction, what has no width)
    written out, as `\\u202e`: a person must see what is approved."""
    hidden = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
    return "".join(
        each if each in "\n\t" or unicodedata.category(each) not in hidden else each.encode("unicode_escape").decode()
        for each in text
    )


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
