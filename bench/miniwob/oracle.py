"""The oracle as an agent: its solver chooses, from the task and the list of elements that any agent is given."""

from __future__ import annotations

from collections.abc import Generator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from bench.miniwob import solvers
from bench.miniwob.screen import Action, Screen, Stuck
from bench.miniwob.solving import SOLVERS
from gateway.phone.element import Bounds, Element

for _each in iter_modules(solvers.__path__):
    import_module(f"{solvers.__name__}.{_each.name}")  # they register themselves

SOLVED = tuple(sorted(SOLVERS))


class Oracle:
    """For one try of a task."""

    def __init__(self, task: str) -> None:
        self._solver = SOLVERS[task]
        self._moves: Generator[Action, Screen, Any] | None = None

    def predict(self, instruction: str, obs: dict[str, Any]) -> tuple[str, Action]:
        tree = obs["accessibility_tree"]
        elements = tuple(_element(each) for each in tree["elements"])
        screen = Screen.of(instruction, elements, tuple(tree["size"]))
        try:
            if self._moves is not None:
                return "", self._moves.send(screen)
            self._moves = self._solver(screen)
            return "", next(self._moves)
        except StopIteration:
            return "", {"action": "FINISH", "reason": "done"}
        except Stuck as stuck:
            return "", {"action": "FINISH", "success": False, "reason": str(stuck)}


def _element(listed: dict[str, Any]) -> Element:
    return Element(**{**listed, "state": tuple(listed["state"]), "bounds": Bounds(*listed["bounds"])})
