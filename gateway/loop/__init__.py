"""Autonomous sessions: an agent works by itself until its exit conditions hold."""

from pathlib import Path

LOOP = "loop"  # the kind of run that a session is
COMMAND_RUN = "command"  # the kind of run that an iteration is whose agent is a command


def folder_of(home: Path, run_id: str) -> Path:
    """Where a session's documents are."""
    return home / "loops" / run_id
