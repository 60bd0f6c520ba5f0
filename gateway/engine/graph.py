"""A graph of nodes, checked when it is built: a run never finds out that a target does not exist."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gateway.engine.nodes import Node
from gateway.errors import GraphError

AnyNode = Node[Any, Any, Any, Any]


class Graph:
    """Nodes by name, and where a run starts. Raises GraphError, naming every problem at once."""

    def __init__(self, name: str, nodes: Iterable[AnyNode], start: str) -> None:
        self.name = name
        self.start = start
        self.nodes: dict[str, AnyNode] = {}
        twice = []
        for node in nodes:
            if node.name in self.nodes:
                twice.append(f"two nodes are called {node.name}")
            self.nodes[node.name] = node
        problems = twice + self._problems()
        if problems:
            raise GraphError(f"graph {name}: " + "; ".join(problems))

    def __getitem__(self, name: str) -> AnyNode:
        return self.nodes[name]

    def edges(self) -> list[tuple[str, str | None, bool]]:
        """(from, to, is it a backtrack); `to` None is the end."""
        found: list[tuple[str, str | None, bool]] = []
        for node in self.nodes.values():
            found += [(node.name, target, False) for target in node.targets()]
            if node.on_failure.backtrack_to is not None:
                found.append((node.name, node.on_failure.backtrack_to, True))
        return found

    def _problems(self) -> list[str]:
        if self.start not in self.nodes:
            return [f"the start node {self.start} does not exist"]
        edges = self.edges()
        missing = [
            f"{a} leads to {b}, which does not exist" for a, b, _ in edges if b is not None and b not in self.nodes
        ]
        if missing:
            return missing
        seen, todo = {self.start}, [self.start]
        while todo:
            at = todo.pop()
            for a, b, _ in edges:
                if a == at and b is not None and b not in seen:
                    seen.add(b)
                    todo.append(b)
        problems = [f"{name} cannot be reached" for name in self.nodes if name not in seen]
        ends = {a for a, b, back in edges if b is None and not back}
        while True:
            more = {a for a, b, back in edges if b in ends and not back} - ends
            if not more:
                break
            ends |= more
        problems += [f"no end can be reached from {name}" for name in self.nodes if name in seen and name not in ends]
        return problems

    def mermaid(self) -> str:
        """The graph as a Mermaid flowchart: backtracks dotted."""
        lines = ["flowchart TD", f"    start(( )) --> {self.start}"]
        for a, b, back in self.edges():
            arrow = "-. backtrack .->" if back else "-->"
            lines.append(f"    {a} {arrow} {b if b is not None else 'stop((end))'}")
        return "\n".join(lines)
