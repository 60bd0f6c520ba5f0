"""A graph of nodes."""

from __future__ import annotations

from echelon.output.shape import Shape


class NodeShown(Shape):
    """A node: the nodes that can follow it, the one that a failure goes back to, whether a run can end after it."""

    name: str
    targets: tuple[str, ...]
    backtrack_to: str | None
    ends: bool


class GraphShown(Shape):
    """A graph; a run of it begins at the node `start`."""

    name: str
    start: str
    nodes: tuple[NodeShown, ...]
