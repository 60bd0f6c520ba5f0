"""The files that show a task on a phone: `trajectory.json`, and the screenshots beside it."""

from __future__ import annotations

from pathlib import Path

from gateway.engine.artifacts import ArtifactStore
from gateway.engine.graph_type import Projection
from gateway.engine.state import RunState, Status
from gateway.engine.store import RunRow
from gateway.phone.task.state import PhoneContext, PhoneState
from gateway.phone.trajectory.document import error_name, final, render, screenshot_name

DOCUMENT = "trajectory.json"
EVERY = 10  # steps: how often a document that has its screenshots in it, some megabytes, is written


def project(row: RunRow, context: PhoneContext, state: RunState, artifacts: ArtifactStore) -> Projection:
    """Into the task's folder. With its screenshots embedded, the document is written at every tenth step and whenever
    the run ends or waits; without, after every node."""
    folder, data = Path(context.folder), state.data
    assert isinstance(data, PhoneState)
    if context.options.embed_screenshots:
        rests = state.status is not Status.RUNNING
        due = rests or (len(data.steps) % EVERY == 0 and data.acted is None)
        return Projection(folder, {DOCUMENT: render(row, context, state, artifacts)} if due else {})
    pictures = [(screenshot_name(each), each.screenshot) for each in data.steps]
    pictures += [(error_name(each), each.error_screenshot) for each in data.steps]
    shown = {name: sha256 for name, sha256 in pictures if sha256 is not None}
    shown |= [end] if (end := final(state)) is not None else []
    return Projection(folder, {DOCUMENT: render(row, context, state, artifacts)}, shown)
