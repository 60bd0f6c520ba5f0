"""What the doctor found."""

from __future__ import annotations

from typing import Literal

from echelon.output.shape import Shape


class CheckRow(Shape):
    """One check, and what it found; `advice` says what to do where its status is not ok, and is empty where it is."""

    name: str
    status: Literal["ok", "warn", "fail"]
    detail: str
    advice: str
