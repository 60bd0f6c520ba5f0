"""What survives a restart of the phone: one JSON object per file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter


class Saved:
    """A JSON object in a file that is always whole: written beside it and renamed. `shape` is the type of what is in
    it."""

    def __init__(self, path: Path, shape: Any = dict[str, Any]) -> None:
        self._path = path
        self._shape = TypeAdapter(shape)

    def read(self) -> dict[str, Any]:
        """{} where there is none, or where it cannot be read or has another shape."""
        try:
            return dict(self._shape.validate_json(self._path.read_bytes()))
        except (OSError, ValueError):
            return {}

    def write(self, data: dict[str, Any]) -> None:
        """Raises OSError."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._path.with_name(f".{self._path.name}.{os.urandom(4).hex()}")
        try:
            temporary.write_text(json.dumps(data, ensure_ascii=False, indent=1), encoding="utf-8")
            temporary.replace(self._path)
        finally:
            temporary.unlink(missing_ok=True)
