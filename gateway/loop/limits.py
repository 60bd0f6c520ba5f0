"""What a session may use up: what is reached, what is near, what is left. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.loop.state import LimitName, LoopState

NAMES: tuple[LimitName, ...] = ("iterations", "time_s", "tokens", "cost_usd")
NEAR = 0.8  # of a limit, from which on a session warns
UNITS = {"iterations": "iterations", "time_s": "s", "tokens": "tokens", "cost_usd": "USD"}


@dataclass(frozen=True)
class InForce:
    """A limit that is set, in its own unit."""

    name: LimitName
    used: float
    limit: float

    @property
    def remaining(self) -> float:
        return max(0.0, self.limit - self.used)

    @property
    def key(self) -> str:
        return f"{self.name}={self.limit:g}"

    def in_words(self) -> str:
        unit = UNITS[self.name]
        return f"{self.used:g} of {self.limit:g} {unit} used, {self.remaining:g} {unit} remain"


def in_force(state: LoopState) -> list[InForce]:
    """The limits that are set, with what is used up of each."""
    found = []
    for name in NAMES:
        limit = state.limits.value(name)
        if limit is not None:
            used = state.iteration if name == "iterations" else state.used.get(name, 0.0)
            found.append(InForce(name, round(used, 6), float(limit)))
    return found


def reached(state: LoopState) -> InForce | None:
    """The first limit that is used up."""
    return next((each for each in in_force(state) if each.used >= each.limit), None)


def near(state: LoopState) -> list[InForce]:
    """Those that are 80 % used up or more, and that nobody was warned of yet."""
    return [each for each in in_force(state) if each.used >= NEAR * each.limit and each.key not in state.warned]


def left(state: LoopState) -> dict[str, float]:
    """What an iteration may use of what is shared with the session, by counter."""
    return {each.name: each.remaining for each in in_force(state) if each.name != "iterations"}
