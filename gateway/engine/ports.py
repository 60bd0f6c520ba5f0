"""The faces through which a run touches the outside world.

Real and scripted implementations have the same face, so that tests, replays and live runs use the same code.
Everything that crosses a port is plain data (what `json.dumps` takes): it is journaled.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from gateway.engine.identity import child_of
from gateway.errors import EchelonError

if TYPE_CHECKING:
    from gateway.engine.events import Event
    from gateway.engine.state import RunState

Json = Any  # what json.dumps takes; a recursive alias costs more in strict typing than it catches


class Effect(StrEnum):
    """What running an operation a second time would do; see `architecture/engine.md`."""

    READ = "READ"  # changes nothing: run again
    IDEMPOTENT = "IDEMPOTENT"  # running it again leads to the same state: run again
    ONCE = "ONCE"  # must not happen twice: in doubt after a crash
    CHILD = "CHILD"  # a run of its own: resumed


class Clock(Protocol):
    """Wall time and sleep. `monotonic` is for durations, in seconds."""

    def now(self) -> float:
        """Seconds since the epoch."""

    def monotonic(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class Random(Protocol):
    """The only source of randomness: everything else in a run is derived from its seed."""

    def seed(self) -> int:
        """A fresh seed for a run, 63 bits."""

    def identifier(self, now: float) -> str:
        """A fresh ULID; `now` in seconds since the epoch."""


class Model(Protocol):
    """A language model. Requests and answers are `gateway.llm.model.ModelRequest` and `ModelResponse` as plain data."""

    async def complete(self, request: Json) -> Json: ...


class Notify(Protocol):
    """Progress for people: lossy, never journaled, must not raise."""

    def progress(self, kind: str, data: Mapping[str, Json]) -> None: ...


class Observer(Notify, Protocol):
    """Watches one run, and those below it, while they are worked on. Must not raise."""

    def wrote(self, run_id: str, event: Event) -> None:
        """An event, once it is in the log."""

    def moved(self, run_id: str, node: str, state: RunState) -> None:
        """A node's decision is written: this is where the run is now."""


@dataclass(frozen=True)
class Scope:
    """What an operation is told about the call it runs in.

    `call_id` is the same for every try of one call (an idempotency key for servers that take one);
    `limits` is what is left of the run's budgets.
    """

    run_id: str
    call_id: str
    limits: Mapping[str, float]
    artifacts: Artifacts
    clock: Clock
    progress: Callable[[str, Mapping[str, Json]], None]
    watched: bool = False
    """Whether somebody sees the progress: what is told for each token, say, need not be told to nobody."""

    @property
    def child_id(self) -> str:
        """The run id reserved for a CHILD call."""
        return child_of(self.run_id, self.call_id)


class Artifacts(Protocol):
    """Large data by content: `put` before the event that names it."""

    def put(self, data: bytes) -> str:
        """Store and return the sha256, in hex."""

    def get(self, sha256: str) -> bytes: ...


class Reconciled(StrEnum):
    """What `reconcile` found out about a call in doubt."""

    DONE = "done"
    NOT_DONE = "not_done"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Reconciliation:
    """Whether a call in doubt happened; with DONE, the result that it would have returned."""

    verdict: Reconciled
    result: Json = None


@dataclass(frozen=True)
class Operation:
    """Something that touches the outside, registered under a name so that it can be run elsewhere.

    `run(args, scope)` returns plain data. Raising `EchelonError` is an outcome (journaled, and raised again on resume);
    a deadline, a cancellation or `LinkLost` is none: an ONCE operation is then in doubt.
    `spends` names the counters that a call adds to, so that they are checked before it runs; `charge(result)` says by
    how much.
    """

    name: str
    run: Callable[[Json, Scope], Awaitable[Json]]
    effect: Effect = Effect.READ
    deadline_s: float | None = None
    reconcile: Callable[[Json, Scope], Awaitable[Reconciliation]] | None = None
    spends: tuple[str, ...] = ()
    charge: Callable[[Json], Mapping[str, float]] | None = None
    in_words: Callable[[Json], str] | None = None
    """What a call with these arguments does, for a person who is asked whether it happened."""


class LinkLost(Exception):
    """The connection was lost in the middle of an operation: whether it happened is not known."""


class LookFailed(Exception):
    """Raised by `reconcile`: nothing can be found out now, for `cause`. The call stays in doubt and its node fails with
    the cause, so that a run which is resumed looks again, instead of asking a person who could not tell either."""

    def __init__(self, cause: EchelonError) -> None:
        super().__init__(str(cause))
        self.cause = cause


class SystemClock:
    """The machine's clocks."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class SystemRandom:
    """The operating system's randomness."""

    def seed(self) -> int:
        return secrets.randbits(63)

    def identifier(self, now: float) -> str:
        from ulid import ULID

        return str(ULID.from_timestamp(now))


class Silent:
    """Nobody is watching."""

    def progress(self, kind: str, data: Mapping[str, Json]) -> None:
        pass


@dataclass
class Ports:
    """What a machine is given: the outside world, as registered operations and a few faces."""

    operations: Mapping[str, Operation]
    clock: Clock = field(default_factory=SystemClock)
    random: Random = field(default_factory=SystemRandom)
    notify: Notify = field(default_factory=Silent)
    watched: bool = False
    redact: Callable[[str], str] = lambda text: text
