"""What every part of a suite's file has in common."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Text = Annotated[str, Field(min_length=1)]


class Strict(BaseModel):
    """Unknown keys are errors: a misspelt judge would judge nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True)
