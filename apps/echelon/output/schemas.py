"""JSON schemas of what commands print."""

from __future__ import annotations

from typing import Any

from pydantic import RootModel


class Schemas(RootModel[dict[str, Any]]):
    """The JSON schema of one command's output; without a command, those of all by command."""
