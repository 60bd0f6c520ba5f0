"""Runners: how a wording is carried out. The gateway is one; others can be compared with it by the same judges."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from echelon.evaluation.phone_conditions import Kept
from gateway import Gateway, Settings, Turn
from gateway.config import Role
from gateway.errors import ModelUnavailable

USAGE = ("model_calls", "prompt_tokens", "cached_tokens", "completion_tokens")


@dataclass
class Carried:
    """What the turns of a session came to: the last response, how each ended, what they took, and what the phone has
    kept where they were tasks on one."""

    response: str = ""
    ended: list[str] = field(default_factory=list)
    executor_decisions: int = 0
    usage: dict[str, int] = field(default_factory=lambda: dict.fromkeys(USAGE, 0))
    phone: Kept | None = None


@dataclass(frozen=True)
class Runner:
    """`carry(settings, turns)` leaves its work in the settings' home and workspace, and each tool's result in
    `turns/…/results/NN-<tool>.json` of the home. It raises ModelUnavailable where there is no model to try with. `role`
    is the one whose model is evaluated; None where the runner has its own."""

    name: str
    carry: Callable[[Settings, Sequence[str]], Coroutine[Any, Any, Carried]]
    role: Role | None = "executor"

    def model(self, settings: Settings) -> str:
        return str(settings.model_for(self.role)) if self.role else ""


async def by_gateway(settings: Settings, turns: Sequence[str]) -> Carried:
    """Each turn through the gateway, as `echelon run` does it; nobody is there to be asked."""
    carried = Carried()
    async with Gateway(settings, assume_yes=True) as gateway:
        ours = {each.name for each in gateway.recipes() if each.recipe and each.recipe.role == "executor"}
        for request in turns:
            turn = await gateway.run(request)
            if turn.stop_reason == f"error:{ModelUnavailable.kind}":
                raise ModelUnavailable(turn.error or "the model is not there", hint=turn.hint)
            carried.response = turn.response
            carried.ended.append(turn.stop_reason or turn.status.value)
            carried.executor_decisions += sum(name in ours for name in _packs(turn))
            for name in USAGE:
                carried.usage[name] += int(turn.usage.get(name, 0))
    return carried


def _packs(turn: Turn) -> list[str]:
    """The recipes of the turn's model calls: `packs/NN-<recipe>.md`."""
    return [path.stem.partition("-")[2] for path in turn.context.parent.glob("packs/*.md")]


HIERARCHY = Runner("hierarchy", by_gateway)
