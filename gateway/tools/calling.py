"""A tool call from a node: permission, the call, and whatever comes of it as a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.engine.journal import CallFailed, Visit
from gateway.engine.ports import Effect, Json
from gateway.errors import ToolError, UserCancelled
from gateway.tools.approval import approval, visible
from gateway.tools.child import USED, child_args
from gateway.tools.policy import Policy, Verdict, denied
from gateway.tools.registry import Registry, Tool

DONE = "It was done in the first attempt already."
BEGUN = "An earlier call has done some of this already."


@dataclass(frozen=True)
class Called:
    """What came of a call: `{"ok", "text", "data"}`, and the seconds that it took, without those in which a person was
    asked."""

    result: dict[str, Json]
    s: float


class ToolCaller:
    """Makes the calls of runs that have the operations of `gateway.tools.operations`. `tools` is the configuration's
    section of that name; `what` is the kind of run, as people call it."""

    def __init__(self, registry: Registry, tools: Mapping[str, Any], *, what: str = "turn") -> None:
        self._registry = registry
        self._policy = Policy(tools)
        self._what = what

    async def call(
        self,
        visit: Visit,
        name: str,
        args: Mapping[str, Json],
        *,
        repeats: bool = False,
        strangers: bool = False,
        assume_yes: bool = False,
    ) -> Called:
        """One call for each visit. A tool's error is its result, and so is a person's no.

        `repeats`: an earlier attempt of the run has made the very same call, or done a part of it. `strangers`: the
        run has read what others wrote, so that `assume_yes` answers nothing. Raises WaitRequested, BudgetExhausted,
        and UserCancelled where a person has ended the run that the call was.
        """
        began = await visit.now()
        try:
            tool = self._registry.get(name)
            effect = _effect(tool, args)
            verdict = await self._verdict(tool, args, visit)
            if verdict is Verdict.DENY:
                raise denied(tool, args)
            asks = verdict is Verdict.ASK and not (assume_yes and not strangers)
            again = repeats and effect in (Effect.ONCE, Effect.CHILD)  # `--yes` is no answer: nothing is done twice
            if asks or again:
                would = await visit.call("tools.preview", {"tool": tool.name, "args": args})
                parts = [approval(name, args), *([visible(would)] if would else [])]
                if again:
                    parts.append(DONE if effect is Effect.ONCE else BEGUN)
                elif strangers and assume_yes:
                    parts.append(
                        f"This {self._what} has read texts of others, which may be what asks for it: "
                        "--yes does not answer here."
                    )
                question = ("\n" if would else " ").join(parts)
                if await visit.ask("approve", question, options=("yes", "no")) != "yes":
                    denial = {"ok": False, "text": "The user did not allow this call.", "data": {"denied": True}}
                    return Called(denial, await _since(began, visit))
                began = await visit.now()
            given = args if tool.child is None else child_args(args, strangers=strangers)
            result = await visit.call(f"tool.{name}", given, effect=effect)
        except (ToolError, CallFailed) as error:
            if error.kind == UserCancelled.kind:
                raise UserCancelled(str(error)) from error
            hint = f" ({error.hint})" if error.hint else ""
            failed = {"ok": False, "text": f"Error: {error}{hint}", "data": {"error": error.kind}}
            return Called(failed, await _since(began, visit))
        if result is None:  # a call in doubt, which a person said had happened
            result = {"ok": True, "text": "It was confirmed that this has been done.", "data": {}}
        return Called({key: each for key, each in result.items() if key != USED}, await _since(began, visit))

    async def _verdict(self, tool: Tool, args: Mapping[str, Json], visit: Visit) -> Verdict:
        """By name alone where that settles it; what a call's paths lead to is looked at outside."""
        general = self._policy.in_general(tool)
        looks = self._policy.by_arguments(tool.name) or (tool.asks is not None and general is Verdict.ALLOW)
        if general is Verdict.DENY or not looks:
            return general
        return Verdict(await visit.call("tools.policy", {"tool": tool.name, "args": args}))


def _effect(tool: Tool, args: Mapping[str, Json]) -> Effect | None:
    """The effect for these arguments; None where they are wrong, which the call itself will say."""
    if isinstance(tool.effect, Effect):
        return tool.effect
    try:
        return tool.effect_of(tool.parse(args))
    except ToolError:
        return None


async def _since(began: float, visit: Visit) -> float:
    return round(await visit.now() - began, 1)
