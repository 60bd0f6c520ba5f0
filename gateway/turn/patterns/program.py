"""A compiled pattern: which moves are legal now, and where each leads.

    cursor = program.resolve(program.start(), scope)
    while not cursor.ended:
        if cursor.undo:                                  # a failed candidate: undo results[-cursor.undo]
            cursor = program.undone(cursor)
        else:
            move = …                                     # one of program.moves(cursor, scope)
            cursor = program.take(cursor, move)
            if not cursor.ended:                         # run the tool; scope has its result from here on
                cursor = program.ran(cursor, ok)
        cursor = program.resolve(cursor, scope)

Everything is pure. `resolve` follows what code decides (checks with an expression, jumps, the judgement of a candidate)
until a move, an undo or the end is due; it always ends, since a loop without a tool call does not compile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gateway.turn.patterns.cursor import Cursor, Move, MoveKind, Phase
from gateway.turn.patterns.expression import Scope
from gateway.turn.patterns.grammar import parse
from gateway.turn.patterns.graph import (
    CallNode,
    CheckNode,
    Edge,
    EndNode,
    JumpNode,
    RetryNode,
    StepGraph,
    TryNode,
    build_graph,
)
from gateway.turn.patterns.labels import call_label
from gateway.turn.patterns.syntax import DEFAULT_MAX_STEPS, Call, Example, FrontMatter

MAX_RETRIES = 2  # of one call in a row
_ESCALATE = Move(kind=MoveKind.ESCALATE, label="ESCALATE — the plan has to change")


@dataclass(frozen=True)
class _Way:
    """What was passed on the way to a node."""

    analyze: str | None = None
    retry: str | None = None
    question: str = ""

    def along(self, edge: Edge) -> _Way:
        return self if edge.analyze is None else replace(self, analyze=edge.analyze)


@dataclass(frozen=True)
class Program:
    """A task type, ready to run. `body` is what models read, `steps` are ids, `max_steps` counts tool calls."""

    task_type: str
    front: FrontMatter | None
    body: str
    graph: StepGraph

    @property
    def description(self) -> str:
        return self.front.description if self.front else ""

    @property
    def examples(self) -> tuple[Example, ...]:
        return tuple(self.front.examples) if self.front else ()

    @property
    def planned(self) -> bool:
        """Whether the Planner may choose it."""
        return self.front is None or self.front.planned

    @property
    def max_steps(self) -> int:
        return (self.front and self.front.max_steps) or DEFAULT_MAX_STEPS

    @property
    def steps(self) -> tuple[str, ...]:
        return self.graph.steps

    @property
    def allows_any(self) -> bool:
        """Whether a step may call any tool that there is."""
        return any(isinstance(node, CallNode) and "*" in node.call.tools for node in self.graph.nodes)

    def start(self) -> Cursor:
        return Cursor()

    def resolve(self, cursor: Cursor, scope: Scope) -> Cursor:
        """Follow what code decides, until `moves` are due, an undo is due, or the task has ended."""
        if cursor.phase is Phase.JUDGE:
            cursor = self._judge(cursor, scope)
        while cursor.phase is Phase.READY:
            node = self.graph.nodes[cursor.at]
            if isinstance(node, CheckNode) and node.expression is not None:
                cursor = _along(cursor, node.yes if node.expression.holds(scope) else node.no)
            elif isinstance(node, JumpNode):
                cursor = _along(cursor, node.next)
            elif isinstance(node, RetryNode):
                if not self._may_retry(cursor):
                    return _end(cursor, MoveKind.ESCALATE, self._no_retry(cursor))
                cursor = _move(cursor, at=cursor.last_call, retry=node.hint)
            elif isinstance(node, EndNode):
                kind = MoveKind.DONE if node.done else MoveKind.ESCALATE
                return _end(cursor, kind, "" if node.done else "the pattern escalates here")
            elif all(move.kind is MoveKind.ESCALATE for move in self.moves(cursor, scope)):
                return _end(cursor, MoveKind.ESCALATE, self._nothing_left(cursor))
            else:
                return cursor
        return cursor

    def moves(self, cursor: Cursor, scope: Scope) -> tuple[Move, ...]:
        """The legal moves of a resolved cursor, those of YES before those of NO; none unless a move is due.

        ESCALATE is the last of them, except between the calls of one candidate, which must be judged or undone first.
        """
        if cursor.phase is not Phase.READY:
            return ()
        found = self._reach(cursor, cursor.at, _Way(cursor.analyze, cursor.retry), scope)
        if cursor.candidate and cursor.call:
            return tuple(found)
        unique: dict[tuple[MoveKind, int], Move] = {}
        for move in found:
            unique.setdefault((move.kind, move.node), move)
        unique.setdefault((MoveKind.ESCALATE, -1), _ESCALATE)
        return tuple(sorted(unique.values(), key=lambda move: move.kind is MoveKind.ESCALATE))

    def take(self, cursor: Cursor, move: Move) -> Cursor:
        """The cursor once `move`, one of its legal moves, was chosen: the call runs, or the task has ended."""
        _expect(cursor, Phase.READY)
        if move.kind is not MoveKind.CALL:
            return _end(cursor, move.kind, "" if move.kind is MoveKind.DONE else "the Task Executor escalated")
        step = self._position(move.node)
        return _move(
            cursor,
            phase=Phase.RUNNING,
            at=move.node,
            last_call=move.node,
            retries=(cursor.retries + 1 if move.retry else cursor.retries if move.candidate > 1 or move.call else 0),
            analyze=None,
            retry=None,
            candidate=move.candidate,
            call=move.call,
            done=tuple(each for each in cursor.done if self.steps.index(each[0]) < step),
        )

    def give_up(self, cursor: Cursor) -> Cursor:
        """The cursor where no legal move can be made: the task escalates."""
        return _end(cursor, MoveKind.ESCALATE, "no legal move can be made")

    def ran(self, cursor: Cursor, ok: bool) -> Cursor:
        """The cursor after the tool ran. A candidate's call that fails before the last one fails the candidate."""
        _expect(cursor, Phase.RUNNING)
        node = self.graph.nodes[cursor.at]
        cursor = _move(cursor, calls=cursor.calls + 1)
        if isinstance(node, TryNode):
            if cursor.call + 1 == len(node.attempt.calls):
                return _move(cursor, phase=Phase.JUDGE)
            return _move(cursor, phase=Phase.READY, call=cursor.call + 1) if ok else _move(cursor, phase=Phase.UNDO)
        assert isinstance(node, CallNode)
        return self._step_ended(cursor, node, ok)

    def undone(self, cursor: Cursor) -> Cursor:
        """The cursor once the failed candidate was undone: the next one is due, or the step has failed."""
        _expect(cursor, Phase.UNDO)
        node = self.graph.nodes[cursor.at]
        assert isinstance(node, TryNode)
        if cursor.candidate < node.attempt.candidates and self._fits(cursor, len(node.attempt.calls)):
            return _move(cursor, phase=Phase.READY, candidate=cursor.candidate + 1, call=0)
        return self._step_ended(cursor, node, ok=False)

    def step_at(self, cursor: Cursor) -> int:
        """The place in `steps` where the cursor stands; `len(steps)` after the last one."""
        return self._position(cursor.at)

    def _judge(self, cursor: Cursor, scope: Scope) -> Cursor:
        node = self.graph.nodes[cursor.at]
        assert isinstance(node, TryNode)
        if node.attempt.until.holds(scope):
            return self._step_ended(cursor, node, ok=True)
        return _move(cursor, phase=Phase.UNDO)

    def _step_ended(self, cursor: Cursor, node: CallNode | TryNode, ok: bool) -> Cursor:
        return _move(
            cursor,
            phase=Phase.READY,
            at=node.next.to,
            analyze=node.next.analyze,
            candidate=0,
            call=0,
            done=(*(each for each in cursor.done if each[0] != node.step), (node.step, ok)),
        )

    def _reach(self, cursor: Cursor, at: int, way: _Way, scope: Scope) -> list[Move]:
        """The first moves from a node on, through checks and jumps."""
        node = self.graph.nodes[at]
        if isinstance(node, CheckNode):
            if node.expression is not None:
                edge = node.yes if node.expression.holds(scope) else node.no
                return self._reach(cursor, edge.to, way.along(edge), scope)
            found = []
            for edge, answer in ((node.yes, "YES"), (node.no, "NO")):
                onward = replace(way.along(edge), question=f"{node.question} {answer}")
                found += self._reach(cursor, edge.to, onward, scope)
            return found
        if isinstance(node, JumpNode):
            return self._reach(cursor, node.next.to, way.along(node.next), scope)
        if isinstance(node, RetryNode):
            if not self._may_retry(cursor) or cursor.last_call is None:
                return []
            return self._reach(cursor, cursor.last_call, replace(way, retry=node.hint), scope)
        if isinstance(node, EndNode):
            kind = MoveKind.DONE if node.done else MoveKind.ESCALATE
            label = "DONE" if node.done else _ESCALATE.label
            return [Move(kind=kind, label=f"{way.question}: {label}" if way.question else label, question=way.question)]
        if isinstance(node, TryNode):
            return self._candidate(cursor, at, node, way, scope)
        return [_call_move(at, node, node.call, way, scope, {})] if self._fits(cursor, 1) else []

    def _candidate(self, cursor: Cursor, at: int, node: TryNode, way: _Way, scope: Scope) -> list[Move]:
        calls = node.attempt.calls
        call = cursor.call if cursor.candidate else 0
        if not self._fits(cursor, len(calls) - call):
            return []
        tried = {
            "candidate": max(cursor.candidate, 1),
            "candidates": node.attempt.candidates,
            "call": call,
            "follow_ups": tuple(", ".join(each.tools) for each in calls[call + 1 :]),
            "until": node.attempt.until.source,
        }
        return [_call_move(at, node, calls[call], way, scope, tried)]

    def _fits(self, cursor: Cursor, calls: int) -> bool:
        return cursor.calls + calls <= self.max_steps

    def _may_retry(self, cursor: Cursor) -> bool:
        return cursor.last_call is not None and cursor.retries < MAX_RETRIES

    def _no_retry(self, cursor: Cursor) -> str:
        return "there is no call to retry" if cursor.last_call is None else f"retried {MAX_RETRIES} times in a row"

    def _nothing_left(self, cursor: Cursor) -> str:
        if not self._fits(cursor, 1):
            return f"max_steps is reached: {cursor.calls} tool calls"
        node = self.graph.nodes[cursor.at]
        if isinstance(node, TryNode):
            return f"max_steps leaves no room for a candidate: {cursor.calls} of {self.max_steps} tool calls are used"
        return "no branch leads to a move"

    def _position(self, at: int) -> int:
        step = self.graph.nodes[at].step
        return self.steps.index(step) if step else len(self.steps)


