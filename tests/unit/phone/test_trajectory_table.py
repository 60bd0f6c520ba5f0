"""A task as a table, and its latency by phase."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trajectories import step

from gateway.engine.artifacts import MemoryArtifacts
from gateway.phone.task.state import Result
from gateway.phone.trajectory.table import (
    LATENCY_HEADERS,
    STEP_HEADERS,
    Latency,
    in_a_word,
    latency,
    latency_rows,
    step_rows,
)

ARTIFACTS = MemoryArtifacts()


def test_a_row_says_what_was_done_what_came_of_it_and_how_long_it_took() -> None:
    steps = [
        step(ARTIFACTS, 1),
        step(ARTIFACTS, 2, result=Result(ok=False, cause="dropped"), retries=2, timings_ms={"act": 1234.4}),
    ]
    rows = step_rows(steps)
    assert rows == [
        ["1", "ok", "200", "900", "30", "300", 'tap switch "Wi-Fi"'],
        ["2", "dropped, 2 × again", "", "", "1,234", "", 'tap switch "Wi-Fi"'],
    ]
    assert {len(row) for row in rows} == {len(STEP_HEADERS)}


@pytest.mark.parametrize(
    ("result", "word"),
    [
        (Result(ok=True, cause="scrolled_to_end"), "ok"),
        (Result(ok=False, cause="covered"), "covered"),
        (Result(ok=False), "failed"),
        (Result(ok=None), "unclear"),
    ],
)
def test_a_result_in_a_word(result: Result, word: str) -> None:
    assert in_a_word(result) == word


def test_latency_counts_the_steps_that_had_the_phase() -> None:
    steps = [
        step(ARTIFACTS, 1, timings_ms={"predict": 100.0, "act": 10.0}),
        step(ARTIFACTS, 2, timings_ms={"act": 30.0}),
    ]
    assert latency(steps) == [
        Latency("predict", 1, 100.0, 100.0, 100.0),
        Latency("act", 2, 20.0, 30.0, 40.0),
        Latency("step", 2, 70.0, 110.0, 140.0),
    ]
    assert latency_rows(steps)[1] == ["act", "2", "20", "30", "40"]
    assert len(latency_rows(steps)[0]) == len(LATENCY_HEADERS)


def test_a_task_without_steps_has_no_latency() -> None:
    assert latency([]) == []


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60))
def test_95_of_100_are_not_above_the_95th_percentile(ms: list[float]) -> None:
    found = latency([step(ARTIFACTS, timings_ms={"act": each}) for each in ms])[0]
    assert sum(round(each, 1) <= found.p95_ms for each in ms) >= math.ceil(0.95 * len(ms))
    assert found.median_ms <= found.p95_ms <= round(max(ms), 1)
