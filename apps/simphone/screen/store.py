"""What apps keep: one JSON object per package, and a record that only grows."""

from __future__ import annotations

import copy
import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any


class AppStore:
    """`folder`/<package>.json and `folder`/<package>.log.jsonl. `initial[package]` is the state an app begins with."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.initial: dict[str, Mapping[str, Any]] = {}

    def _path(self, package: str, suffix: str) -> Path:
        if not package.replace(".", "").replace("_", "").isalnum():
            raise ValueError(f"no package name: {package!r}")
        return self.folder / f"{package}{suffix}"

    def load(self, package: str) -> dict[str, Any]:
        """The initial state where there is none, or where it cannot be read."""
        path = self._path(package, ".json")
        with suppress(FileNotFoundError, ValueError):
            state = json.loads(path.read_bytes())
            if isinstance(state, dict):
                return state
        return copy.deepcopy(dict(self.initial.get(package, {})))

    def save(self, package: str, state: Mapping[str, Any]) -> None:
        path = self._path(package, ".json")
        self.folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self.folder, prefix=".state-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(state, file, ensure_ascii=False, allow_nan=False)
            os.replace(name, path)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(name)
            raise

    def log(self, package: str) -> list[dict[str, Any]]:
        """The record, oldest first: `{"kind": …, "data": …}`."""
        try:
            text = self._path(package, ".log.jsonl").read_text(encoding="utf-8")
        except FileNotFoundError:
            return []
        return [json.loads(line) for line in text.splitlines()]

    def append(self, package: str, kind: str, data: Any) -> None:
        path = self._path(package, ".log.jsonl")
        entry = json.dumps({"kind": kind, "data": data}, ensure_ascii=False, allow_nan=False).encode()
        self.folder.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(entry + b"\n")

    def clear(self, package: str) -> None:
        """As a fresh installation: the initial state and an empty record."""
        for suffix in (".json", ".log.jsonl"):
            with suppress(FileNotFoundError):
                self._path(package, suffix).unlink()
