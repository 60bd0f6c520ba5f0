"""What the pages on the architecture take from the code is what the code says."""

from __future__ import annotations

from pathlib import Path

import pytest

from echelon.tools import table
from gateway import Gateway, Settings
from gateway.toolbox import LOOP, PHONE
from gateway.tools.discovery import builtin_registry

PAGES = Path(__file__).parents[2] / "architecture"


def test_the_table_of_tools_is_that_of_the_registry() -> None:
    ours = sorted((each for each in builtin_registry(None, *PHONE, *LOOP)), key=lambda each: each.name)
    assert (PAGES / "tools.md").read_text().endswith(f"## The tools\n\n{table(ours)}\n"), (
        "print it with `echelon tools list --markdown` in a home without tools of its own"
    )


@pytest.mark.parametrize(("page", "graph"), [("turn.md", "turn"), ("phone_task.md", "phone"), ("loop.md", "loop")])
def test_the_diagram_of_a_graph_is_that_of_the_code(page: str, graph: str, tmp_path: Path) -> None:
    drawn = Gateway(Settings.load(environ={"ECHELON_HOME": str(tmp_path)}, cwd=tmp_path)).graph(graph).mermaid()
    assert f"```mermaid\n{drawn}\n```\n" in (PAGES / page).read_text(), f"print it with `echelon runs graph {graph}`"
