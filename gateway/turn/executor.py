"""The Task Executor, tactical: follows the pattern, and chooses among the moves that are legal now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from gateway.engine.journal import Visit
from gateway.engine.nodes import Node, Route
from gateway.engine.ports import Artifacts, Json
from gateway.llm.packer import Section
from gateway.tools.policy import Policy
from gateway.tools.shortlist import shortlist
from gateway.turn.asking import Asked, Asker, counted
from gateway.turn.operations import load_result
from gateway.turn.parts import Parts
from gateway.turn.patterns.cursor import Cursor, Move, MoveKind
from gateway.turn.patterns.decision import (
    REASONING,
    arguments_schema,
    decision_schema,
    forced,
    match,
    open_arguments,
    settled,
    single_call,
    text_argument,
    tools_of,
    without,
)
from gateway.turn.patterns.expression import Scope
from gateway.turn.patterns.program import Program
from gateway.turn.question import argument_lines, is_code, skeleton, text_question, told
from gateway.turn.sections import sections
from gateway.turn.state import Entry, Pending, TurnContext, TurnState
from gateway.turn.task_state import TaskState

CANDIDATE_TEMPERATURE = 0.7  # of the second candidate of a TRY; the later ones go further, lest they repeat it
WARMER = 0.1
WARMEST = 1.1


@dataclass(frozen=True)
class Decided:
    """Where the cursor stands now, and the call that was chosen, if one was."""

    cursor: Cursor
    pending: Pending | None = None
    escalated: str = ""
    asked: tuple[Asked, ...] = ()


class Execute(Node[TurnState, TurnContext, TurnState, Decided]):
    """`EXECUTOR_DECISION`: CALL_TOOL, DONE or ESCALATE.

    What code can decide, or need not be asked, costs no model call; where one call is legal, the model is asked for its
    arguments only (`TOOL_ARGUMENTS`).
    """

    name = "Execute"
    on_success = Route[TurnState](lambda state: state.next, ("Coordinate", "Undo", "Plan", "Respond"))
    spends = ("steps",)

    def __init__(self, parts: Parts, context: TurnContext, asker: Asker) -> None:
        self._parts = parts
        self._context = context
        self._asker = asker

    def build_input(self, state: TurnState, context: TurnContext) -> TurnState:
        return state

    async def execute(self, given: TurnState, visit: Visit) -> Decided:
        program = self._parts.programs[given.plan.task_type]
        assert given.cursor is not None
        scope = scope_of(self._context, given, visit.artifacts)
        cursor = program.resolve(given.cursor, scope)
        if cursor.ended:
            return Decided(cursor, escalated=cursor.reason if cursor.end is MoveKind.ESCALATE else "")
        if cursor.undo:
            return Decided(cursor)
        moves = offered(program.moves(cursor, scope), given)
        calls = [move for move in moves if move.kind is MoveKind.CALL]
        schemas = await self._schemas(visit, given, moves, calls[0].known if len(calls) == 1 else {})
        if all(move.kind is MoveKind.CALL and not tools_of(move, schemas) for move in moves):
            wanted = ", ".join(glob for move in moves for glob in move.tools)
            return Decided(program.give_up(cursor), escalated=f"no tool is available for {wanted}")
        only = forced(moves, schemas)
        if only is not None:
            move, tool = only
            return Decided(program.take(cursor, move), _pending(move, tool, settled(schemas[tool]), "the only way on"))
        call = single_call(moves, schemas)
        if call is not None:
            return await self._fill_in(visit, given, program, cursor, *call, schemas[call[1]])
        texts = {name: text_argument(schema, settled(schema)) for name, schema in schemas.items()}
        chosen_from = {name: without(schema, filter(None, [texts[name]])) for name, schema in schemas.items()}
        asked = await self._asker.decide(
            visit,
            given,
            "task_executor",
            self._sections(given, program, cursor, visit.artifacts),
            self._question(moves, chosen_from),
            decision_schema(moves, chosen_from),
            type="EXECUTOR_DECISION",
            variables={"task_type": program.task_type},
            check=lambda decision: _copied(decision.get("tool"), chosen_from),
        )
        decision = asked.value
        move = match(decision, moves)
        cursor = program.take(cursor, move)
        if move.kind is not MoveKind.CALL:
            why = decision["reasoning"] if move.kind is MoveKind.ESCALATE else ""
            return Decided(cursor, escalated=why, asked=(asked,))
        tool = decision["tool"]["name"]
        chosen = {**settled(schemas[tool]), **decision["tool"]["args"]}
        if texts[tool] is None or texts[tool] in move.known:
            return Decided(cursor, _pending(move, tool, chosen, decision["reasoning"]), asked=(asked,))
        chosen, written = await self._write(visit, counted(given, asked), move, tool, chosen)
        return Decided(cursor, _pending(move, tool, chosen, decision["reasoning"]), asked=(asked, *written))

    async def _fill_in(
        self,
        visit: Visit,
        state: TurnState,
        program: Program,
        cursor: Cursor,
        move: Move,
        tool: str,
        schema: dict[str, Any],
    ) -> Decided:
        """The arguments of the only legal call: which call it is, code has decided."""
        chosen = settled(schema)
        known = {**chosen, **move.known}
        text = text_argument(schema, known)
        rest = without(schema, filter(None, [text]))
        asked: list[Asked] = []
        reasoning = ""
        if text is None or open_arguments(rest, known):  # where a text goes comes before the text
            filled = await self._asker.decide(
                visit,
                state,
                "tool_arguments",
                sections(self._context.request, latest_candidate(state), visit.artifacts),
                "\n".join([f"Next: {move.label}", *argument_lines("", rest, move), skeleton(rest, move)]),
                arguments_schema(move, rest),
                type="TOOL_ARGUMENTS",
                temperature=temperature_of(move.candidate),
                check=lambda args: _copied({"name": tool, "args": args}, {tool: schema}),
            )
            answer = dict(filled.value)
            reasoning = answer.pop(REASONING)
            chosen, asked = {**chosen, **answer}, [filled]
        if text is not None:
            narrowed = None if asked else schema  # nothing was chosen: it is as narrow as it gets
            chosen, written = await self._write(visit, counted(state, *asked), move, tool, chosen, narrowed)
            asked += written
        return Decided(program.take(cursor, move), _pending(move, tool, chosen, reasoning), asked=tuple(asked))

    async def _write(
        self,
        visit: Visit,
        state: TurnState,
        move: Move,
        tool: str,
        chosen: Mapping[str, Json],
        schema: dict[str, Any] | None = None,
    ) -> tuple[dict[str, Json], tuple[Asked, ...]]:
        """The arguments with the one that is a text or code, asked for as it is once all the others are chosen;
        `schema` where it is known for these."""
        known = {**chosen, **move.known}
        if schema is None:
            schema = (await self._schemas(visit, state, [move], known, "tools.schemas.chosen"))[tool]
        text = text_argument(schema, known)
        if text is None:  # for what was chosen there is none to write
            return {**settled(schema), **chosen}, ()
        argument = schema["properties"][text]
        written = await self._asker.write(
            visit,
            state,
            "text_argument",
            [],
            text_question(argument, move),
            code=is_code(argument),
            judged=move.candidate > 0,
            temperature=temperature_of(move.candidate),
        )
        return {**settled(schema), **chosen, text: written.value}, (written,)

    def spent(self, output: Decided) -> Mapping[str, float]:
        return {"steps": 1} if output.asked else {}

    def apply_output(self, state: TurnState, output: Decided) -> TurnState:
        if output.pending is not None:
            follows = "Coordinate"
        elif output.cursor.undo:
            follows = "Undo"
        else:
            follows = "Plan" if output.cursor.end is MoveKind.ESCALATE or state.plan.then else "Respond"
        state = state.with_(
            cursor=output.cursor,
            task=TaskState.of(self._parts.programs[state.plan.task_type], output.cursor),
            pending=output.pending,
            escalated=output.escalated or state.escalated,
            next=follows,
        )
        return counted(state, *output.asked)

    async def _schemas(
        self,
        visit: Visit,
        state: TurnState,
        moves: Sequence[Move],
        chosen: Mapping[str, Json],
        name: str | None = None,
    ) -> dict[str, Any]:
        """The argument schemas of the tools that the moves may call, narrowed to what there is."""
        allowed = dict.fromkeys(allowed_tools(self._parts, self._context))
        wanted = sorted({name for move in moves for name in self._offered(state, tools_of(move, allowed))})
        if not wanted:
            return {}
        standing, tried = told_apart(state.mine())
        before = [entry for entry in state.entries if entry.plan < len(state.plans) and not entry.undone]
        asked = {
            "tools": wanted,
            "goals": list(state.plan.goals),
            "results": [entry.result for entry in standing],
            "candidate": max((move.candidate for move in moves), default=0),
            "tried": [entry.result for entry in tried],
            "earlier": [entry.result for entry in before],
            "whole": state.whole,
            "chosen": dict(chosen),
        }
        found: dict[str, Any] = await visit.call("tools.schemas", asked, name=name)
        return found

    def _offered(self, state: TurnState, tools: Sequence[str]) -> Sequence[str]:
        wanted = "\n".join([self._context.request, *state.plan.goals])
        return shortlist([self._parts.registry.get(name) for name in tools], wanted)

    def _sections(self, state: TurnState, program: Program, cursor: Cursor, artifacts: Artifacts) -> list[Section]:
        task = TaskState.of(program, cursor)
        return [
            *sections(self._context.request, latest_candidate(state), artifacts),
            Section("state", "Task State", (task.line(),)),
        ]

    def _question(self, moves: Sequence[Move], schemas: Mapping[str, Any]) -> str:
        lines = ["Legal moves now:"]
        for move in moves:
            lines.append(f"- {move.label}")
            for name in tools_of(move, schemas):
                alone = name in move.tools and len(move.tools) == 1
                if not alone:
                    lines.append(f"  {name}: {told(self._parts.registry.get(name).description)}")
                lines += argument_lines("" if alone else name, schemas[name], move)
        lines += [f"First think about {move.analyze}." for move in moves[:1] if move.analyze]
        return "\n".join([*lines, "Answer with your EXECUTOR_DECISION."])


def allowed_tools(parts: Parts, context: TurnContext) -> list[str]:
    """The tools that the configuration does not deny, sorted."""
    policy = Policy(context.settings.get("tools", {}))
    return [name for name in parts.registry.names() if not policy.denies(name)]


def latest_candidate(state: TurnState) -> TurnState:
    """Without the failed candidates before the last: a model that sees one mistake often enough makes it again."""
    failed = [at for at, entry in enumerate(state.entries) if entry.candidate and entry.undone]
    seen = state.entries[: failed[-1]] if failed else ()
    return state.with_(entries=(*(entry for entry in seen if not entry.candidate), *state.entries[len(seen) :]))


def told_apart(entries: Sequence[Entry]) -> tuple[list[Entry], list[Entry]]:
    """The calls whose results still hold, and those of candidates that were undone."""
    standing: list[Entry] = []
    tried: list[Entry] = []
    for candidate, group in groupby(entries, lambda entry: entry.candidate):
        calls = list(group)
        if candidate and any(entry.undone for entry in calls):
            tried += calls
        else:
            standing += calls
    return standing, tried


def temperature_of(candidate: int) -> float | None:
    """None where the recipe's own holds: no TRY, or its first candidate."""
    return min(WARMEST, CANDIDATE_TEMPERATURE + WARMER * (candidate - 2)) if candidate > 1 else None


