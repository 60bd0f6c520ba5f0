"""What is known of skills that were examined before: YAML is slow, and a home may have a thousand of them."""

from __future__ import annotations

import importlib.metadata
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from gateway.engine.files import write_atomically
from gateway.tools.skills.skill import Facts, examine, instructions_file

MAX_KEPT = 5_000
_FORMAT = 1


class Index:
    """One JSON file; facts hold for as long as the SKILL.md has the same inode, size and times. It may be lost."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._made_by = [_FORMAT, importlib.metadata.version("skills-ref")]
        self._known = self._load()
        self._looked_up: dict[str, Any] = {}
        self._changed = False

    def facts(self, folder: Path) -> Facts:
        """Of a skill's folder."""
        try:
            stamp = _stamp(folder)
            known = self._known.get(str(folder))
            if known is None or known[0] != stamp:
                self._changed = True
                found = examine(folder)
                known = [stamp, found.description, found.version, list(found.problems)]
        except OSError as error:
            return Facts(problems=(f"it cannot be read: {error.strerror}",))
        self._looked_up[str(folder)] = known
        return Facts(known[1], known[2], tuple(known[3]))

    def save(self) -> None:
        """Write down what was learned; a disk that does not take it costs only time."""
        if not self._changed:
            return
        kept = {**self._known, **self._looked_up}
        if len(kept) > MAX_KEPT:
            kept = self._looked_up
        with suppress(OSError):
            write_atomically(self._path, json.dumps({"made_by": self._made_by, "skills": kept}).encode())

    def _load(self) -> dict[str, Any]:
        try:
            found = json.loads(self._path.read_bytes())
            skills: dict[str, Any] = found["skills"] if found["made_by"] == self._made_by else {}
            return {
                folder: [list(map(int, stamp)), str(description), str(version), [str(each) for each in problems]]
                for folder, (stamp, description, version, problems) in skills.items()
            }
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return {}


def _stamp(folder: Path) -> list[int]:
    file = instructions_file(folder)
    if file is None:
        return []
    found = os.stat(os.path.join(folder, file))
    return [found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]
