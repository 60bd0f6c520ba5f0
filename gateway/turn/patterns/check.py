"""What `echelon patterns check` reports."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from gateway.errors import PatternError
from gateway.turn.patterns import syntax
from gateway.turn.patterns.front_matter import Problem
from gateway.turn.patterns.grammar import parse
from gateway.turn.patterns.graph import CallNode, RetryNode, StepGraph, TryNode, build_graph, edges, loops


@dataclass(frozen=True)
class Diagnostic:
    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


def check_pattern(
    text: str, *, file: str, tools: Collection[str], undoable: Collection[str] | None = None
) -> tuple[Diagnostic, ...]:
    """Every problem of a pattern's text, by line.

    `tools` are the known names, `undoable` those that a TRY can begin with (None: not checked).
    """
    try:
        pattern = parse(text, name=file)
        graph = build_graph(pattern, name=file)
    except PatternError as error:
        return tuple(Diagnostic(file, line, message) for line, message in error.problems)
    problems = {
        *_head(pattern),
        *_tools(graph, tools),
        *_undo(graph, undoable),
        *_unreachable(pattern, graph),
        *_unbounded(pattern, graph),
    }
    return tuple(Diagnostic(file, line, message) for line, message in sorted(problems))


def _head(pattern: syntax.Pattern) -> Iterator[Problem]:
    if pattern.front is None:
        yield 1, "there is no front matter: the Planner chooses a task type by its description"


def _calls(graph: StepGraph) -> Iterator[syntax.Call]:
    for node in graph.nodes:
        if isinstance(node, CallNode):
            yield node.call
        elif isinstance(node, TryNode):
            yield from node.attempt.calls


def _tools(graph: StepGraph, tools: Collection[str]) -> Iterator[Problem]:
    for call in _calls(graph):
        for glob in call.tools:
            if not any(fnmatchcase(name, glob) for name in tools):
                near = difflib.get_close_matches(glob, sorted(tools), n=1)
                yield call.line, f"there is no tool {glob!r}." + (f" Did you mean {near[0]}?" if near else "")


def _undo(graph: StepGraph, undoable: Collection[str] | None) -> Iterator[Problem]:
    for node in graph.nodes:
        if undoable is not None and isinstance(node, TryNode):
            first = node.attempt.calls[0]
            if not any(fnmatchcase(name, glob) for name in undoable for glob in first.tools):
                can = ", ".join(sorted(undoable)) or "no tool"
                yield first.line, f"{first.tools[0]} cannot be undone, so a TRY cannot begin with it; what can: {can}"


def _unreachable(pattern: syntax.Pattern, graph: StepGraph) -> Iterator[Problem]:
    reached = _reached(graph, through_calls=True)
    for at, step in enumerate(pattern.steps):
        if at not in reached:
            yield step.line, f"step {step.number} ({graph.steps[at]}) cannot be reached"
    if not any(isinstance(graph.nodes[at], CallNode | TryNode) for at in reached):
        yield pattern.steps[0].line, "no tool is ever called"
    for at in _reached(graph, through_calls=False):
        node = graph.nodes[at]
        if isinstance(node, RetryNode):
            yield node.line, "RETRY can be reached before any CALL: there is nothing to retry"


def _unbounded(pattern: syntax.Pattern, graph: StepGraph) -> Iterator[Problem]:
    if pattern.front is None or pattern.front.max_steps is None:
        for edge in loops(dict(enumerate(graph.nodes))):
            yield edge.line, "a loop that no max_steps bounds: give max_steps in the front matter"


def _reached(graph: StepGraph, *, through_calls: bool) -> set[int]:
    reached: set[int] = set()
    ahead = [0]
    while ahead:
        at = ahead.pop()
        if at in reached:
            continue
        reached.add(at)
        if through_calls or not isinstance(graph.nodes[at], CallNode | TryNode):
            ahead += [edge.to for edge in edges(graph.nodes[at])]
    return reached
