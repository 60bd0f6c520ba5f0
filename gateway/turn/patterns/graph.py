"""The step graph that a syntax tree is compiled into."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gateway.turn.patterns import syntax
from gateway.turn.patterns.expression import Expression
from gateway.turn.patterns.front_matter import Problem
from gateway.turn.patterns.grammar import pattern_error


@dataclass(frozen=True)
class Edge:
    """The way to another node; `analyze` is what the model is asked to think about on it."""

    to: int
    line: int
    analyze: str | None = None


@dataclass(frozen=True)
class CallNode:
    """One tool call. `name` tells the calls of one step apart."""

    step: str
    name: str
    call: syntax.Call
    next: Edge


@dataclass(frozen=True)
class TryNode:
    step: str
    attempt: syntax.Try
    next: Edge

    @property
    def name(self) -> str:
        return self.step


@dataclass(frozen=True)
class CheckNode:
    step: str
    question: str
    expression: Expression | None
    yes: Edge
    no: Edge


@dataclass(frozen=True)
class JumpNode:
    step: str
    next: Edge


@dataclass(frozen=True)
class RetryNode:
    step: str
    line: int
    hint: str


@dataclass(frozen=True)
class EndNode:
    step: str
    done: bool


Node = CallNode | TryNode | CheckNode | JumpNode | RetryNode | EndNode


@dataclass(frozen=True)
class StepGraph:
    """Step i begins at node i; a task at node 0. `working` are the ids of the steps that call tools."""

    nodes: tuple[Node, ...]
    steps: tuple[str, ...]
    working: frozenset[str]


def edges(node: Node) -> tuple[Edge, ...]:
    """The ways on from a node; those through a tool call among them."""
    if isinstance(node, CheckNode):
        return node.yes, node.no
    if isinstance(node, CallNode | TryNode | JumpNode):
        return (node.next,)
    return ()


def build_graph(pattern: syntax.Pattern, *, name: str) -> StepGraph:
    """PatternError for a jump to a step that does not exist, two steps of one id, or a loop without a tool call."""
    return _Builder(pattern, name).build()


class _Builder:
    """Lays out a node for each step, in their order, then the common end, then the moves of branches."""

    def __init__(self, pattern: syntax.Pattern, name: str) -> None:
        self.pattern = pattern
        self.name = name
        self.problems: list[Problem] = []
        self.end = len(pattern.steps)
        self.nodes: dict[int, Node] = {self.end: EndNode("", done=True)}

    def build(self) -> StepGraph:
        ids = self._ids()
        for index, (step, step_id) in enumerate(zip(self.pattern.steps, ids, strict=True)):
            follows = Edge(index + 1, step.line)
            statement = step.statement
            if isinstance(statement, syntax.Check):
                self._place_check(index, statement, step_id, follows)
            elif isinstance(statement, syntax.Try):
                self.nodes[index] = TryNode(step_id, statement, follows)
            else:
                self._place_move(index, statement, step_id, follows)
        if not self.problems:
            self._refuse_loops_without_a_call()
        if self.problems:
            raise pattern_error(self.name, self.problems)
        nodes = tuple(self.nodes[index] for index in range(len(self.nodes)))
        working = frozenset(node.step for node in nodes if isinstance(node, CallNode | TryNode))
        return StepGraph(nodes, ids, working)

    def _add(self, node: Node) -> int:
        index = max(self.nodes) + 1
        self.nodes[index] = node
        return index

    def _place_check(self, index: int, check: syntax.Check, step: str, follows: Edge) -> None:
        both_call = isinstance(check.yes.move, syntax.Call) and isinstance(check.no.move, syntax.Call)
        yes = self._branch(check.yes, step, f"{step}-yes" if both_call else step, follows)
        no = self._branch(check.no, step, f"{step}-no" if both_call else step, follows)
        self.nodes[index] = CheckNode(step, check.question, check.expression, yes, no)

    def _place_move(self, index: int, branch: syntax.Branch, step: str, follows: Edge) -> None:
        if branch.analyze is None and not isinstance(branch.move, syntax.GoTo):
            self.nodes[index] = self._node(index, branch.move, step, step, follows)
        else:
            self.nodes[index] = JumpNode(step, self._branch(branch, step, step, follows))

    def _branch(self, branch: syntax.Branch, step: str, name: str, follows: Edge) -> Edge:
        move = branch.move
        if isinstance(move, syntax.GoTo):
            if not 1 <= move.number <= self.end:
                self.problems.append((move.line, f"GO TO step {move.number}: there are steps 1 to {self.end}"))
                return Edge(self.end, branch.line)
            return Edge(move.number - 1, branch.line, branch.analyze)
        at = self._add(EndNode(step, done=True))  # its place is taken before the nodes that belong to it
        self.nodes[at] = self._node(at, move, step, name, follows)
        return Edge(at, branch.line, branch.analyze)

    def _node(self, at: int, move: syntax.Move, step: str, name: str, follows: Edge) -> Node:
        if isinstance(move, syntax.Call):
            return CallNode(step, name, move, self._until_done(at, move, step) if move.until_done else follows)
        if isinstance(move, syntax.Retry):
            return RetryNode(step, move.line, move.hint)
        return EndNode(step, done=isinstance(move, syntax.Done))

    def _until_done(self, at: int, call: syntax.Call, step: str) -> Edge:
        """`until DONE` is a question after every call: done, or the same call again."""
        question = CheckNode(step, "is it done?", None, Edge(self.end, call.line), Edge(at, call.line))
        return Edge(self._add(question), call.line)

    def _ids(self) -> tuple[str, ...]:
        written = [step.id for step in self.pattern.steps if step.id]
        for step in self.pattern.steps:
            if step.id and written.count(step.id) > 1:
                self.problems.append((step.line, f"two steps are called {step.id!r}"))
        taken = set(written)
        ids = []
        for step in self.pattern.steps:
            found = step.id or _fresh(_usual_id(step.statement), taken)
            taken.add(found)
            ids.append(found)
        return tuple(ids)

    def _refuse_loops_without_a_call(self) -> None:
        free = {at: node for at, node in self.nodes.items() if isinstance(node, CheckNode | JumpNode)}
        for edge in loops(free):
            self.problems.append((edge.line, "a loop without a tool call: no max_steps bounds it"))


def loops(nodes: Mapping[int, Node]) -> Iterator[Edge]:
    """One edge of every loop among these nodes: the one that leads back, in a walk in the order of the steps."""
    walked: set[int] = set()
    for start in sorted(nodes):
        if start in walked:
            continue
        walked.add(start)
        on_path = {start}
        stack = [(start, iter(edges(nodes[start])))]
        while stack:
            at, ways = stack[-1]
            edge = next(ways, None)
            if edge is None:
                stack.pop()
                on_path.discard(at)
            elif edge.to in on_path:
                yield edge
            elif edge.to in nodes and edge.to not in walked:
                walked.add(edge.to)
                on_path.add(edge.to)
                stack.append((edge.to, iter(edges(nodes[edge.to]))))


def _usual_id(statement: syntax.Try | syntax.Check | syntax.Branch) -> str:
    if isinstance(statement, syntax.Try):
        return _tool_id(statement.calls[0])
    if isinstance(statement, syntax.Check):
        for branch in (statement.yes, statement.no):
            if isinstance(branch.move, syntax.Call):
                return _tool_id(branch.move)
        return statement.keyword.lower()
    move = statement.move
    return _tool_id(move) if isinstance(move, syntax.Call) else type(move).__name__.lower()


def _tool_id(call: syntax.Call) -> str:
    parts = [part for part in call.tools[0].split(".") if not set(part) & set("*?")]
    return parts[-1] if parts and len(call.tools) == 1 else "call"


def _fresh(name: str, taken: set[str]) -> str:
    found, number = name, 2
    while found in taken:
        found, number = f"{name}-{number}", number + 1
    return found