def compile_pattern(text: str, *, name: str) -> Program:
    """The program of a pattern's text. `name` is the task type where the text names none, and stands for it in errors.

    PatternError carries every problem of the first stage that found any (text, then jumps and loops).
    """
    pattern = parse(text, name=name)
    graph = build_graph(pattern, name=name)
    task_type = pattern.front.task_type if pattern.front else pattern.title or name
    return Program(task_type, pattern.front, pattern.body, graph)


def _call_move(
    at: int, node: CallNode | TryNode, call: Call, way: _Way, scope: Scope, tried: Mapping[str, object]
) -> Move:
    known = {key: value for key, expression in call.known if (value := expression.value(scope)) is not None}
    move = Move(
        kind=MoveKind.CALL,
        label="",
        step=node.name,
        node=at,
        tools=call.tools,
        purpose=call.purpose if way.retry is None else way.retry or call.purpose,
        known=known,
        analyze=way.analyze,
        question=way.question,
        retry=way.retry is not None,
    ).model_copy(update=tried)
    return move.model_copy(update={"label": call_label(move)})


def _move(cursor: Cursor, **changes: object) -> Cursor:
    return cursor.model_copy(update=changes)


def _end(cursor: Cursor, kind: MoveKind, reason: str) -> Cursor:
    return _move(cursor, phase=Phase.ENDED, end=kind, reason=reason, analyze=None, retry=None)


def _along(cursor: Cursor, edge: Edge) -> Cursor:
    return _move(cursor, at=edge.to, analyze=cursor.analyze if edge.analyze is None else edge.analyze)


def _expect(cursor: Cursor, phase: Phase) -> None:
    if cursor.phase is not phase:
        raise ValueError(f"the cursor is {cursor.phase}, not {phase}")
