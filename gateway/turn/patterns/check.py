"""What `echelon patterns check` reports."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from gateway.errors import PatternError
from gateway.turn.patterns import syntax
from gateway.turn.patterns.front_matter import Problem
from gateway.turn.patterns.grammar import read
from gateway.turn.patterns.graph import CallNode, RetryNode, StepGraph, TryNode, build_graph, edges, loops


@dataclass(frozen=True)
class Diagnostic:
    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


def check_pattern(
    text: str,
    *,
    file: str,
    tools: Collection[str],
    undoable: Collection[str] | None = None,
    servers: Collection[str] | None = None,
) -> tuple[Diagnostic, ...]:
    """Every problem of a pattern's text, by line.

    `tools` are the known names, `undoable` those that a TRY can begin with (None: not checked), `servers` what MCP
    servers are called in the names of their tools (None: not known).
    """
    pattern, unread = read(text)
    problems = {*unread, *_tools(pattern, tools, servers), *_undo(pattern, undoable), *_name(pattern, file)}
    try:
        graph = build_graph(pattern, name=file)
    except PatternError as error:
        problems.update(error.problems)
    else:
        if not unread:  # they are about the whole: what cannot be read may be what they miss
            problems.update((*_head(pattern), *_unreachable(pattern, graph), *_unbounded(pattern, graph)))
    return tuple(Diagnostic(file, line, message) for line, message in sorted(problems))


def _head(pattern: syntax.Pattern) -> Iterator[Problem]:
    if pattern.front is None:
        yield 1, "there is no front matter: the Planner chooses a task type by its description"


def _name(pattern: syntax.Pattern, file: str) -> Iterator[Problem]:
    if pattern.front is not None and pattern.front.task_type != Path(file).stem:
        yield 1, f"the task type is {pattern.front.task_type!r}, the file is {Path(file).name}: one of the two is wrong"


def _calls(pattern: syntax.Pattern) -> Iterator[syntax.Call]:
    for step in pattern.steps:
        statement = step.statement
        if isinstance(statement, syntax.Try):
            yield from statement.calls
            continue
        branches = (statement.yes, statement.no) if isinstance(statement, syntax.Check) else (statement,)
        yield from (branch.move for branch in branches if isinstance(branch.move, syntax.Call))


def _tools(pattern: syntax.Pattern, tools: Collection[str], servers: Collection[str] | None) -> Iterator[Problem]:
    for call in _calls(pattern):
        for glob in call.tools:
            if any(fnmatchcase(name, glob) for name in tools):
                continue
            server = glob.split(".")[1] if glob.startswith("mcp.") else ""
            if servers is not None and server.strip("*?") and not any(fnmatchcase(each, server) for each in servers):
                yield call.line, f"there is no tool {glob!r}: no MCP server `{server}` is configured"
            else:
                near = difflib.get_close_matches(glob, sorted(tools), n=1)
                yield call.line, f"there is no tool {glob!r}." + (f" Did you mean {near[0]}?" if near else "")


def _undo(pattern: syntax.Pattern, undoable: Collection[str] | None) -> Iterator[Problem]:
    for step in pattern.steps:
        if undoable is not None and isinstance(step.statement, syntax.Try):
            first = step.statement.calls[0]
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
