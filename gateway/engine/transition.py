"""The transition: what follows an outcome. Pure, so that the same run makes the same decisions."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gateway.engine.graph import AnyNode
from gateway.engine.nodes import Retry
from gateway.engine.state import RunState, Status, Waiting
from gateway.errors import BudgetExhausted, EchelonError, Halted


@dataclass(frozen=True)
class Success:
    output: Any


@dataclass(frozen=True)
class Failure:
    kind: str
    message: str
    retryable: bool
    hint: str = ""


@dataclass(frozen=True)
class Asked:
    """The node cannot go on without a person's answer."""

    waiting: Waiting


@dataclass(frozen=True)
class Stopped:
    """A budget is used up, or somebody cancelled."""

    reason: str


Outcome = Success | Failure | Asked | Stopped


@dataclass(frozen=True)
class Advance:
    to: str


@dataclass(frozen=True)
class TryAgain:
    delay_ms: int


@dataclass(frozen=True)
class Backtrack:
    to: str


@dataclass(frozen=True)
class Wait:
    waiting: Waiting


@dataclass(frozen=True)
class Terminal:
    status: Status
    reason: str


Decision = Advance | TryAgain | Backtrack | Wait | Terminal


def decide(
    state: RunState, node: AnyNode, outcome: Outcome, seed: int, restarts_left: float = float("inf")
) -> Decision:
    """Advance, retry, backtrack, wait or end.

    `state` is the state after the outcome was applied; its `visit` and `attempt` are those of the visit that ended.
    """
    match outcome:
        case Success():
            target = node.next(state.data)
            return Terminal(Status.COMPLETE, "success") if target is None else Advance(target)
        case Asked(waiting):
            return Wait(waiting)
        case Stopped(reason):
            return Terminal(Status.STOPPED, reason)
        case Failure(kind, _, retryable, _):
            policy = node.on_failure
            if retryable and state.attempt < policy.retry.max_attempts:
                return TryAgain(delay_ms(policy.retry, seed, state.visit, state.attempt))
            if policy.backtrack_to is not None and retryable:
                if restarts_left <= 0:
                    return Terminal(Status.STOPPED, "budget:restarts")
                return Backtrack(policy.backtrack_to)
            return Terminal(Status.FAILED, f"error:{kind}")


def delay_ms(retry: Retry, seed: int, visit: int, attempt: int) -> int:
    """Exponential backoff: the base doubled for every attempt, up to 25 % more by a seeded jitter, capped."""
    digest = hashlib.sha256(f"{seed}:{visit}:{attempt}".encode()).digest()
    jitter = int.from_bytes(digest[:4], "big") / 2**32
    doubled = retry.base_delay_ms * 2 ** min(attempt - 1, 62)  # far above any cap, and still within a float
    return min(retry.max_delay_ms, int(doubled * (1 + jitter / 4)))


def causes(error: BaseException) -> list[BaseException]:
    """The exceptions that a group consists of, or the one that it is."""
    if isinstance(error, BaseExceptionGroup):
        return [cause for each in error.exceptions for cause in causes(each)]
    return [error]


def failure_of(error: BaseException, redact: Callable[[str], str] = str) -> Outcome:
    """An exception as an outcome. Errors that were not raised on purpose can be tried again, as is the default.

    Of several errors at once the one counts that leaves the least choice, whatever their order: a budget, then what
    cannot be tried again, then the first by its text.
    """
    return min((_failure(cause, redact) for cause in causes(error)), key=_choice)


def _failure(error: BaseException, redact: Callable[[str], str]) -> Outcome:
    match error:
        case BudgetExhausted():
            return Stopped(f"budget:{error.budget}")
        case Halted():
            return Stopped(error.kind)
        case EchelonError():
            return Failure(error.kind, redact(str(error)), error.retryable, redact(error.hint))
        case _:
            return Failure("internal", redact(f"{type(error).__name__}: {error}"), True)


def _choice(outcome: Outcome) -> tuple[int, str]:
    match outcome:
        case Failure(kind, message, retryable, _):
            return 2 if retryable else 1, f"{kind} {message}"
        case _:
            return 0, str(outcome)
