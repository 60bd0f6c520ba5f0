"""Budgets: what a run may use up. Counters only grow; a limit is reached when a counter is no longer below it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from gateway.errors import BudgetExhausted, UsageError

ALWAYS = ("time_s", "visits")
VISITS_PER_STEP = 20  # against loops that decide nothing
OWN = ("time_s", "visits", "restarts")  # a run counts these for itself: nothing of them is charged to its parent


def limits_of(given: Mapping[str, float | None]) -> dict[str, float]:
    """The limits in force: those that are set, and the cap on node visits that follows from `steps`."""
    limits = {name: float(value) for name, value in given.items() if value is not None}
    if "steps" in limits and "visits" not in limits:
        limits["visits"] = limits["steps"] * VISITS_PER_STEP
    return limits


def raised(limits: Mapping[str, float], to: Mapping[str, float]) -> dict[str, float]:
    """The limits with those in `to` raised: of two values the greater one counts. The cap on visits grows with `steps`.
    Raises UsageError for one that is not in force."""
    more = limits_of(to)
    for name in to.keys() - limits.keys():
        named = ", ".join(sorted(limits.keys() - {"visits"})) or "none"
        raise UsageError(f"there is no limit on {name} to raise", hint=f"limits in force: {named}")
    return {name: max(limit, more.get(name, limit)) for name, limit in limits.items()}


def check(limits: Mapping[str, float], used: Mapping[str, float], spends: Iterable[str]) -> None:
    """Raise BudgetExhausted for the first counter among `spends`, `time_s` and `visits` that is used up."""
    for name in (*ALWAYS, *spends):
        limit = limits.get(name)
        if limit is not None and used.get(name, 0) >= limit:
            raise BudgetExhausted(name, used.get(name, 0), limit)


def left(limits: Mapping[str, float], used: Mapping[str, float]) -> dict[str, float]:
    """What remains of each limit, never below zero."""
    return {name: max(0.0, limit - used.get(name, 0)) for name, limit in limits.items()}


def reserve(own: Mapping[str, float], parents_left: Mapping[str, float]) -> dict[str, float]:
    """A child's limits: the smaller of its own and what its parent has left; what it does not use stays the parent's.

    Time passes for both. Visits and restarts are each run's own.
    """
    bounds = {name: value for name, value in parents_left.items() if name not in ("visits", "restarts")}
    return limits_of({name: min(own.get(name, math.inf), bounds.get(name, math.inf)) for name in {*own, *bounds}})


def shared(used: Mapping[str, float]) -> dict[str, float]:
    """The counters of a child that are charged to its parent."""
    return {name: value for name, value in used.items() if name not in OWN}


def add(used: Mapping[str, float], more: Mapping[str, float]) -> dict[str, float]:
    """Both counters together."""
    total = dict(used)
    for name, value in more.items():
        total[name] = total.get(name, 0) + value
    return total
