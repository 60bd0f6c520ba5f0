"""Sessions: a list of them, a title given, one forgotten."""

from __future__ import annotations

from echelon.output.shape import Shape, Status


class SessionRow(Shape):
    """A session in a list: how many `turns` it has, the last one's `status`, when it was begun and last used (seconds
    since the epoch)."""

    name: str
    title: str
    turns: int
    status: Status
    created: float
    updated: float


class SessionTitled(Shape):
    """What a session is called from now on."""

    session: str
    title: str


class SessionForgotten(Shape):
    """A session that was erased, and how many `turns` it had."""

    session: str
    turns: int
