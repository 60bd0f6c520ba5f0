"""A node is a capsule: what it needs, what it does, what it changes, and what follows, side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from pydantic import BaseModel

from gateway.errors import GraphError

if TYPE_CHECKING:
    from gateway.engine.journal import Visit

S = TypeVar("S", bound=BaseModel)  # the graph's state
C = TypeVar("C", bound=BaseModel)  # the run's immutable context
I = TypeVar("I")  # noqa: E741  the node's input
O = TypeVar("O")  # noqa: E741  the node's output


@dataclass(frozen=True)
class Retry:
    """Attempts in all, and exponential delays between them, in milliseconds."""

    max_attempts: int = 3
    base_delay_ms: int = 1000
    max_delay_ms: int = 5000


@dataclass(frozen=True)
class OnFailure:
    """What follows a failure: retries, then a step back to another node (which counts as a restart), then the end."""

    retry: Retry = Retry()
    backtrack_to: str | None = None


@dataclass(frozen=True)
class Route(Generic[S]):
    """A choice of the next node from the new state. Every target is declared: the graph can be checked and drawn."""

    choose: Callable[[S], str | None]
    targets: tuple[str | None, ...]


class Node(Generic[S, C, I, O]):
    """One node of a graph.

    `build_input`, `apply_output` and `spent` are pure; only `execute` touches the outside, through `visit`.
    """

    name: ClassVar[str]
    on_success: str | Route[S] | None = None
    on_failure: OnFailure = OnFailure()
    spends: tuple[str, ...] = ()
    """Counters that this node adds to: it does not start when one of them is used up."""

    def build_input(self, state: S, context: C) -> I:
        raise NotImplementedError(f"{type(self).__name__}.build_input")

    async def execute(self, given: I, visit: Visit) -> O:
        raise NotImplementedError(f"{type(self).__name__}.execute")

    def apply_output(self, state: S, output: O) -> S:
        raise NotImplementedError(f"{type(self).__name__}.apply_output")

    def spent(self, output: O) -> Mapping[str, float]:
        """What this visit adds to the run's counters, besides what its calls charge: 1 of each of `spends`."""
        return dict.fromkeys(self.spends, 1)

    def next(self, state: S) -> str | None:
        """The node that follows success in the new state; None ends the run. GraphError for an undeclared one."""
        if not isinstance(self.on_success, Route):
            return self.on_success
        target = self.on_success.choose(state)
        if target not in self.on_success.targets:
            raise GraphError(f"{self.name} goes on to {target}, which is none of its declared targets")
        return target

    def targets(self) -> tuple[str | None, ...]:
        return self.on_success.targets if isinstance(self.on_success, Route) else (self.on_success,)
