"""Which solver is for which task."""

from __future__ import annotations

from collections.abc import Callable

from bench.miniwob.screen import Solver

SOLVERS: dict[str, Solver] = {}


def solves(*tasks: str) -> Callable[[Solver], Solver]:
    def register(solver: Solver) -> Solver:
        SOLVERS.update(dict.fromkeys(tasks, solver))
        return solver

    return register


def ordinal(word: str) -> int:
    """Of `1st`, `2nd`, …: an index from 0."""
    return int("".join(each for each in word if each.isdigit())) - 1
