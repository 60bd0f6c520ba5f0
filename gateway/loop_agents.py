"""The agents that a session can be given to: turns of this gateway, tasks on phones, and commands."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.config import Settings
from gateway.engine.ports import Json
from gateway.engine.state import RunState
from gateway.errors import ModelUnavailable, UsageError
from gateway.loop.agents.agent import Agent, Assignment, Told, ended, in_a_line
from gateway.loop.state import COMMAND, LoopContext
from gateway.phone import PHONE
from gateway.tools.child import Caller, ChildRun
from gateway.turn import TURN

if TYPE_CHECKING:
    from gateway.gateway import Gateway

TURN_AGENT, PHONE_AGENT = "turn", "phone"
ROLES = {TURN_AGENT: ("planner", "executor", "responder"), PHONE_AGENT: ("phone",)}
CHANGING = ("file.write", "file.edit", "test.prune")  # tools that protected files are denied to


def models_of(settings: Settings) -> dict[str, str]:
    """The models that a session is begun with, by role, as far as there are any."""
    found = {role: settings.model_for(role) for roles in ROLES.values() for role in roles}  # type: ignore[arg-type]
    return {role: name for role, name in found.items() if name}


def agent_of(gateway: Gateway, context: LoopContext) -> Agent:
    """The agent that a session's options name. Raises EchelonError where it cannot be used: there is none of that name,
    it has no model, its task type or program cannot be understood."""
    name = context.options.agent
    if name.startswith(COMMAND):
        from gateway.loop.agents.command import CommandAgent

        return CommandAgent(context)
    if name not in ROLES:
        raise UsageError(f"there is no agent {name!r}", hint="agents: turn, phone, command:PROGRAM")
    if any(role not in context.models for role in ROLES[name]):
        raise ModelUnavailable(
            "no model is configured", hint="name one with --model, ECHELON_MODEL or `model:` in echelon.yaml"
        )
    return TurnAgent(gateway, context) if name == TURN_AGENT else PhoneAgent(gateway, context)


class _Inside:
    """An agent whose iterations are runs of this gateway, with the prompts and recipes that the session has pinned."""

    def __init__(self, gateway: Gateway, context: LoopContext) -> None:
        self._gateway = gateway
        self._context = context
        workspace = Path(context.workspace)
        self._folders = {kind: [workspace / ".echelon" / kind, gateway.home / kind] for kind in ("prompts", "recipes")}

    def _settings(self) -> dict[str, Json]:
        """Those of the session, with its protected files denied to the tools that change files."""
        settings = self._context.settings
        return {**settings, "tools": protected(settings.get("tools", {}), self._context.options.protect)}


class TurnAgent(_Inside):
    """Iterations are turns of one gateway session, `loop-` and the session's id, so that each knows of those before."""

    async def pins(self) -> dict[str, bytes]:
        """Prompts, recipes, and what MCP servers offer."""
        from gateway.turn.parts import collect

        if self._context.options.task_type is not None:
            self._gateway.patterns().get(self._context.options.task_type)
        offered, _ = await self._gateway.toolbox.offered()
        return collect(self._folders["prompts"], self._folders["recipes"]) | offered

    async def begin(self, given: Assignment, caller: Caller) -> ChildRun:
        from gateway.turn.state import TurnContext, TurnState

        session = self._context
        name = f"loop-{session.run_id}"
        context = TurnContext(
            request=given.request,
            session=name,
            workspace=session.workspace,
            models={role: session.models[role] for role in ROLES[TURN_AGENT]},
            settings=self._settings(),
            task_type=session.options.task_type or given.task_type,
            assume_yes=caller.assume_yes,
            unread=True,  # the exit conditions judge what it did
            questions=given.task_type is None,  # where findings are the request, they are all that there is to know
        )
        return ChildRun(
            TURN, context, TurnState(), title=_title(given), limits=self._limits(), pins=caller.pins, session=name
        )

    def _limits(self) -> dict[str, float | None]:
        """Those of the configuration; the iteration's own time where that is less."""
        given = self._context.settings.get("limits", {})
        times = [each for each in (given.get("max_time_s"), self._context.options.iteration_timeout_s) if each]
        limits = {name: given.get(f"max_{name}") for name in ("steps", "taps", "tokens", "cost_usd")}
        return {**limits, "time_s": min(times)}

    def told(self, state: RunState, hint: str) -> Told:
        from gateway.turn.state import TurnState

        assert isinstance(state.data, TurnState)
        return ended(state, hint, (state.data.response or "").removeprefix("- "))


class PhoneAgent(_Inside):
    """Iterations are tasks on the phone that the configuration names."""

    async def pins(self) -> dict[str, bytes]:
        """As those of `TurnAgent`."""
        from gateway.phone.agents.builtin import collect

        offered, _ = await self._gateway.toolbox.offered()
        return {**collect(self._folders["prompts"], self._folders["recipes"]), **offered}

    async def begin(self, given: Assignment, caller: Caller) -> ChildRun:
        from gateway.llm.vision import sees
        from gateway.phone.task.beginning import LONGEST, new_task, options_of

        session, limits = self._context, self._context.settings.get("limits", {})
        options, model = options_of(session.settings), session.models[PHONE]
        if session.settings["phone"]["images"] is None:
            options = options.with_(images=await asyncio.to_thread(sees, model))
        new = new_task(
            _errand(given)[:LONGEST],
            options,
            run_id=caller.run_id,
            folder=caller.folder / caller.run_id,
            workspace=Path(session.workspace),
            settings=self._settings(),
            models={PHONE: model},
            assume_yes=caller.assume_yes,
            max_taps=limits.get("max_taps"),
            max_time_s=session.options.iteration_timeout_s,
        )
        shared = {name: limits.get(f"max_{name}") for name in ("tokens", "cost_usd")}
        return ChildRun(
            PHONE, new.context, new.state, title=_title(given), limits={**new.limits, **shared}, pins=caller.pins
        )

    def told(self, state: RunState, hint: str) -> Told:
        from gateway.phone.task.state import PhoneState

        data = state.data
        assert isinstance(data, PhoneState)
        return ended(state, hint, data.answer or (data.finished.reason if data.finished else ""))


def protected(tools: Mapping[str, Any], protect: Sequence[str]) -> dict[str, Json]:
    """A configuration's `tools` section with these files and folders denied to what changes files. By the canonical
    path: `./tests` and a link to it are `tests`, too."""
    names = [each.removeprefix("./").rstrip("/") for each in protect]
    denied = [pattern for each in names if each for pattern in (["*"] if each == "." else [each, f"{each}/*"])]
    policy: dict[str, Any] = dict(tools.get("policy", {}))
    for tool in CHANGING if denied else ():
        rules = policy.get(tool, {})
        policy[tool] = {**rules, "deny": [*rules.get("deny", ()), *denied]}
    return {**tools, "policy": policy}


def _errand(given: Assignment) -> str:
    """What is to be done on the phone: the task in its own words, then what of it is not there yet."""
    results = given.evaluation.results if given.evaluation is not None else ()
    missing = [f"{each.name}: {in_a_line(each.problem or each.summary)}" for each in results if not each.met]
    parts = [given.task.strip(), *given.notes]
    return "\n\n".join([*parts, f"Not reached yet: {'; '.join(missing)}"] if missing else parts)


def _title(given: Assignment) -> str:
    return f"iteration {given.iteration}: {in_a_line(given.request)}"
