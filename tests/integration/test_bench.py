"""What `make bench` measures: a turn of four model calls and three tool calls, and bare litellm with the same four."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench import job
from bench.stub import stub_server
from bench.turn_echelon import gateway, turn
from bench.turn_litellm import recorded


@pytest.fixture
def base() -> Iterator[str]:
    with stub_server() as url:
        yield url


async def test_a_turn_does_the_whole_job(tmp_path: Path, base: str) -> None:
    async with gateway(tmp_path, base) as opened:
        await turn(opened, "s")
        document = opened.turn(1, "s").context.read_text()
        packs = sorted((tmp_path / "home").glob("turns/s/0001/packs/*"))
    made = [line.split()[2] for line in document.splitlines() if line.startswith("### ") and " · ok · " in line]
    assert made == list(job.CALLS)
    assert [path.name[3:-3] for path in packs] == ["planner", "tool_arguments", "tool_arguments", "responder"]


async def test_bare_litellm_repeats_the_calls_of_the_turn(tmp_path: Path, base: str) -> None:
    async with gateway(tmp_path, base) as opened:
        await turn(opened, "s")
    calls = recorded(base)
    schemas = [call.get("response_format", {}).get("json_schema", {}).get("name") for call in calls]
    assert schemas == ["PLANNER_DECISION", "TOOL_ARGUMENTS", "TOOL_ARGUMENTS", None]
    assert all(call["messages"][-1]["content"] for call in calls)