def offered(moves: Sequence[Move], state: TurnState) -> tuple[Move, ...]:
    """The moves without ESCALATE where nothing has failed yet, or code has candidates to judge: a small model takes it
    for a way to say that it is unsure."""
    onward = tuple(move for move in moves if move.kind is not MoveKind.ESCALATE)
    judged = any(move.candidate for move in onward)
    return onward if onward and (judged or all(entry.ok for entry in state.mine())) else tuple(moves)


def scope_of(context: TurnContext, state: TurnState, artifacts: Artifacts) -> Scope:
    """What a pattern's expressions see: this task's results, and as `context` the request, the goals, what was
    gathered, and the results of the whole turn."""
    every = [(entry.plan, load_result(artifacts, entry.result)) for entry in state.entries]
    known = {
        "request": context.request,
        "goals": list(state.plan.goals),
        "gathered": [item.model_dump() for item in state.gathered],
        "results": [result for _, result in every],
    }
    return Scope(tuple(result for plan, result in every if plan == len(state.plans)), known, {})


def _copied(tool: Mapping[str, Any] | None, schemas: Mapping[str, Any]) -> str | None:
    """The objection to an argument that only repeats what it is said to be: small models copy what they see."""
    for key, value in tool["args"].items() if tool else ():
        if value and value == schemas[tool["name"]]["properties"].get(key, {}).get("description"):  # type: ignore[index]
            return f"{key} only repeats what it is to be. Write it"
    return None


def _pending(move: Move, tool: str, chosen: Mapping[str, Any], reasoning: str) -> Pending:
    return Pending(
        tool=tool,
        args=move.arguments(chosen),
        reasoning=reasoning,
        label=move.label,
        step=move.step,
        candidate=move.candidate,
    )
