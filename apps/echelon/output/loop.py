"""Autonomous sessions: where one is, a list of them, its checkpoints, and what an operator has changed."""

from __future__ import annotations

from typing import Literal

from echelon.output.shape import Number, Shape
from echelon.output.turn import Question

LoopStatus = Literal[
    "executing",
    "paused",
    "waiting_for_user",
    "interrupted",
    "completed",
    "iteration_limit_reached",
    "failed",
    "stopped",
]
"""Of a session. Nobody works on an `interrupted` one: it can be resumed."""


class FindingRow(Shape):
    """One thing that is wrong: `where` is a test, or path:line, `code` the rule's name, empty where there is none."""

    where: str
    message: str
    code: str


class ConditionRow(Shape):
    """An exit condition as it was found last: `met` is null where it was not evaluated yet; `evaluating`: it is just
    being evaluated. `problem` says why it could not be; `findings` are the first of `total`."""

    name: str
    met: bool | None
    evaluating: bool
    summary: str
    problem: str
    findings: tuple[FindingRow, ...]
    total: int


class LimitRow(Shape):
    """A limit in force, in its own unit: iterations, seconds, tokens, US dollars."""

    name: Literal["iterations", "time_s", "tokens", "cost_usd"]
    used: Number
    limit: Number
    remaining: Number


class ActivityRow(Shape):
    """Something that happened: when (seconds since the epoch), in or after which iteration, and what."""

    at: float
    iteration: int
    kind: Literal["session", "iteration", "agent", "evaluation", "checkpoint", "warning", "operator"]
    text: str


class CheckpointMade(Shape):
    """A checkpoint that the session has made: `why` is interval, time or end; `ref` is git's, empty where there is
    none."""

    number: int
    iteration: int
    at: float
    why: str
    ref: str


class FightRow(Shape):
    """A condition that was met and lost, `times`; `against` are those that came to be met when it was lost."""

    condition: str
    times: int
    against: tuple[str, ...]


class LoopProgress(Shape):
    """Where a session is. `iteration` counts those that have ended, `percentage` is their share of `max_iterations`;
    `met` conditions `of` so many are met, after iteration `evaluated` (null: not evaluated yet). `activity` is in the
    order of time; `asked` are orders that the session has not heard yet, `doing` is what goes on now (since
    `doing_since`), `document` the path of its session.md. Times are seconds since the epoch; null has not come yet."""

    session: str
    agent: str
    task: str
    workspace: str
    works_with: str
    status: LoopStatus
    stop_reason: str | None
    iteration: int
    max_iterations: int
    percentage: int
    conditions: tuple[ConditionRow, ...]
    met: int
    of: int
    evaluated: int | None
    limits: tuple[LimitRow, ...]
    activity: tuple[ActivityRow, ...]
    checkpoints: tuple[CheckpointMade, ...]
    warnings: tuple[str, ...]
    fights: tuple[FightRow, ...]
    waiting: Question | None
    asked: tuple[str, ...]
    doing: str
    doing_since: float | None
    started: float | None
    ended: float | None
    error: str | None
    hint: str | None
    document: str


class LoopRow(Shape):
    """A session in a list: `met` conditions `of` so many after the last evaluation."""

    session: str
    agent: str
    task: str
    status: LoopStatus
    stop_reason: str | None
    iteration: int
    max_iterations: int
    met: int
    of: int
    started: float | None
    ended: float | None


class LoopLimits(Shape):
    """The limits of a session; null is none."""

    session: str
    iterations: int
    time_s: float | None
    tokens: int | None
    cost_usd: float | None


class LoopExits(Shape):
    """The exit conditions of a session."""

    session: str
    exits: tuple[str, ...]


class LoopOrdered(Shape):
    """A session that was told to pause or to stop, and how it is now: one that another process works on hears it
    there."""

    session: str
    ordered: Literal["pause", "stop"]
    status: LoopStatus


class CheckpointRow(Shape):
    """A checkpoint on disk: `met` conditions `of` so many; `damaged` says what is wrong with it, and is empty where it
    is whole."""

    number: int
    iteration: int
    at: float
    why: str
    met: int
    of: int
    damaged: str


class CheckpointShown(Shape):
    """A checkpoint: each condition and whether it was met (null: not evaluated), the git `commit` and `ref` of the
    workspace (null where there is no repository), and the `file` with the agent's state."""

    session: str
    agent: str
    number: int
    iteration: int
    at: float
    why: str
    conditions: dict[str, bool | None]
    commit: str | None
    ref: str | None
    file: str
