"""Which solver is for which task, and on which seeds it is tried."""

from __future__ import annotations

from collections.abc import Callable

from bench.miniwob.screen import Solver

SOLVERS: dict[str, Solver] = {}
SEEDS = (1, 2, 3)
OTHER_SEEDS = {
    "email-inbox-forward": (1, 3, 4),  # 2 has two mails by that sender
    "email-inbox-noscroll": (1, 3, 4),
    "text-editor": (6, 7, 8),  # that ask for a style, and not for a colour
}


def solves(*tasks: str) -> Callable[[Solver], Solver]:
    def register(solver: Solver) -> Solver:
        SOLVERS.update(dict.fromkeys(tasks, solver))
        return solver

    return register


def seeds(task: str) -> tuple[int, ...]:
    return OTHER_SEEDS.get(task, SEEDS)


def ordinal(word: str) -> int:
    """Of `1st`, `2nd`, …: an index from 0."""
    return int("".join(each for each in word if each.isdigit())) - 1
