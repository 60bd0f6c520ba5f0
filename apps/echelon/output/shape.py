"""What the shapes have in common."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, WithJsonSchema

Number = Annotated[int | float, WithJsonSchema({"type": "number"})]
"""Printed as it was counted: whole where it is whole."""

Status = Literal["running", "interrupted", "waiting_for_user", "complete", "failed", "stopped"]
"""Of a run. Nobody works on an `interrupted` one, nor on a `stopped` one: both can be resumed."""


class Shape(BaseModel):
    """A JSON object with exactly these keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)
