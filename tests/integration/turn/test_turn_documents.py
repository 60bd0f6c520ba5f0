"""Recipes of a user's own: documents beside context.md, from each place that a recipe can name."""

from __future__ import annotations

from pathlib import Path

import pytest
from workbench import Bench, complete

from gateway.engine.state import Status
from gateway.resources import shipped

NAMED = {
    "workspace": "{path: RULES.md, path_type: workspace, max_tokens: 60}",
    "home": "{path: me.md, path_type: home, sections: [Name], max_tokens: 60}",
    "session": "{path: about.md, path_type: session, max_tokens: 60}",
    "turn": "{path: aside.md, max_tokens: 60}",
}


def planner_with(bench: Bench, *documents: str) -> Path:
    """A user's planner recipe that reads these, too."""
    text = (shipped("recipes") / "planner.yaml").read_text()
    lines = "".join(f"  - {each}\n" for each in documents)
    path = bench.workspace / ".echelon/recipes/planner.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace("input_docs:\n", f"input_docs:\n{lines}"))
    return path


def prompt(bench: Bench) -> str:
    return str(bench.model.asked[-1]["messages"][-1]["content"])


async def test_documents_are_read_from_each_place(bench: Bench) -> None:
    planner_with(bench, *NAMED.values())
    session = bench.home / "turns/default"
    (session / "0001").mkdir(parents=True)
    (bench.workspace / "RULES.md").write_text("Always be kind.\n")
    (bench.home / "me.md").write_text("A preface.\n\n## Age\n\n7\n\n## Name\n\nI am Ada.\n")
    (session / "about.md").write_text("It is about herons.\n")
    (session / "0001" / "aside.md").write_text("An aside.\n")
    turn = await bench.open(complete()).run("Hi")
    assert turn.status is Status.COMPLETE
    said = prompt(bench)
    for text in ("## RULES.md\n\nAlways be kind.", "## Name\n\nI am Ada.", "It is about herons.", "An aside."):
        assert text in said
    assert "preface" not in said and "## Age" not in said
    pack = (turn.context.parent / "packs/01-planner.md").read_text()
    assert "| workspace:RULES.md | " in pack and "| home:me.md Name | " in pack


async def test_what_a_document_said_then_is_replayed(bench: Bench) -> None:
    planner_with(bench, NAMED["workspace"])
    (bench.workspace / "RULES.md").write_text("Always be kind.\n")
    gateway = bench.open(complete())
    turn = await gateway.run("Hi")
    (bench.workspace / "RULES.md").write_text("Never mind.\n")
    assert (await gateway.replay(turn.run_id)).differing == []


async def test_a_document_that_is_not_there_or_outside_is_left_out(bench: Bench) -> None:
    (bench.workspace.parent / "secret.md").write_text("secret")
    planner_with(bench, NAMED["workspace"], "{path: ../secret.md, path_type: workspace, max_tokens: 60}")
    turn = await bench.open(complete()).run("Hi")
    assert turn.status is Status.COMPLETE and "secret" not in prompt(bench)


async def test_a_required_document_that_is_not_there_is_said(bench: Bench) -> None:
    planner_with(bench, "{path: RULES.md, path_type: workspace, optional: false, max_tokens: 60}")
    turn = await bench.open(complete()).run("Hi")
    assert turn.status is Status.FAILED and "workspace:RULES.md is required and not there" in str(turn.error)


@pytest.mark.parametrize("size", [30, 3000])
async def test_a_long_document_keeps_to_its_tokens(bench: Bench, size: int) -> None:
    planner_with(bench, NAMED["workspace"])
    (bench.workspace / "RULES.md").write_text("word " * size)
    await bench.open(complete()).run("Hi")
    assert ("tokens left out" in prompt(bench)) is (size > 60)
