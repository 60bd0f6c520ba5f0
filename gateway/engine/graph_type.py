"""A kind of run: what its graph, operations and pages are made of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from gateway.engine.artifacts import ArtifactStore
from gateway.engine.files import write_atomically
from gateway.engine.graph import Graph
from gateway.engine.ports import Operation
from gateway.engine.state import RunState
from gateway.engine.store import RunRow
from gateway.errors import StoreError


class Pinned:
    """What shaped a run, as it was when the run began: prompts, patterns, recipes, by name."""

    def __init__(self, artifacts: ArtifactStore, shas: Mapping[str, str]) -> None:
        self._artifacts = artifacts
        self._shas = shas

    def names(self) -> list[str]:
        return sorted(self._shas)

    @property
    def key(self) -> tuple[tuple[str, str], ...]:
        """The same for the same texts under the same names: what was made of them can be kept by it."""
        return tuple(sorted(self._shas.items()))

    def __contains__(self, name: object) -> bool:
        return name in self._shas

    def text(self, name: str) -> str:
        if name not in self._shas:
            raise StoreError(f"the run did not pin {name}")
        return self._artifacts.get(self._shas[name]).decode()


@dataclass(frozen=True)
class Projection:
    """Files in a folder that show a run: `texts` are rewritten, `artifacts` (by sha256) are written once."""

    folder: Path
    texts: Mapping[str, str] = field(default_factory=dict)
    artifacts: Mapping[str, str] = field(default_factory=dict)

    def write(self, store: ArtifactStore, written: set[str]) -> None:
        """Write what is not among `written`, to which the artifacts are added. Raises StoreError where that fails."""
        try:
            for name, sha256 in self.artifacts.items():
                if name not in written:
                    store.show(sha256, f"{self.folder}/{name}")
                    written.add(name)
            for name, text in self.texts.items():
                write_atomically(f"{self.folder}/{name}", text.encode())
        except OSError as error:
            raise StoreError(
                f"cannot write {error.filename}: {error.strerror}", hint="free some disk space, then resume the run"
            ) from error

    def differing(self) -> list[Path]:
        """The files whose text is another one, or that are missing."""
        paths = {self.folder / name: text for name, text in self.texts.items()}
        return [path for path, text in paths.items() if not path.exists() or path.read_text() != text]


@dataclass(frozen=True)
class GraphType:
    """A kind of run: how its graph, operations and projection are made from its context and pins."""

    name: str
    context: type[BaseModel]
    state: type[BaseModel]
    build: Callable[[Any, Pinned], Graph]
    operations: Callable[[RunRow, Any, Pinned], Mapping[str, Operation]]
    project: Callable[[RunRow, Any, RunState, ArtifactStore], Projection] | None = None
    let_go: Callable[[str], Awaitable[None]] | None = None
    """Told a run's id when this process works on it no more: what it holds of the outside is given back."""


class GraphTypes(Mapping[str, GraphType]):
    """Kinds of runs by name, each made when it is first asked for: what one is made of is not loaded for the others."""

    def __init__(self) -> None:
        self._make: dict[str, Callable[[], GraphType]] = {}

    def add(self, name: str, make: Callable[[], GraphType]) -> None:
        self._make[name] = cache(make)

    def __getitem__(self, name: str) -> GraphType:
        return self._make[name]()

    def __contains__(self, name: object) -> bool:
        return name in self._make

    def __iter__(self) -> Iterator[str]:
        return iter(self._make)

    def __len__(self) -> int:
        return len(self._make)
