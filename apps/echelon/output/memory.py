"""What is remembered: a list of it, one that was forgotten."""

from __future__ import annotations

from echelon.output.shape import Shape


class MemoryRow(Shape):
    """Something that is remembered, under its `key`: in which session and turn it was said, and in which it was changed
    last; `saved` and `updated` are seconds since the epoch."""

    key: str
    text: str
    session: str
    turn: int
    saved: float
    updated_session: str | None
    updated_turn: int | None
    updated: float | None


class MemoryForgotten(Shape):
    """What is no longer remembered. Where it is not `erased` from the record of the turns yet, it is once those have
    ended that are being worked on."""

    key: str
    erased: bool
