"""What survives a restart of the phone: one JSON object per file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


class Saved:
    """A JSON object in a file that is always whole: written beside it and renamed."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> dict[str, Any]:
        """{} where there is none, or where it cannot be read."""
        try:
            found = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def write(self, data: dict[str, Any]) -> None:
        """Raises OSError."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._path.with_name(f".{self._path.name}.{os.urandom(4).hex()}")
        try:
            temporary.write_text(json.dumps(data, ensure_ascii=False, indent=1), encoding="utf-8")
            temporary.replace(self._path)
        finally:
            temporary.unlink(missing_ok=True)
