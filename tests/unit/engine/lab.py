"""A small world to run graphs in: nodes from coroutines, operations from scripts, and what happened, in order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from gateway.engine.artifacts import ArtifactStore
from gateway.engine.events import Event
from gateway.engine.graph import Graph
from gateway.engine.journal import Visit
from gateway.engine.nodes import Node, OnFailure, Retry, Route
from gateway.engine.ports import Effect, Operation, Reconciliation, Scope
from gateway.engine.runs import GraphType, Projection, Replayed, Runs
from gateway.engine.scripted import ScriptedClock, ScriptedRandom
from gateway.engine.state import RunState
from gateway.engine.store import RunRow, Store


class Notes(BaseModel):
    lines: list[Any] = []


class Nothing(BaseModel):
    pass


Body = Callable[[Visit], Awaitable[Any]]


class Step(Node[Notes, Nothing, Notes, Any]):
    """A node whose body is a coroutine; its output becomes the last line of the notes."""

    def __init__(
        self,
        name: str,
        body: Body | None = None,
        on_success: str | Route[Notes] | None = None,
        *,
        retry: Retry | None = None,
        backtrack_to: str | None = None,
        spends: tuple[str, ...] = (),
    ) -> None:
        self.name = name  # type: ignore[misc]
        self.body = body
        self.on_success = on_success
        self.on_failure = OnFailure(retry or Retry(), backtrack_to)
        self.spends = spends

    def build_input(self, state: Notes, context: Nothing) -> Notes:
        return state

    async def execute(self, given: Notes, visit: Visit) -> Any:
        return self.name if self.body is None else await self.body(visit)

    def apply_output(self, state: Notes, output: Any) -> Notes:
        return Notes(lines=[*state.lines, output])


class Lab:
    """One home directory with one kind of run, whose nodes and operations a test may change between processes."""

    def __init__(self, home: Path, *nodes: Step, **faces: Any) -> None:
        self.home = home
        self.nodes: tuple[Step, ...] = nodes
        self.operations: dict[str, Operation] = {}
        self.did: list[Any] = []
        self.clock = ScriptedClock()
        self.store = Store(home / "echelon.db")
        self.artifacts = ArtifactStore(home / "artifacts")
        self.id = ""
        self._faces = faces
        self.runs = self.process()

    def process(self) -> Runs:
        """The runs as another process would see them (it shares this one's pid, and so never looks dead)."""
        runs = Runs(self.store, self.artifacts, clock=self.clock, random=ScriptedRandom(), **self._faces)
        runs.register(
            GraphType(
                "notes",
                Nothing,
                Notes,
                lambda context, pins: Graph("notes", self.nodes, self.nodes[0].name),
                lambda row, context, pins: self.operations,
                self._project,
            )
        )
        return runs

    def _project(self, row: RunRow, context: Nothing, state: RunState, artifacts: ArtifactStore) -> Projection:
        question = state.waiting.question if state.waiting else None
        lines = [f"{state.status} {state.stop_reason} {question}", *map(str, state.data.lines)]  # type: ignore[attr-defined]
        return Projection(self.page(row.id).parent, {self.page(row.id).name: "\n".join(lines) + "\n"})

    def page(self, run_id: str | None = None) -> Path:
        return self.home / "pages" / f"{run_id or self.id}.md"

    def op(
        self,
        name: str,
        effect: Effect = Effect.READ,
        *script: Any,
        reconcile: Reconciliation | Exception | list[Reconciliation | Exception] | None = None,
        **rest: Any,
    ) -> None:
        """An operation that gives (or raises, or awaits) its script's items one after the other, the last for ever."""
        left = list(script)

        async def run(args: Any, scope: Scope) -> Any:
            self.did.append((name, args))
            item = left.pop(0) if len(left) > 1 else (left[0] if left else f"{name} done")
            if isinstance(item, BaseException):
                raise item
            return await item(args, scope) if callable(item) else item

        async def look(args: Any, scope: Scope) -> Reconciliation:
            self.did.append((f"look {name}", args))
            found = reconcile.pop(0) if isinstance(reconcile, list) else reconcile
            if isinstance(found, Exception):
                raise found
            assert found is not None
            return found

        looks = None if reconcile is None else look
        self.operations[name] = Operation(name, run, effect, reconcile=looks, **rest)

    async def start(self, **limits: float | None) -> RunState:
        row, owned = await self.runs.create("notes", Nothing(), Notes(), title="t", limits=limits, pins={})
        self.id = row.id
        return await self.runs.drive(row, owned)

    async def resume(self) -> RunState:
        return await self.runs.resume(self.id)

    async def replay(self) -> Replayed:
        return await self.runs.replay(self.id)

    async def identical(self) -> Replayed:
        """Replay, and insist that nothing differs and nothing is done."""
        before = list(self.did), self.events()
        replayed = await self.replay()
        assert replayed.differing == []
        assert (list(self.did), self.events()) == before
        return replayed

    def events(self, kind: str | None = None) -> list[Event]:
        return [event for event in self.store.events(self.id) if kind in (None, event.kind)]

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events()]

    def names(self) -> list[str]:
        """The operations that ran, in order."""
        return [name for name, _ in self.did]

    def row(self) -> RunRow:
        return self.store.run(self.id)

    def close(self) -> None:
        self.store.close()


def calls(*names: str, args: Mapping[str, Any] | None = None) -> Body:
    """A body that makes these calls one after the other, and gives their results."""

    async def body(visit: Visit) -> Any:
        return [await visit.call(name, dict(args or {})) for name in names]

    return body
