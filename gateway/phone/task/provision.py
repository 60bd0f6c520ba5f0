"""The task's own app from a file: installed where it is missing, and what is there checked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gateway.engine.ports import Json

if TYPE_CHECKING:
    from gateway.phone.bridge import Bridge


def provision(bridge: Bridge, apk: str) -> Json:
    """`{"package", "version", "installed"}`. Raises InstallFailed."""
    done = bridge.install(Path(apk))
    there = done.after or done.before
    return {
        "package": there.name if there else "",
        "version": (there.version_name if there else "") or "",
        "installed": done.after is not None,
    }
