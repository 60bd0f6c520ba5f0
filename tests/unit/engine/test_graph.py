from __future__ import annotations

import re

import pytest

from engine.lab import Notes, Step
from gateway.engine.graph import Graph
from gateway.engine.nodes import Route
from gateway.errors import GraphError


def test_a_graph_of_existing_reachable_nodes_that_can_end_is_built() -> None:
    graph = Graph("g", [Step("A", on_success="B"), Step("B", backtrack_to="A")], "A")
    assert graph["B"].name == "B"
    assert graph.edges() == [("A", "B", False), ("B", None, False), ("B", "A", True)]


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ([Step("A", on_success="Nowhere")], "A leads to Nowhere, which does not exist"),
        ([Step("A", backtrack_to="Nowhere")], "A leads to Nowhere, which does not exist"),
        ([Step("A", on_success=Route(lambda s: "B", ("B", None)))], "A leads to B, which does not exist"),
        ([Step("A"), Step("B")], "B cannot be reached"),
        ([Step("A", on_success="B"), Step("B", on_success="A")], "no end can be reached from A"),
        ([Step("A"), Step("A")], "two nodes are called A"),
        ([Step("Z")], "the start node A does not exist"),
    ],
)
def test_a_graph_that_is_not_well_formed_is_refused_when_it_is_built(nodes: list[Step], said: str) -> None:
    with pytest.raises(GraphError, match=re.escape(said)):
        Graph("g", nodes, "A")


def test_an_end_that_only_a_backtrack_leads_to_does_not_count() -> None:
    nodes = [Step("A", on_success=Route(lambda s: "B", ("B", None))), Step("B", on_success="B", backtrack_to="A")]
    with pytest.raises(GraphError, match="no end can be reached from B"):
        Graph("g", nodes, "A")


def test_every_problem_is_named_at_once() -> None:
    with pytest.raises(GraphError, match=r"A leads to X.*B leads to Y"):
        Graph("g", [Step("A", on_success="X"), Step("B", on_success="Y")], "A")


def test_a_route_may_only_choose_what_it_declares() -> None:
    node = Step("A", on_success=Route(lambda state: "B", (None,)))
    with pytest.raises(GraphError, match="none of its declared targets"):
        node.next(Notes())


def test_a_graph_prints_itself_as_mermaid_with_backtracks_dotted() -> None:
    nodes = [Step("A", on_success="B"), Step("B", on_success=Route(lambda s: None, ("A", None)), backtrack_to="A")]
    assert Graph("g", nodes, "A").mermaid().splitlines() == [
        "flowchart TD",
        "    start(( )) --> A",
        "    A --> B",
        "    B --> A",
        "    B --> stop((end))",
        "    B -. backtrack .-> A",
    ]
