"""Turns: how one ended, a list of them, one with its document, two compared."""

from __future__ import annotations

from typing import Any

from echelon.output.shape import Shape, Status


class TurnUsage(Shape):
    """What a turn took: calls, tokens (`prompt_tokens` include the cached ones), US dollars, seconds of wall time."""

    model_calls: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    cost_usd: float
    wall_s: float


class Question(Shape):
    """What a turn waits for: any answer where there are no `options`, until `deadline` (seconds since the epoch)."""

    id: str
    question: str
    options: tuple[str, ...]
    deadline: float | None


class CallResult(Shape):
    """What a tool gave: whether it reached its purpose, what is said about it, and its `data`, which every tool
    describes."""

    ok: bool
    text: str
    data: dict[str, Any]


class TurnOutcome(Shape):
    """How a turn ended. `turn` is its number in the session, `run` the id of its run, `context` the path of its
    context.md; `error` says why it failed and `hint` what can be done about that, `waiting` what it asks.

    `result` is that of a tool called by hand, whose `error` and `hint` are the tool's own: null where it did not reach
    its purpose and nothing went wrong, as where nothing was found. For a request, `result` is null.
    """

    turn: int
    session: str
    run: str
    status: Status
    stop_reason: str | None
    error: str | None
    hint: str | None
    response: str | None
    context: str
    usage: TurnUsage
    waiting: Question | None
    result: CallResult | None


class TurnRow(Shape):
    """A turn in a list: its number in the session, its run's id, when it was `created` (seconds since the epoch)."""

    session: str
    turn: int
    run: str
    status: Status
    stop_reason: str | None
    created: float
    request: str


class TurnDocument(Shape):
    """A turn with a file of it: `document` is the text of `file`, which is `context` (the path of its context.md)
    unless a pack or a result was asked for. `packs` (prompts of model calls) and `results` (of tool calls) are the
    names of the files in the folders of these names beside it, in order."""

    turn: int
    session: str
    run: str
    status: Status
    context: str
    file: str
    document: str
    packs: tuple[str, ...]
    results: tuple[str, ...]


class TurnDiff(Shape):
    """Two turns of a session, by their numbers; `lines` are a unified diff of their context.md, usage and times left
    out, and empty where they are `identical`."""

    session: str
    first: int
    second: int
    identical: bool
    lines: tuple[str, ...]
