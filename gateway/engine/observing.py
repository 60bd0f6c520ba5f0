"""Who watches a run sees what the runs below it do, too, and which of them does it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gateway.engine.ports import Json, Observer

if TYPE_CHECKING:
    from gateway.engine.events import Event
    from gateway.engine.state import RunState

RUN = "run"  # in the progress of a run below: its id


class Below:
    """Watches a child for those who watch its parent: its progress has its run's id, as all else of it has."""

    def __init__(self, run_id: str, above: Observer) -> None:
        self._run_id = run_id
        self._above = above

    def progress(self, kind: str, data: Mapping[str, Json]) -> None:
        self._above.progress(kind, {RUN: self._run_id, **data})

    def wrote(self, run_id: str, event: Event) -> None:
        self._above.wrote(run_id, event)

    def moved(self, run_id: str, node: str, state: RunState) -> None:
        self._above.moved(run_id, node, state)
