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
    """Into the task's folder. The document is written whenever the run ends or waits, and after every node, but not
    between an act and the step that comes of it; with its screenshots embedded, at every tenth step."""
    folder, data = Path(context.folder), state.data
    assert isinstance(data, PhoneState)
    embedded = context.options.embed_screenshots
    if state.status is Status.RUNNING and (data.acted is not None or (embedded and len(data.steps) % EVERY)):
        return Projection(folder)
    if embedded:
        return Projection(folder, {DOCUMENT: render(row, context, state, artifacts)})
    pictures = [(screenshot_name(each), each.screenshot) for each in data.steps]
    pictures += [(error_name(each), each.error_screenshot) for each in data.steps]
    shown = {name: sha256 for name, sha256 in pictures if sha256 is not None}
    shown |= [end] if (end := final(state)) is not None else []
    return Projection(folder, {DOCUMENT: render(row, context, state, artifacts)}, shown)
