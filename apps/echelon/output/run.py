"""Runs: a list of them, one with where it is, an event of its log, the end of one, a replay."""

from __future__ import annotations

from typing import Any

from echelon.output.shape import Number, Shape, Status


class RunRow(Shape):
    """A run in a list. `session` and `ordinal` are those of its turn, `parent` is the run that began it, `question`
    what it waits for; `created` and `updated` are seconds since the epoch."""

    id: str
    graph: str
    title: str
    session: str | None
    ordinal: int | None
    parent: str | None
    status: Status
    stop_reason: str | None
    question: str | None
    created: float
    updated: float


class RunShown(RunRow):
    """A run and where it is: the `node` that comes next, what it has used up so far by counter, how many `events` its
    log has, the ids of the runs that it began, and the `trajectory.json` of a task on a phone."""

    node: str | None
    counters: dict[str, Number]
    error: str | None
    events: int
    children: tuple[str, ...]
    trajectory: str | None


class EventRow(Shape):
    """An event of a run's log: `seq` counts from 1, `at` is seconds since the epoch, `data` depends on the `kind`."""

    seq: int
    at: float
    kind: str
    data: dict[str, Any]


class Cancelled(Shape):
    """A run was ended for good; not yet `cancelled`, somebody is still working on it, and it ends within a second."""

    run: str
    cancelled: bool


class ReplayOutcome(Shape):
    """What a replay found: how many `decisions` were compared and `files` rendered again, and the paths of the files
    that are `differing`.

    Where a decision is not the same, `event` is the number of the first event that differs, `problem` says how, and
    what was counted is null. `finished` says whether the replay went through the log to its end.
    """

    run: str
    identical: bool
    finished: bool | None
    decisions: int | None
    files: int | None
    differing: tuple[str, ...]
    event: int | None
    problem: str | None
